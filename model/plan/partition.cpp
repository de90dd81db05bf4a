#include "model/plan/partition.hpp"

#include "model/base/ceil_divide.hpp"
#include "model/base/diagnostics.hpp"
#include "model/plan/framework_defaults.hpp"
#include "model/plan/virtual_stages.hpp"

#include <algorithm>
#include <numeric>

namespace sextant {
namespace {

Shard shard_of(const Plan& plan, const Framework& framework) {
    Shard s;
    s.micro_batch = plan.micro_batch;
    s.tensor = plan.tp;
    s.context = plan.cp;
    s.expert = plan.ep;
    s.expert_tensor = plan.expert_tp;
    s.vocabulary_multiple = framework.vocabulary_multiple;
    s.sequence_parallel = plan.sequence_parallel;
    s.flash_attention = plan.flash_attention;
    s.training = !plan.forward_only;
    return s;
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

}  // namespace

Precision kept_precision(const Plan& plan, const Framework& framework) {
    Precision p = plan.precision;
    const bool mixed = size_of(p.compute) < size_of(DataType::fp32);
    const bool casts = casts_each_use(plan, framework);
    if (casts && mixed) {
        p.parameter = DataType::fp32;
        p.master_weights = false;
    }
    // Where autocast is switched off, gradients are of the type that the weights are of then.
    const bool wide = framework.gradients_in_fp32 && casts == framework.casts_each_use;
    if (wide && mixed && !p.gradient) p.gradient = DataType::fp32;
    return p;
}

Network cut_network(const Scenario& scenario) {
    try {
        Network network = build_network(scenario.workload, shard_of(scenario.plan, scenario.framework));
        check_stages(scenario, network.sequence.size());
        return network;
    } catch (const InputError& e) {
        std::vector<Diagnostic> problems = e.diagnostics();
        for (Diagnostic& p : problems)
            if (p.file.empty()) p.file = scenario.file;
        throw InputError(std::move(problems));
    }
}

Network whole_network(const Scenario& scenario) {
    const Shard cut = shard_of(scenario.plan, scenario.framework);
    const Shard whole{.vocabulary_multiple = cut.vocabulary_multiple, .training = cut.training};
    return build_network(dropless(scenario.workload), whole);
}

namespace {

int used_devices_per_node(const Plan& plan, const Cluster& cluster) {
    const int there = cluster.node.devices;
    if (!plan.node_ranks.empty()) return std::ranges::max(plan.node_ranks);
    return std::min(plan.devices_per_node.value_or(there), there);
}

}  // namespace

int used_devices_per_node(const Scenario& scenario) { return used_devices_per_node(scenario.plan, scenario.cluster); }

int used_nodes(const Plan& plan, const Cluster& cluster) {
    const int per_node = used_devices_per_node(plan, cluster);
    if (!plan.node_ranks.empty()) return static_cast<int>(plan.node_ranks.size());
    if (plan.scattered) return std::min(plan.devices(), cluster.nodes);
    return ceil_divide(plan.devices(), per_node);
}

int used_nodes(const Scenario& scenario) { return used_nodes(scenario.plan, scenario.cluster); }

int cores_of_job(const Scenario& scenario) {
    const NodeSpec& node = scenario.cluster.node;
    if (scenario.cores) return *scenario.cores;
    if (node.device.kind == DeviceKind::cpu || node.host.cores == 0) return node.host.cores;
    const int nodes = used_nodes(scenario), devices = std::max(scenario.plan.devices(), scenario.reserved_devices);
    const int even = ceil_divide(devices, nodes);
    const int of_node = std::min(node.devices, scenario.plan.node_ranks.empty() ? even : std::max(even, used_devices_per_node(scenario)));
    return std::max(1, node.host.cores * of_node / node.devices);
}

int parameter_server_count(const Scenario& scenario) {
    const Plan& plan = scenario.plan;
    return plan.servers_on_workers ? std::max(used_nodes(scenario), plan.parameter_servers) : plan.parameter_servers;
}

int node_of_server(const Scenario& scenario, int server) {
    const int nodes = used_nodes(scenario);
    return scenario.plan.servers_on_workers ? server % nodes : nodes + server;
}

// The layers are dealt out evenly, the first virtual stage also has the input block and the last the head, as Megatron does; what
// does not divide goes to the middle stages first, which have neither.
std::vector<int> blocks_per_virtual_stage(const Network& network, const Plan& plan) {
    if (!plan.stage_blocks.empty()) return plan.stage_blocks;
    const int chunks = plan.pp * plan.vpp;
    const int blocks = static_cast<int>(network.sequence.size());
    const auto role = [&](int i) {
        return network.templates[static_cast<std::size_t>(network.sequence[static_cast<std::size_t>(i)])].role;
    };
    const int inputs = blocks > 0 && role(0) == BlockRole::input ? 1 : 0;
    const int heads = blocks > 1 && role(blocks - 1) == BlockRole::head ? 1 : 0;
    const int layers = blocks - inputs - heads;
    std::vector<int> count(static_cast<std::size_t>(chunks), layers / chunks);
    int rest = layers % chunks;
    for (int i = 1; i < chunks - 1 && rest > 0; ++i, --rest) ++count[static_cast<std::size_t>(i)];
    for (int i = 0; i < chunks && rest > 0; ++i, --rest) ++count[static_cast<std::size_t>(i)];
    count.front() += inputs;
    count.back() += heads;
    return count;
}

int recomputed_layers(const Plan& plan, int layers) {
    if (plan.recompute == Recompute::none || plan.forward_only) return 0;
    return plan.recompute == Recompute::blocks ? std::min(plan.recompute_blocks, layers) : layers;
}

std::vector<StageBlocks> split_stages(const Network& network, const Plan& plan) {
    const std::vector<int> per_chunk = blocks_per_virtual_stage(network, plan);
    std::vector<StageBlocks> stages(static_cast<std::size_t>(plan.pp));
    for (StageBlocks& s : stages) s.count.assign(network.templates.size(), 0);
    std::size_t block = 0;
    const VirtualStages virtual_stages(plan);
    for (std::size_t v = 0; v < per_chunk.size(); ++v) {
        StageBlocks& stage = stages[virtual_stages.stage_of(v)];
        for (int i = 0; i < per_chunk[v] && block < network.sequence.size(); ++i, ++block) {
            const auto t = static_cast<std::size_t>(network.sequence[block]);
            ++stage.count[t];
            const BlockRole role = network.templates[t].role;
            if (role == BlockRole::input) stage.has_input = true;
            if (role == BlockRole::layer) ++stage.layers;
        }
    }
    for (StageBlocks& s : stages) s.recomputed_layers = recomputed_layers(plan, s.layers);
    return stages;
}

}  // namespace sextant
