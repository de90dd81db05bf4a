#include "model/predict/prepare.hpp"

#include "model/base/quantity_text.hpp"
#include "model/plan/framework_defaults.hpp"
#include "model/plan/virtual_stages.hpp"
#include "model/predict/mixed_devices.hpp"
#include "model/predict/pipeline_play.hpp"
#include "model/predict/shared_cores.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// Numbers that are plausible one by one may still be absurd together.
void check_answer(const Prepared& job) {
    constexpr Seconds longest = 1e12 * units::s;
    const Estimate e = estimate(job);
    if (e.step > Seconds{} && e.step <= longest && std::isfinite(e.peak_memory.si())) return;
    throw InputError({job.scenario().file, "/hardware",
                      "this hardware would need " + to_text(e.step) + " and " + to_text(e.peak_memory) + " for a step",
                      "some rate, size or time of the hardware, the framework or the workload is out of all proportion"});
}

// Experts are priced as if all had as many rows as the fullest one. The mathematics needs only the rows that there are.
double needed_part(const OperatorGraph& graph, const Operator& op) {
    const auto* product = std::get_if<Gemm>(&op.kind);
    if (product == nullptr || !product->weight || product->batch == 1) return 1;
    const std::int64_t rows = graph.tensor(op.outputs.front()).shape.front();
    return static_cast<double>(rows) / static_cast<double>(product->batch * product->m);
}

// Backward makes two products for each one in forward; scores that flash attention makes again do not count. Ranks that do the same work,
// like those of a tensor group with copies of a key-value head, together do more than this.
Flops needed(const Network& network, bool forward_only) {
    Flops all;
    for (int t = 0; t < std::ssize(network.templates); ++t) {
        const auto blocks = static_cast<double>(std::ranges::count(network.sequence, t));
        const OperatorGraph& graph = network.templates[static_cast<std::size_t>(t)].graph;
        for (const Operator& op : graph.operators())
            all += blocks * (forward_only ? 1 : op.frozen ? 2 : 3) * needed_part(graph, op) * forward_flops(op);
    }
    return all;
}

// The network at hand serves where the plan neither cuts it nor computes more than is needed: building another one takes a quarter of the
// time of preparing ResNet-152.
Flops needed_for_sample(const Scenario& scenario, const Network& cut) {
    const Plan& plan = scenario.plan;
    const bool is_whole = plan.tp == 1 && plan.cp == 1 && plan.ep == 1 && plan.expert_tensor() == 1;
    if (is_whole && plan.flash_attention && !scenario.workload.pads_experts())
        return needed(cut, plan.forward_only) / static_cast<double>(plan.micro_batch);
    return needed(whole_network(scenario), plan.forward_only);
}

std::shared_ptr<const Topology> topology_of(const Scenario& scenario, const Prepared* same_cluster) {
    const int nodes = used_nodes(scenario);
    const bool sockets = uses_sockets(scenario);
    if (same_cluster != nullptr && used_nodes(same_cluster->scenario()) == nodes && uses_sockets(same_cluster->scenario()) == sockets)
        return same_cluster->topology();
    return std::make_shared<const Topology>(Topology::build(scenario.cluster, nodes, sockets));
}

}  // namespace

bool one_to_a_node(const Scenario& s) { return s.plan.devices() <= used_nodes(s); }

Prepared::State prepare_machine(const Scenario& scenario) {
    Prepared::State job;
    job.scenario = with_rates_of_a_rank(scenario);
    job.nodes.cores = scenario.cluster.node.unshared_devices();
    job.nodes.ranks_per_core = ranks_per_core(scenario);
    job.nodes.turn = turn_of_core(scenario);
    job.precision = kept_precision(scenario.plan, scenario.framework);
    job.rates = device_rates(job.scenario.cluster.node.device, scenario.framework, scenario.plan, one_to_a_node(scenario));
    job.nodes.devices = used_devices_per_node(scenario);
    const NodeSpec& node = job.scenario.cluster.node;
    job.nodes.host_copy = node.host_link.bandwidth.value * node.host_link.achievable.value;
    job.nodes.host_memory = node.host.streamed();
    const LinkType& way_out = network_link(job.scenario);
    const int links = &way_out == &node.nic_link ? node.nics : 1;
    job.nodes.network = links * way_out.bandwidth.value * way_out.achievable.value;
    return job;
}

