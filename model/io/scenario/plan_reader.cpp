#include "model/io/scenario/plan_reader.hpp"

#include "model/io/scenario/plan_words.hpp"
#include "model/plan/recompute.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

// Beyond any machine, and small enough that products of two stay exact.
constexpr Bounds degree{1, 1e6}, samples{1, 1e9}, optional_degree{0, 1e6};

std::string text(std::int64_t n) { return std::to_string(n); }

void read_degrees(ObjectReader& r, Plan& plan) {
    r.optional("tp", plan.tp, degree);
    r.optional("pp", plan.pp, degree);
    r.optional("cp", plan.cp, degree);
    r.optional("vpp", plan.vpp, degree);
    r.optional("ep", plan.ep, degree);
    r.optional("expert_tp", plan.expert_tp, optional_degree);
    r.optional("sequence_parallel", plan.sequence_parallel);
}

// False when there is no degree to go on with: nothing that depends on it is worth reporting then.
bool read_data_degree(ObjectReader& r, Plan& plan, std::optional<std::int64_t> devices) {
    if (r.has("dp")) return r.required("dp", plan.dp, degree);
    if (!devices) return true;
    const double model = static_cast<double>(plan.tp) * plan.pp * plan.cp;
    const double copies = static_cast<double>(*devices) / model;
    if (copies >= 1 && copies <= degree.high && copies == std::floor(copies)) {
        plan.dp = static_cast<int>(copies);
        return true;
    }
    r.node().complain("tp " + text(plan.tp) + " x pp " + text(plan.pp) + " x cp " + text(plan.cp) + " does not divide the " +
                          text(*devices) + " devices, so that dp cannot be derived",
                      "choose degrees whose product divides " + text(*devices) + ", or state dp");
    return false;
}

struct Batch {
    std::optional<std::int64_t> micro, global, accumulate;
};

// Completes micro_batch and global_batch from what is stated.
void complete_batch(ObjectReader& r, const Batch& batch, Plan& plan) {
    const std::int64_t pipelines = plan.dp * batch.accumulate.value_or(1);
    if (batch.global && !batch.micro) {
        if (*batch.global % pipelines != 0)
            r.get("global_batch")
                .complain("dp x grad_accum must divide global_batch: " + text(pipelines) + " does not divide " + text(*batch.global));
        plan.micro_batch = std::max<std::int64_t>(1, *batch.global / pipelines);
        plan.global_batch = plan.micro_batch * pipelines;
        return;
    }
    plan.micro_batch = batch.micro.value_or(1);
    const double product = static_cast<double>(plan.micro_batch) * static_cast<double>(pipelines);
    if (product > samples.high) r.node().complain("micro_batch x dp x grad_accum is more than 1000000000 samples");
    plan.global_batch = product > samples.high ? plan.micro_batch * plan.dp : plan.micro_batch * pipelines;
    if (!batch.global) return;
    if (!batch.accumulate)
        plan.global_batch = *batch.global;  // check_plan says whether it divides
    else if (*batch.global != plan.global_batch)
        r.get("grad_accum")
            .complain("contradicts the batch: micro_batch " + text(plan.micro_batch) + " x dp " + text(plan.dp) + " x grad_accum " +
                          text(*batch.accumulate) + " is not global_batch " + text(*batch.global),
                      "leave one of the three out");
}

// global_batch = micro_batch x dp x grad_accum: micro_batch is of one pipeline, grad_accum counts its micro-batches.
// A batch that does not divide is reported, but leaves a plan whose other problems can be looked for.
bool read_batch(ObjectReader& r, Plan& plan, bool dp_is_known) {
    Batch batch;
    int given = 0;
    bool usable = true;
    const auto read = [&](std::string_view key, std::optional<std::int64_t>& into) {
        if (!r.has(key)) return;
        ++given;
        std::int64_t value = 0;
        if (r.optional(key, value, samples))
            into = value;
        else
            usable = false;
    };
    read("micro_batch", batch.micro);
    read("global_batch", batch.global);
    read("grad_accum", batch.accumulate);
    if (!usable || !dp_is_known) return false;
    if (given == 0 || (given == 1 && plan.pp > 1)) {
        r.node().complain(given == 0 ? "no batch is stated" : "the batch is half stated: a pipeline needs its number of micro-batches",
                          "two of micro_batch, global_batch and grad_accum give the third");
        plan.global_batch = plan.dp;
    } else {
        complete_batch(r, batch, plan);
    }
    return true;
}

void read_data_parallel(ObjectReader& r, Plan& plan) {
    r.word("data_parallel", plan.data_parallel, data_parallel_words);
    r.optional("shard_group", plan.shard_group);
    r.optional("parameter_servers", plan.parameter_servers, degree);
    r.optional("servers_on_workers", plan.servers_on_workers);
    r.optional("reduce_every_micro_batch", plan.reduce_every_micro_batch);
    r.optional("channels_last", plan.channels_last);
    r.optional("autocast", plan.autocast);
    r.optional("gradient_overlap", plan.gradient_overlap);
    r.optional("gather_overlap", plan.gather_overlap);
    r.optional("tensor_overlap", plan.tensor_overlap);
    r.optional("pipeline_overlap", plan.pipeline_overlap);
    r.optional("expert_overlap", plan.expert_overlap);
    r.optional("token_deduplication", plan.token_deduplication);
}

