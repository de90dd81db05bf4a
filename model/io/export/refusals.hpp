// Collects what another system cannot do of a plan.
#pragma once

#include "model/plan/partition.hpp"

#include <string>
#include <vector>

namespace sextant {

class Refusals {
public:
    Refusals(const Scenario& scenario, std::string system) : scenario_(scenario), system_(std::move(system)) {}

    void unless(bool can, const std::string& pointer, const std::string& what, const std::string& hint = {}) {
        if (!can) diagnostics_.add({scenario_.file, pointer, system_ + " " + what, hint});
    }
    void throw_if_any() const { diagnostics_.throw_if_any(); }

private:
    const Scenario& scenario_;
    std::string system_;
    Diagnostics diagnostics_;
};

inline int ranks_per_node(const Scenario& s) { return s.plan.devices() / used_nodes(s); }

// Launchers start as many ranks on each node, and number them node by node.
inline void check_ranks(const Scenario& s, Refusals& r) {
    const int devices = s.plan.devices(), nodes = used_nodes(s);
    const bool uneven = !s.plan.node_ranks.empty();
    r.unless(!uneven, "/hardware/devices_per_node", "would start as many ranks on each node", "as many on each");
    r.unless(
        uneven || devices % nodes == 0, "/plan",
        "would start as many ranks on each node: " + std::to_string(devices) + " on " + std::to_string(nodes) + " nodes are not as many",
        "a number of devices that nodes divide, or \"devices_per_node\" in hardware");
    r.unless(!s.plan.scattered || devices <= nodes || nodes == 1, "/plan/scattered", "would number ranks node by node", "false");
}

inline void check_training(const Plan& p, Refusals& r) {
    r.unless(!p.forward_only && !p.without_optimizer, "/plan", "is exported for training, with an optimizer");
}
inline void check_wide_types(const Plan& p, Refusals& r) {
    r.unless(size_of(p.precision.compute) >= size_of(DataType::fp16), "/plan/precision", "trains in 16, 32 and 64 bits");
}

// What of recomputing no flag says, where not every block runs forward again.
inline std::string some_blocks_again(const Plan& plan, const std::string& checkpoint) {
    const std::string where = plan.pp > 1 ? " of each stage" : "";
    return "the first " + std::to_string(plan.recompute_blocks) + " blocks" + where + " run forward again, and no others: " + checkpoint +
           " around each of these is the program's";
}

// What no flag of these systems says, and a program has to do itself.
inline std::vector<std::string> left_to_the_program(const Scenario& s) {
    const Plan& p = s.plan;
    std::vector<std::string> notes;
    if (p.cuda_graph) notes.emplace_back("CUDA graphs are the program's: torch.cuda.graph around a step, or the framework's own way");
    if (p.head_chunks > 1)
        notes.push_back("the head and its loss over " + std::to_string(p.head_chunks) + " parts of the tokens in turn are the program's");
    if (p.pruned_fraction > 0) notes.emplace_back("weights that are pruned are the program's: torch.nn.utils.prune");
    const auto* transformer = s.workload.transformer();
    if (transformer != nullptr && transformer->adapters)
        notes.push_back("adapters are the program's: peft.LoraConfig(r=" + std::to_string(transformer->adapters->rank) + ")");
    return notes;
}

inline bool multiplies_in_tf32(const Plan& p) { return p.precision.compute == DataType::fp32 && p.precision.tf32; }

// The host waits for each kernel: for launches, which have an environment.
constexpr const char* blocking_launches = "CUDA_LAUNCH_BLOCKING";

inline bool in_order(const Plan& plan, std::vector<PlanDimension> order) {
    // Dimensions of one rank may stand anywhere.
    const auto degree = [&](PlanDimension d) {
        return d == PlanDimension::tensor ? plan.tp : d == PlanDimension::context ? plan.cp : d == PlanDimension::data ? plan.dp : plan.pp;
    };
    const auto idle = [&](PlanDimension d) { return d == PlanDimension::expert || degree(d) == 1; };
    std::vector<PlanDimension> own = plan.placement;
    std::erase_if(own, idle);
    std::erase_if(order, idle);
    return own == order;
}

}  // namespace sextant
