#include "model/io/scenario/scenario_edits.hpp"

#include "model/base/ceil_divide.hpp"
#include "model/base/list_text.hpp"
#include "model/hardware/catalog.hpp"
#include "model/io/scenario/plan_words.hpp"
#include "model/io/scenario/plan_writer.hpp"
#include "model/io/workload/workload_writer.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json json_of(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
}

Json offload_activations_json(const Plan& p) {
    if (p.offload_activations == OffloadActivations::layers) return {{"layers", p.offloaded_layers}};
    return word_of(p.offload_activations, offload_activations_words);
}

// All fields of a plan but its precision. Any of micro-batch, global batch and accumulation may be stated, so that whichever changes is
// said.
Json all_fields(const Plan& p) {
    Json json = plan_json(p);
    json["grad_accum"] = p.micro_batches();
    json["parameter_servers"] = p.parameter_servers;
    json["servers_on_workers"] = p.servers_on_workers;
    json["recompute_modules"] = p.recompute == Recompute::selective && !p.recompute_modules.empty() ? Json(p.recompute_modules) : Json();
    json["optimizer"] = word_of(p.without_optimizer ? std::nullopt : std::optional(p.optimizer), optimizer_words);
    json["flash_attention"] = p.flash_attention;
    json["cuda_graph"] = p.cuda_graph;
    json["launch_blocking"] = p.launch_blocking;
    json["forward_only"] = p.forward_only;
    json["frozen_batch_norm"] = p.frozen_batch_norm;
    json["offload_activations"] = offload_activations_json(p);
    json["head_chunks"] = p.head_chunks;
    json["pruned_fraction"] = p.pruned_fraction;
    json["scattered"] = p.scattered;
    const std::pair<const char*, std::optional<bool> Plan::*> choices[] = {{"gradient_overlap", &Plan::gradient_overlap},
                                                                           {"gather_overlap", &Plan::gather_overlap},
                                                                           {"tensor_overlap", &Plan::tensor_overlap},
                                                                           {"pipeline_overlap", &Plan::pipeline_overlap},
                                                                           {"expert_overlap", &Plan::expert_overlap},
                                                                           {"token_deduplication", &Plan::token_deduplication},
                                                                           {"reduce_every_micro_batch", &Plan::reduce_every_micro_batch},
                                                                           {"channels_last", &Plan::channels_last},
                                                                           {"autocast", &Plan::autocast}};
    for (const auto& [name, field] : choices) json[name] = json_of(p.*field);
    return json;
}

Json type_json(const std::optional<DataType>& type) { return type ? Json(to_text(*type)) : Json(); }

Json all_fields(const Precision& p) {
    return {{"compute", to_text(p.compute)},       {"activation", to_text(p.activation)},
            {"parameter", to_text(p.parameter)},   {"gradient", type_json(p.gradient)},
            {"reduction", type_json(p.reduction)}, {"optimizer_state", to_text(p.optimizer_state)},
            {"master_weights", p.master_weights},  {"tf32", p.tf32}};
}

// The word that people mean by it, whatever else of it was changed.
const Word<DataType>& policy_of(const Precision& p) {
    const auto multiplies_so = [&](const Word<DataType>& word) {
        const Precision policy = precision_policy(word.value);
        return policy.compute == p.compute && policy.tf32 == p.tf32;
    };
    const auto* const found = std::ranges::find_if(precision_words, multiplies_so);
    return found == std::end(precision_words) ? precision_words[0] : *found;
}

class Edits {
public:
    void set(const std::string& path, const Json& value) {
        list_.emplace_back(path, value.is_string() ? value.get<std::string>() : value.dump());
    }
    // Fields that differ; null takes one away, so that what is usual holds.
    void set_changed(const std::string& whole, const Json& from, const Json& to) {
        for (const auto& [key, value] : to.items())
            if (value != from.at(key)) set(std::string(whole).append(".").append(key), value);
    }

    void of_precision(Precision from, const Precision& to) {
        if (const Word<DataType>& word = policy_of(to); &word != &policy_of(from)) {
            set("plan.precision", Json(word.text));
            from = precision_policy(word.value);
        }
        set_changed("plan.precision", all_fields(from), all_fields(to));
    }
    void of_machine(const Scenario& from, const Scenario& to) {
        if (from.cluster.name != to.cluster.name) return of_another_cluster(to);
        const std::string &was = from.cluster.node.device.name, &is = to.cluster.node.device.name;
        if (was != is) set("hardware.device", Json(slug_of(is)));
        if (const int nodes = filled_nodes(to); nodes != filled_nodes(from)) set("hardware.nodes", Json(nodes));
        if (from.plan.devices_per_node != to.plan.devices_per_node) set("hardware.devices_per_node", json_of(to.plan.devices_per_node));
        if (from.plan.node_ranks != to.plan.node_ranks)
            set("hardware.devices_per_node", to.plan.node_ranks.empty() ? Json() : Json(to.plan.node_ranks));
        if (!from.cluster.node_numbers.empty() && to.cluster.node_numbers.empty()) set("hardware.node_list", Json());
        if (from.straggler && !to.straggler) set("hardware.straggler", Json());
        if (from.step_noise != to.step_noise) set("hardware.step_noise", Json(to.step_noise));
    }
    void of_framework(const Framework& from, const Framework& to) {
        if (from.name != to.name)
            set("framework", Json(to.name));
        else if (from.native_build.value != to.native_build.value)
            set("framework.native_build", Json(to.native_build.value));
    }

    ScenarioEdits list() && { return std::move(list_); }

private:
    // Whatever a scenario says of its own cluster (links, devices, cores) does not hold there, so all of it is said anew.
    void of_another_cluster(const Scenario& to) {
        Json hardware = {{"cluster", slug_of(to.cluster.name)}, {"nodes", filled_nodes(to)}};
        if (to.use_ethernet) hardware["ethernet"] = true;
        if (to.step_noise != 0) hardware["step_noise"] = to.step_noise;
        set("hardware", hardware);
    }
    // As a file counts them, wherever a scheduler puts the ranks.
    static int filled_nodes(const Scenario& s) {
        if (!s.plan.node_ranks.empty()) return static_cast<int>(s.plan.node_ranks.size());
        const int per_node = s.plan.devices_per_node.value_or(s.cluster.node.devices);
        return ceil_divide(s.plan.devices(), per_node);
    }

    ScenarioEdits list_;
};

}  // namespace

ScenarioEdits edits_between(const Scenario& from, const Scenario& to) {
    Edits edits;
    edits.of_framework(from.framework, to.framework);
    edits.of_machine(from, to);
    const Json network = changed_fields(from.workload, to.workload);
    for (const auto& [field, value] : network.items()) edits.set("workload." + field, value);
    Json plan = all_fields(from.plan);
    if (turns_back(from.plan.schedule) && !turns_back(to.plan.schedule)) plan["vpp"] = Json();  // its two chunks may not be stated
    edits.set_changed("plan", plan, all_fields(to.plan));
    edits.of_precision(from.plan.precision, to.plan.precision);
    return std::move(edits).list();
}

std::string set_text(const ScenarioEdits& edits) {
    std::string text;
    for (const auto& [path, value] : edits) {
        const std::string set = std::string(path).append("=").append(value);
        const bool plain = set.find_first_of(" \"[]{}") == std::string::npos;
        append_to_list(text, plain ? set : "'" + set + "'", " ");
    }
    return text;
}

}  // namespace sextant