void read_schedule(ObjectReader& r, Plan& plan) {
    if (plan.vpp > 1) plan.schedule = Schedule::interleaved;
    r.word("schedule", plan.schedule, schedule_words);
    if (turns_back(plan.schedule) && !r.has("vpp")) plan.vpp = 2;
    r.each("stage_blocks", [&](const JsonNode& n) {
        int blocks = 0;
        read_value(n, blocks, degree);
        plan.stage_blocks.push_back(blocks);
    });
}

void read_recompute(ObjectReader& r, Plan& plan) {
    const JsonNode node = r.get("recompute");
    if (node.is_object()) {
        ObjectReader inner(node);
        if (inner.required("blocks", plan.recompute_blocks, degree)) plan.recompute = Recompute::blocks;
    } else {
        r.word("recompute", plan.recompute, recompute_words);
    }
    const std::span<const std::string_view> modules = recompute_modules();
    const bool listed = r.has("recompute_modules");
    r.each("recompute_modules", [&](const JsonNode& n) {
        std::string module;
        if (!read_value(n, module)) return;
        if (std::ranges::find(modules, module) == modules.end()) complain_about_word(n, module, {modules.begin(), modules.end()});
        plan.recompute_modules.push_back(std::move(module));
    });
    if (listed && !node.value) plan.recompute = Recompute::selective;
}

void read_precision(ObjectReader& r, Plan& plan) {
    const JsonNode node = r.get("precision");
    DataType policy = DataType::bf16;
    if (!node.is_object()) {
        r.word("precision", policy, precision_words);
        plan.precision = precision_policy(policy);
        return;
    }
    ObjectReader inner(node);
    inner.word("base", policy, precision_words);
    Precision& p = plan.precision = precision_policy(policy);
    inner.optional("compute", p.compute);
    inner.optional("activation", p.activation);
    inner.optional("parameter", p.parameter);
    inner.optional("gradient", p.gradient);
    inner.optional("reduction", p.reduction);
    inner.optional("optimizer_state", p.optimizer_state);
    inner.optional("master_weights", p.master_weights);
    inner.optional("tf32", p.tf32);
}

void read_optimizer(ObjectReader& r, Plan& plan) {
    std::optional<Optimizer> optimizer = plan.optimizer;
    r.word("optimizer", optimizer, optimizer_words);
    plan.optimizer = optimizer.value_or(plan.optimizer);
    plan.without_optimizer = !optimizer;
}

void read_offloaded_activations(ObjectReader& r, Plan& plan) {
    const JsonNode node = r.get("offload_activations");
    if (node.is_object()) {
        ObjectReader inner(node);
        if (inner.required("layers", plan.offloaded_layers, degree)) plan.offload_activations = OffloadActivations::layers;
    } else if (node.is_string()) {
        r.word("offload_activations", plan.offload_activations, offload_activations_words);
    } else {
        bool all = false;
        r.optional("offload_activations", all);
        if (all) plan.offload_activations = OffloadActivations::all;
    }
}

void read_execution(ObjectReader& r, Plan& plan) {
    r.optional("flash_attention", plan.flash_attention);
    r.optional("cuda_graph", plan.cuda_graph);
    r.optional("launch_blocking", plan.launch_blocking);
    r.optional("forward_only", plan.forward_only);
    r.optional("frozen_batch_norm", plan.frozen_batch_norm);
    r.word("offload", plan.offload, offload_words);
    read_offloaded_activations(r, plan);
    r.optional("head_chunks", plan.head_chunks, Bounds{1, 1e6});
    r.optional("pruned_fraction", plan.pruned_fraction, Bounds{0, 0.999});
}

void read_placement(ObjectReader& r, Plan& plan) {
    if (r.has("placement")) plan.placement.clear();
    r.words("placement", plan.placement, dimension_words);
    r.optional("scattered", plan.scattered);
}

// Settings of something that the plan does not do.
void complain_about_idle_settings(ObjectReader& r, const Plan& plan) {
    const std::pair<const char*, bool> of_servers[] = {{"parameter_servers", plan.parameter_servers > 1},
                                                       {"servers_on_workers", plan.servers_on_workers}};
    for (const auto& [key, says] : of_servers)
        if (says && !plan.has_servers()) r.get(key).complain("there is no parameter server", "set data_parallel to \"parameter_server\"");
    if (!plan.recompute_modules.empty() && plan.recompute != Recompute::selective)
        r.get("recompute_modules").complain("only selective recomputation chooses modules", "set recompute to \"selective\"");
}

}  // namespace

std::optional<Plan> read_plan(const JsonNode& node, std::optional<std::int64_t> devices) {
    ObjectReader r(node);
    if (!r) return std::nullopt;
    const std::size_t problems = node.diagnostics->list().size();
    Plan plan;
    read_degrees(r, plan);
    read_data_parallel(r, plan);
    read_schedule(r, plan);
    read_recompute(r, plan);
    read_precision(r, plan);
    read_optimizer(r, plan);
    read_execution(r, plan);
    read_placement(r, plan);
    bool usable = node.diagnostics->list().size() == problems;
    const bool dp_is_known = read_data_degree(r, plan, devices);
    usable = read_batch(r, plan, dp_is_known) && usable;
    complain_about_idle_settings(r, plan);
    if (!usable) return std::nullopt;
    return plan;
}

}  // namespace sextant
