#include "model/base/quantity_text.hpp"
#include "model/predict/state.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant {
namespace {

// The policy as the framework keeps it: autocast leaves weights and gradients in fp32 and needs no master copy; main gradients may be
// fp32 beside 16-bit weights. What the plan states about gradients stands.
Precision kept_precision(const Plan& plan, const Framework& framework) {
    Precision p = plan.precision;
    const bool mixed = size_of(p.compute) < size_of(DataType::fp32);
    if (framework.casts_each_use && mixed) {
        p.parameter = DataType::fp32;
        p.master_weights = false;
    }
    if (framework.gradients_in_fp32 && mixed && !p.gradient) p.gradient = DataType::fp32;
    return p;
}

Shard shard_of(const Plan& plan) {
    Shard s;
    s.micro_batch = plan.micro_batch;
    s.tensor = plan.tp;
    s.context = plan.cp;
    s.expert = plan.ep;
    s.expert_tensor = plan.expert_tp;
    s.sequence_parallel = plan.sequence_parallel;
    s.flash_attention = plan.flash_attention;
    s.training = !plan.forward_only;
    return s;
}

// The network as the plan cuts it. Builders do not know the file that asked for it.
Network network_of(const Scenario& scenario) {
    try {
        return build_network(scenario.workload, shard_of(scenario.plan));
    } catch (const InputError& e) {
        std::vector<Diagnostic> problems = e.diagnostics();
        for (Diagnostic& p : problems)
            if (p.file.empty()) p.file = scenario.file;
        throw InputError(std::move(problems));
    }
}

int nodes_used(const Scenario& scenario, int per_node) {
    const int devices = scenario.plan.devices();
    if (scenario.plan.scattered) return std::min(devices, scenario.cluster.nodes);
    return (devices + per_node - 1) / per_node;
}

// What the network turns out to be must agree with the plan; check_plan knows the blocks of some workloads only.
void check_stages(const Scenario& scenario, std::size_t blocks) {
    const Plan& plan = scenario.plan;
    Diagnostics problems;
    const std::int64_t chunks = std::int64_t{plan.pp} * plan.vpp;
    if (chunks > static_cast<std::int64_t>(blocks))
        problems.add({scenario.file, "/plan/pp", std::to_string(chunks) + " pipeline chunks for " + std::to_string(blocks) + " blocks",
                      "at most one chunk per block: lower pp or vpp"});
    const auto placed = std::accumulate(plan.stage_blocks.begin(), plan.stage_blocks.end(), std::int64_t{0});
    if (!plan.stage_blocks.empty() && placed != static_cast<std::int64_t>(blocks))
        problems.add({scenario.file, "/plan/stage_blocks",
                      "the stages hold " + std::to_string(placed) + " blocks, the network has " + std::to_string(blocks), ""});
    problems.throw_if_any();
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
    const Network network = network_of(scenario);
    check_stages(scenario, network.sequence.size());

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
    job->micro_batches = std::max<std::int64_t>(1, scenario.plan.micro_batches());
    job->devices_per_node = std::min(scenario.plan.devices_per_node.value_or(scenario.cluster.node.devices), scenario.cluster.node.devices);
    job->nodes = nodes_used(scenario, job->devices_per_node);
    const Topology topology = Topology::build(scenario.cluster, job->nodes, uses_sockets(scenario));
    job->groups = lay_groups(scenario, topology);
    const LinkType& host_link = scenario.cluster.node.host_link;
    job->host_copy = host_link.bandwidth.value * host_link.achievable.value;
    job->host_memory = scenario.cluster.node.host.memory_bandwidth.value;
    const NodeSpec& node = scenario.cluster.node;
    const LinkType& way_out = network_link(scenario);
    const int links = &way_out == &node.nic_link ? node.nics : 1;
    job->network = links * way_out.bandwidth.value * way_out.achievable.value;
    Prepared prepared(std::move(job));
    check_answer(prepared);
    return prepared;
}

}  // namespace sextant
