#include "model/plan/idle_settings.hpp"

#include "model/plan/partition.hpp"

namespace sextant {

std::vector<std::string> idle_settings(const Scenario& s) {
    const Plan& p = s.plan;
    const auto* transformer = s.workload.transformer();
    const bool has_experts = transformer && transformer->moe;
    std::vector<std::string> list;
    const auto idle = [&list](bool is_idle, const char* setting, const char* because) {
        if (is_idle) list.push_back(std::string("plan.") + setting + " does nothing: " + because);
    };
    constexpr auto keeps_nothing = "forward alone keeps nothing for a backward";
    idle(p.forward_only && p.recompute != Recompute::none, "recompute", keeps_nothing);
    idle(p.forward_only && p.offload_activations != OffloadActivations::none, "offload_activations", keeps_nothing);
    idle(p.forward_only && p.reduce_every_micro_batch.value_or(false), "reduce_every_micro_batch", "forward alone has no gradients");
    idle(!p.has_servers() && p.parameter_servers > 1, "parameter_servers", "data_parallel is no parameter_server");
    idle(!p.has_servers() && p.servers_on_workers, "servers_on_workers", "data_parallel is no parameter_server");
    idle(p.pipeline_overlap && p.pp == 1, "pipeline_overlap", "pp is 1");
    idle(p.tensor_overlap && p.tp == 1, "tensor_overlap", "tp is 1");
    idle(p.expert_overlap && !has_experts, "expert_overlap", "the network has no experts");
    idle(p.token_deduplication && !has_experts, "token_deduplication", "the network has no experts");
    idle(p.channels_last && transformer, "channels_last", "a transformer has no images in its layers");
    idle(p.scattered && used_nodes(s) == 1, "scattered", "all ranks are on one node");
    return list;
}

}  // namespace sextant
