#include "model/base/quantity_text.hpp"
#include "model/predict/state.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// Of every stage, chunk by chunk.
std::vector<std::vector<ChunkBlocks>> chunks_of(const Network& network, const Prepared::State& job) {
    const Plan& plan = job.scenario.plan;
    const std::vector<BlockParameters> parameters = block_parameters(network, plan);
    const std::vector<int> per_chunk = blocks_per_virtual_stage(network, plan);
    std::vector<std::vector<ChunkBlocks>> stages(job.stages.size());
    std::vector<int> layers(stages.size());
    std::size_t next = 0;
    for (std::size_t v = 0; v < per_chunk.size(); ++v) {
        const std::size_t stage = v % stages.size();
        ChunkBlocks& chunk = stages[stage].emplace_back();
        chunk.buckets = job.bucket_rule.buckets(std::span(parameters).subspan(next), 0, per_chunk[v]);
        for (int i = 0; i < per_chunk[v]; ++i, ++next) {
            const int t = network.sequence[next];
            std::optional<int> layer;
            if (job.roles[static_cast<std::size_t>(t)] == BlockRole::layer) layer = layers[stage]++;
            chunk.blocks.push_back({t, layer, parameters[next]});
        }
    }
    return stages;
}

// Of schedules whose stages wait for each other in turns that a formula follows for equal stages only, unless there are so many stages that
// playing would take long. After two micro-batches for every stage, each further one for every stage costs the same.
std::vector<PlayedOrders> played_orders(const Plan& plan, std::int64_t micro_batches) {
    const bool irregular = plan.schedule == Schedule::zero_bubble || (plan.schedule == Schedule::interleaved && plan.vpp > 1);
    constexpr int most_stages = 64;
    if (plan.pp < 2 || plan.pp > most_stages || !irregular) return {};
    const auto orders = [&](std::int64_t m) {
        const int count = static_cast<int>(m);
        return PlayedOrders{count, work_orders(plan.schedule, plan.pp, plan.vpp, count)};
    };
    const std::int64_t more = 2 * plan.pp + micro_batches % plan.pp;
    if (micro_batches <= more) return {orders(micro_batches)};
    return {orders(more - plan.pp), orders(more)};
}

// Numbers that are plausible one by one may still be absurd together.
void check_answer(const Prepared& job) {
    constexpr Seconds longest = 1e12 * units::s;
    const Estimate e = estimate(job);
    if (e.step > Seconds{} && e.step <= longest && std::isfinite(e.peak_memory.si())) return;
    throw InputError({job.scenario().file, "/hardware",
                      "this hardware would need " + to_text(e.step) + " and " + to_text(e.peak_memory) + " for a step",
                      "some rate, size or time of the hardware, the framework or the workload is out of all proportion"});
}

}  // namespace

Prepared::Prepared(std::unique_ptr<State> state) : state_(std::move(state)) {}
Prepared::Prepared(Prepared&&) noexcept = default;
Prepared& Prepared::operator=(Prepared&&) noexcept = default;
Prepared::~Prepared() = default;
const Scenario& Prepared::scenario() const { return state_->scenario; }

Prepared prepare(const Scenario& scenario) {
    if (auto problems = check_plan(scenario); !problems.empty()) throw InputError(std::move(problems));
    const Network network = cut_network(scenario);

    auto job = std::make_unique<Prepared::State>();
    job->scenario = scenario;
    job->precision = kept_precision(scenario.plan, scenario.framework);
    job->rates = device_rates(job->scenario.cluster.node.device, scenario.framework, scenario.plan);
    Plan plan = scenario.plan;
    plan.precision = job->precision;
    for (const Block& block : network.templates) {
        job->templates.push_back(block_kernels(block.graph, plan, scenario.framework, block.role != BlockRole::layer));
        job->roles.push_back(block.role);
    }
    job->stages = split_stages(network, scenario.plan);
    job->bucket_rule = bucket_rule(scenario.plan, scenario.framework, job->precision);
    job->chunks = chunks_of(network, *job);
    job->micro_batches = std::max<std::int64_t>(1, scenario.plan.micro_batches());
    job->played = played_orders(scenario.plan, job->micro_batches);
    job->devices_per_node = used_devices_per_node(scenario);
    job->nodes = used_nodes(scenario);
    const Topology topology = Topology::build(scenario.cluster, job->nodes, uses_sockets(scenario));
    job->groups = lay_groups(scenario, topology);
    const LinkType& host_link = scenario.cluster.node.host_link;
    job->host_copy = host_link.bandwidth.value * host_link.achievable.value;
    job->host_memory = scenario.cluster.node.host.memory_bandwidth.value;
    const NodeSpec& node = scenario.cluster.node;
    const LinkType& way_out = network_link(scenario);
    const int links = &way_out == &node.nic_link ? node.nics : 1;
    job->network = links * way_out.bandwidth.value * way_out.achievable.value;
    job->input = input_job(scenario.data, *job);
    Prepared prepared(std::move(job));
    check_answer(prepared);
    return prepared;
}

}  // namespace sextant