std::vector<BlockKernels> kernels_of(const Network& network, const Prepared::State& job) {
    Plan plan = job.scenario.plan;
    plan.precision = job.precision;
    const ComputeUnit unit = job.rates.matrix[plan.precision.compute].unit;
    std::vector<BlockKernels> templates;
    for (int t = 0; t < std::ssize(network.templates); ++t) {
        const Block& block = network.templates[static_cast<std::size_t>(t)];
        const bool reads_data = t == network.sequence.front() && std::ranges::count(network.sequence, t) == 1;
        const Framework& framework = job.scenario.framework;
        templates.push_back(block_kernels(block.graph, block.role, plan, framework, reads_data && !framework.makes_data_gradients, unit));
    }
    return templates;
}

std::vector<std::vector<ChunkBlocks>> chunks_of(const Network& network, std::span<const BlockParameters> parameters,
                                                const Prepared::State& job) {
    const Plan& plan = job.scenario.plan;
    const std::vector<int> per_chunk = blocks_per_virtual_stage(network, plan);
    std::vector<std::vector<ChunkBlocks>> stages(static_cast<std::size_t>(plan.pp));
    std::vector<int> layers(stages.size());
    std::size_t next = 0;
    const VirtualStages virtual_stages(plan);
    for (std::size_t v = 0; v < per_chunk.size(); ++v) {
        const std::size_t stage = virtual_stages.stage_of(v);
        ChunkBlocks& chunk = stages[stage].emplace_back();
        chunk.first_layer = layers[stage];
        chunk.buckets = job.bucket_rule.buckets(parameters.subspan(next), 0, per_chunk[v]);
        for (int i = 0; i < per_chunk[v]; ++i, ++next) {
            const int t = network.sequence[next];
            std::optional<int> layer;
            if (network.templates[static_cast<std::size_t>(t)].role == BlockRole::layer) layer = layers[stage]++;
            chunk.add({t, layer, parameters[next]});
        }
        chunk.layers = layers[stage] - chunk.first_layer;
        if (stages[stage].size() < 2) continue;
        const ChunkBlocks& before = *(stages[stage].end() - 2);
        if (std::ranges::equal(before.blocks, chunk.blocks, &ChunkBlocks::Block::is_like)) chunk.alike = before.alike + 1;
    }
    return stages;
}

bool is_played(const Plan& plan) {
    const bool irregular =
        weights_apart(plan.schedule) != WeightsApart::in_none || (plan.schedule == Schedule::interleaved && plan.vpp > 1);
    constexpr int most_stages = 64;
    return irregular && plan.pp > 1 && plan.pp <= most_stages;
}

Prepared::Prepared(std::unique_ptr<State> state) : state_(std::move(state)) {}
Prepared::Prepared(Prepared&&) noexcept = default;
Prepared& Prepared::operator=(Prepared&&) noexcept = default;
Prepared::~Prepared() = default;
const Scenario& Prepared::scenario() const { return state_->scenario; }
const std::shared_ptr<const Topology>& Prepared::topology() const { return state_->topology; }

Prepared prepare(const Scenario& scenario, const Prepared* same_cluster) {
    if (auto problems = check_plan(scenario); !problems.empty()) throw InputError(std::move(problems));
    const Network network = cut_network(scenario);
    auto job = std::make_unique<Prepared::State>(prepare_machine(scenario));
    apply_mixed_devices(*job, network);
    job->nodes.count = used_nodes(scenario);
    job->topology = topology_of(scenario, same_cluster);
    job->micro_batches = std::max<std::int64_t>(1, scenario.plan.micro_batches());
    job->templates = kernels_of(network, *job);
    job->rates.kept = kept_bytes(*job, network, job->templates);
    for (const Block& block : network.templates) job->roles.push_back(block.role);
    job->stages = split_stages(network, scenario.plan);
    job->bucket_rule = bucket_rule(scenario.plan, scenario.framework, job->precision);
    job->chunks = chunks_of(network, block_parameters(network, scenario.plan), *job);
    job->added_gradients = added_gradients(scenario.plan, scenario.framework);
    job->needed_for_sample = needed_for_sample(scenario, network);
    const Plan& plan = scenario.plan;
    if (is_played(plan))
        job->played = std::make_shared<PlayedSchedule>(plan.schedule, plan.pp, plan.vpp, job->micro_batches, plan.forward_only);
    job->groups = lay_groups(scenario, *job->topology);
    job->input = input_job(scenario.data, *job);
    Prepared prepared(std::move(job));
    check_answer(prepared);
    return prepared;
}

}  // namespace sextant
