// The plan of a published row, from the words and numbers of its source.
#include "model/io/measurement/measurement_scenario.hpp"

#include "model/io/measurement/mentioned_word.hpp"
#include "model/plan/recompute.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace sextant {
namespace {

// The first whole number after `word` in `text`.
std::optional<int> number_after(std::string_view text, std::string_view word) {
    auto at = text.find(word);
    if (at == std::string_view::npos) return std::nullopt;
    at = std::min(text.find_first_of("0123456789", at + word.size()), text.size());
    int value = 0;
    for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) && value < 1'000'000; ++at)
        value = 10 * value + (text[at] - '0');
    return value > 0 ? std::optional(value) : std::nullopt;
}

// Autocast keeps fp32 weights and gradients and casts at each use; MXNet casts the network and keeps fp32 masters in the optimizer.
bool is_autocast(const MeasuredPlan& p) {
    return mentions(p.precision, "amp") && p.framework_family != "mxnet" && !mentions(p.precision, "mxnet") && p.fsdp.empty();
}

// The network itself is of 16 bits, weights, gradients and all, where a source says "fp16" and nothing of what narrows it: model.half() in
// PyTorch, variables of float16 in TensorFlow (u39kun/deep-learning-benchmark, frameworks/).
bool is_narrowed(const MeasuredPlan& p) {
    const bool casts = p.framework_family == "pytorch-ddp" || p.framework_family == "tensorflow";
    return casts && p.precision == p.precision_kind && (p.precision == "fp16" || p.precision == "bf16");
}

// A graph of TensorFlow 1 is made for inference or for training. A benchmark that times its forward alone and then adds gradients to it,
// without an update, has made it for inference (u39kun/deep-learning-benchmark, frameworks/tensorflow/models.py: phase_train is False).
bool has_frozen_batch_norms(const MeasuredPlan& p) { return p.framework_family == "tensorflow" && p.phase == "forward_backward"; }

bool multiplies(const Device& device, DataType type) { return matrix_path(device, type, false).native; }

// The row's word for it, or the source's own words.
const std::string& precision_words(const MeasuredPlan& p) { return p.precision_kind.empty() ? p.precision : p.precision_kind; }

// Narrow types come first, as a mixture names the wider ones too; a mixture that names none was one with fp16 before there was another.
std::optional<DataType> precision_kind(const MeasuredPlan& p, const Device& device, RowReport& report) {
    if (const auto type = parse_data_type(p.precision_kind)) return type;
    constexpr std::pair<std::string_view, DataType> words[] = {
        {"fp4", DataType::nvfp4},     {"mxfp8", DataType::mxfp8}, {"fp8", DataType::fp8},      {"bf16", DataType::bf16},
        {"bfloat16", DataType::bf16}, {"fp16", DataType::fp16},   {"float16", DataType::fp16}, {"half", DataType::fp16},
        {"amp", DataType::fp16},      {"mixed", DataType::fp16},  {"tf32", DataType::tf32},    {"32", DataType::fp32}};
    if (const DataType* type = mentioned_word(precision_words(p), words)) return *type;
    if (!precision_words(p).empty()) return std::nullopt;
    const DataType usual = multiplies(device, DataType::bf16) ? DataType::bf16 : DataType::fp32;
    report.assume("precision not stated: " + std::string(to_text(usual)));
    return usual;
}

// llm.q multiplies quantized copies of its weights, and has those alone where the weights are in host memory.
bool keeps_quants_alone(const MeasuredPlan& p) {
    const auto is_master = [](const std::string& word) { return mentions(word, "master"); };
    return p.framework_family == "llm.q" && p.precision_kind == "fp8" && !p.shard_weights && std::ranges::any_of(p.offload, is_master);
}

Precision precision_of(const MeasuredPlan& p, const Device& device, bool convolutional, RowReport& report) {
    auto word = precision_kind(p, device, report);
    if (!word) {
        report.complain(p.precision_kind.empty() ? "/plan/precision" : "/plan/precision_kind",
                        "\"" + precision_words(p) + "\" is no precision that is known here",
                        "one of: fp32, tf32, fp16, bf16, fp8, mxfp8, nvfp4");
        return {};
    }
    if (word == DataType::fp16 && !multiplies(device, DataType::fp16) && multiplies(device, DataType::bf16)) {
        word = DataType::bf16;
        report.assume("fp16 is bf16 on a device that multiplies no other 16 bits");
    }
    Precision q = precision_policy(*word);
    constexpr std::string_view before_tf32[] = {"kepler", "maxwell", "pascal", "volta", "turing"};
    if (*word == DataType::fp32 && convolutional && std::ranges::find(before_tf32, device.architecture) == std::end(before_tf32)) {
        q.tf32 = true;
        report.assume("\"fp32\" convolutions run in TF32 on Ampere and later, as the frameworks' default is");
    }
    if (is_autocast(p)) {
        q.parameter = DataType::fp32;
        q.gradient = q.reduction = DataType::fp32;
        q.master_weights = false;
    }
    if (is_narrowed(p)) q.master_weights = false;
    if (mentions(p.precision, "fp32 grad") || mentions(p.grad_dtype, "fp32")) q.gradient = q.reduction = DataType::fp32;
    if (mentions(p.grad_reduce_dtype, "bf16")) q.gradient = q.reduction = DataType::bf16;
    if (p.fsdp_mixed_precision == "DEFAULT") q.reduction = DataType::fp32;  // Composer: PURE reduces in 16 bit, DEFAULT in 32
    if (mentions(p.optimizer, "bf16") || mentions(p.precision, "bf16 optimizer")) {
        q.optimizer_state = DataType::bf16;
        q.master_weights = false;
    }
    if (p.fp8_params || keeps_quants_alone(p)) q.parameter = q.compute;
    return q;
}

// Where the row does not say it, the model is copied to all devices.
void set_copies(const MeasuredPlan& p, const MeasuredHardware& h, Plan& plan, RowReport& report) {
    const std::int64_t of_one = std::int64_t{plan.tp} * plan.pp * plan.cp;
    plan.dp = p.dp.value_or(static_cast<int>(std::max<std::int64_t>(1, h.gpus / of_one)));
    if (!p.dp && plan.dp > 1) report.assume(std::to_string(plan.dp) + " copies of the model: data parallelism over all devices");
}

void set_batches(const MeasuredPlan& p, Plan& plan, RowReport& report) {
    plan.micro_batch = p.micro_batch.value_or(1);
    if (!p.micro_batch) report.assume("micro-batches of one sample");
    const std::int64_t per_step = plan.micro_batch * plan.dp;
    if (!p.global_batch && !p.grad_accum) report.assume("no gradient accumulation");
    plan.global_batch = p.global_batch.value_or(per_step * p.grad_accum.value_or(1));
}

void set_parameter_server(const MeasuredPlan& p, const MeasuredHardware& h, Plan& plan) {
    const bool serves = mentions(p.variable_update, "parameter_server") || mentions(p.variable_update, "parameter server");
    // Other ways copy variables to each device ("replicated", "horovod"). Where each GPU has a part of the variables
    // ("parameter_server/gpu"), as many gradients and weights go between the GPUs.
    if (!serves || mentions(p.variable_update, "/gpu")) return;
    plan.servers_on_workers = true;
    plan.data_parallel = DataParallel::parameter_server;
    plan.parameter_servers = h.nodes;
}

void set_data_parallel(const MeasuredPlan& p, const MeasuredHardware& h, Plan& plan) {
    constexpr DataParallel by_stage[] = {DataParallel::all_reduce, DataParallel::zero1, DataParallel::zero2, DataParallel::zero3};
    int stage = p.zero_stage;
    std::optional<int> group = p.zero1_shard_size;
    if (!p.fsdp.empty()) {
        const std::string word = lower_case(p.fsdp);
        const bool shards_nothing = word == "no_shard" || word == "none" || word == "no" || word == "ddp";
        stage = mentions(word, "grad_op") || mentions(word, "zero2") ? 2 : shards_nothing ? 0 : 3;
        group = number_after(p.fsdp, "group");
        if (!group && mentions(word, "hybrid") && h.nodes > 1) group = h.gpus / h.nodes;
        if (group == 1) stage = 0;
    }
    // Where a rank shards for itself alone, its weights come block by block from where their only shard lies.
    if (plan.dp * plan.cp == 1 && (p.shard_weights || p.shard_gradients)) stage = p.shard_weights ? 3 : 2;
    plan.data_parallel = by_stage[stage];
    if (stage > 0 && group && *group < plan.dp * plan.cp) plan.shard_group = *group;
    if (!p.variable_update.empty()) set_parameter_server(p, h, plan);
}

// Interleaving needs two chunks at least. All of NeMo's recipes of dense models that state their chunks have several; a table that lists
// none leaves them out.
int assumed_chunks(const MeasuredPlan& p, const TransformerSpec* t, const Plan& plan, RowReport& report) {
    if (!t || plan.pp == 1 || t->layers % plan.pp != 0 || plan.micro_batches() % plan.pp != 0) return 1;
    const auto layers = static_cast<int>(t->layers / plan.pp);
    if (p.framework_family == "megatron-core" && mentions(p.framework, "nemo") && !t->moe) {
        report.assume("chunks of one layer in the pipeline: NeMo's recipes of dense models interleave");
        return layers;
    }
    if (!mentions(p.schedule, "interleaved") || layers % 2 != 0) return 1;
    report.assume("two chunks in each stage of the interleaved pipeline");
    return 2;
}

void set_schedule(const MeasuredPlan& p, const Workload& workload, Plan& plan, RowReport& report) {
    const auto* t = workload.transformer();
    plan.vpp = p.vpp ? *p.vpp : assumed_chunks(p, t, plan, report);
    constexpr std::pair<std::string_view, Schedule> words[] = {
        {"gpipe", Schedule::gpipe},          {"zbv", Schedule::zero_bubble_v},      {"zerobubblev", Schedule::zero_bubble_v},
        {"dualpipe", Schedule::dual_pipe_v}, {"zerobubble", Schedule::zero_bubble}, {"zb", Schedule::zero_bubble},
        {"1f1b", Schedule::one_f_one_b},     {"interleaved", Schedule::one_f_one_b}};
    const Schedule* stated = mentioned_word(letters_and_digits(p.schedule), words);  // "ZB-V", "zero_bubble"
    if (stated) plan.schedule = *stated;
    if (!stated && !p.schedule.empty() && plan.pp > 1) report.assume("schedule \"" + p.schedule + "\" is not known here: 1F1B");
    if (turns_back(plan.schedule))
        plan.vpp = 2;
    else if (plan.vpp > 1)
        plan.schedule = Schedule::interleaved;
    if (plan.pp > 1 && p.schedule.empty() && plan.vpp == 1) report.assume("pipeline schedule 1F1B");

    const std::int64_t chunks = std::int64_t{plan.pp} * plan.vpp;
    if (!t || chunks == 1) return;
    const std::int64_t blocks = t->layers + 2;
    const bool counted = p.embedding_as_pipeline_layer || t->layers % chunks != 0;
    if (!counted || blocks % chunks != 0) return;
    // Megatron's split when it counts embedding and head as layers: every stage has the same number of blocks.
    plan.stage_blocks.assign(static_cast<std::size_t>(chunks), static_cast<int>(blocks / chunks));
    if (!p.embedding_as_pipeline_layer) report.assume("embedding and head count as layers in the pipeline split, which is even then");
}

void set_experts(const MeasuredPlan& p, const Workload& workload, Plan& plan, RowReport& report) {
    const auto* t = workload.transformer();
    const int ranks = plan.dp * plan.cp;
    plan.ep = p.ep.value_or(t && t->moe ? static_cast<int>(std::gcd(t->moe->experts, std::int64_t{ranks})) : 1);
    if (plan.ep > 1 && !p.ep) report.assume("experts spread over as many ranks as they can be: " + std::to_string(plan.ep));
    plan.expert_tp = p.etp.value_or(0);
    if (!p.etp && plan.ep > 1 && p.tp > 1) {
        const bool of_recipes = mentions(p.framework, "Bridge") || mentions(p.framework, "AutoModel");
        const bool only_way = ranks % plan.ep != 0;  // to lay so many expert ranks
        plan.expert_tp = of_recipes || only_way ? 1 : 0;
        report.assume(plan.expert_tp == 0 ? "experts are cut by tensor parallelism as layers are"
                      : only_way          ? "experts are not cut by tensor parallelism: ep does not divide dp x cp otherwise"
                                          : "experts are not cut by tensor parallelism, as is usual in NVIDIA's recipes");
    }
    const int places = ranks * plan.tp / plan.expert_tensor();
    if (places % plan.ep == 0) return;
    const int laid = std::gcd(plan.ep, places);
    report.assume("ep is " + std::to_string(laid) + ": " + std::to_string(plan.ep) + " cannot be laid over " + std::to_string(places) +
                  " ranks");
    plan.ep = laid;
}

// Names of llm.q in the words of Megatron's --recompute-modules: a block of attention is more than its core.
std::vector<std::string> modules_of(const std::string& word) {
    constexpr std::pair<std::string_view, std::string_view> names[] = {{"recompute-ffn", "mlp"},       {"recompute-norm", "layernorm"},
                                                                       {"recompute-att", "core_attn"}, {"recompute-att", "qkv"},
                                                                       {"recompute-qkv", "qkv"},       {"recompute-swiglu", "mlp_act"}};
    std::vector<std::string> modules;
    for (const auto& [from, to] : names)
        if (word == from) modules.emplace_back(to);
    return modules.empty() ? std::vector{word} : modules;
}

void set_recompute_modules(const MeasuredPlan& p, Plan& plan, RowReport& report) {
    plan.recompute = Recompute::selective;
    const auto known = recompute_modules();
    for (const std::string& word : p.recompute_modules) {
        if (word == "recompute-block") {
            plan.recompute = Recompute::full;
            continue;
        }
        for (std::string& module : modules_of(word))
            if (std::ranges::find(known, module) != known.end())
                plan.recompute_modules.push_back(std::move(module));
            else
                report.assume("\"" + word + "\" is no module that is known here, and is kept");
    }
    if (plan.recompute == Recompute::full) plan.recompute_modules.clear();
}

void set_recompute(const MeasuredPlan& p, Plan& plan, RowReport& report) {
    const auto layers = number_after(p.recompute_detail, "(");
    const std::string how = lower_case(p.recompute);
    if (how == "full") {
        plan.recompute = Recompute::full;
    } else if (how == "partial" || (layers && how != "none")) {
        plan.recompute = Recompute::blocks;
        plan.recompute_blocks = layers.value_or(1);
        if (!layers) report.assume("partial recompute: one block of each stage");
    } else if (how == "selective" || (how.empty() && !p.recompute_modules.empty())) {
        set_recompute_modules(p, plan, report);
    } else if (how.empty()) {
        report.assume("nothing is recomputed");
    } else if (how != "none") {
        report.complain("/plan/recompute", "recompute \"" + p.recompute + "\" is not known here", "one of: none, selective, partial, full");
    }
}

void set_optimizer(const TrainingRow& row, bool transformer, Plan& plan, RowReport& report) {
    constexpr std::pair<std::string_view, Optimizer> words[] = {
        {"lamb", Optimizer::lamb},         {"adafactor", Optimizer::adafactor},
        {"muon", Optimizer::muon},         {"lion", Optimizer::lion},
        {"8bit", Optimizer::adamw_8bit},   {"8-bit", Optimizer::adamw_8bit},
        {"adamw", Optimizer::adamw},       {"adam", Optimizer::adam},
        {"momentum", Optimizer::momentum}, {"lars", Optimizer::momentum},  // and this keeps one state, too
        {"rmsprop", Optimizer::momentum},  {"sgd", Optimizer::sgd}};
    const Optimizer* stated = mentioned_word(row.plan.optimizer, words);
    plan.optimizer = stated ? *stated : transformer ? Optimizer::adam : Optimizer::momentum;
    if (!stated) report.assume(transformer ? "optimizer Adam" : "optimizer SGD with momentum");
}

void set_offload(const MeasuredPlan& p, Plan& plan) {
    if (p.activation_cpu_offload) plan.offload_activations = OffloadActivations::all;
    if (p.activation_cpu_offload_layers.value_or(0) > 0) {
        plan.offload_activations = OffloadActivations::layers;
        plan.offloaded_layers = *p.activation_cpu_offload_layers;
    }
    for (const std::string& word : p.offload) {
        if (mentions(word, "residual")) plan.offload_activations = OffloadActivations::residuals;
        if (mentions(word, "activation")) plan.offload_activations = OffloadActivations::all;
        if (mentions(word, "opt") || mentions(word, "master")) plan.offload = std::max(plan.offload, Offload::optimizer);
        // llm.q's masters are the weights: shards of them are gathered, or quantized anew, from where the masters are.
        const bool of_weights = mentions(word, "parameters") || mentions(word, "quants") || (p.shard_weights && mentions(word, "master"));
        if (of_weights && plan.shards_parameters()) plan.offload = Offload::optimizer_and_parameters;
    }
}

void set_overlap(const MeasuredPlan& p, Plan& plan) {
    plan.gradient_overlap = p.grad_overlap;
    if (mentions(p.ddp, "local")) plan.gradient_overlap = false;
    if (mentions(p.ddp, "overlapped")) plan.gradient_overlap = true;
    plan.gather_overlap = p.param_gather_overlap;
    plan.tensor_overlap = p.tp_overlap;
    plan.pipeline_overlap = p.p2p_overlap;
    plan.expert_overlap = p.moe_a2a_overlap;
    if (!p.moe_dispatcher.empty())
        plan.token_deduplication = mentions(p.moe_dispatcher, "deepep") || mentions(p.moe_dispatcher, "hybridep");
    if (mentions(p.grad_allreduce, "once per optimizer step")) plan.reduce_every_micro_batch = false;
}

}  // namespace

Plan plan_of(const TrainingRow& row, const Cluster& cluster, const Workload& workload, RowReport& report) {
    const MeasuredPlan& p = row.plan;
    Plan plan;
    plan.tp = p.tp;
    plan.pp = p.pp;
    plan.cp = p.cp;
    set_copies(p, row.hardware, plan, report);
    set_experts(p, workload, plan, report);
    plan.sequence_parallel = p.sequence_parallel;
    plan.head_chunks = p.lmhead_chunks;
    set_batches(p, plan, report);
    set_data_parallel(p, row.hardware, plan);
    set_schedule(p, workload, plan, report);
    set_recompute(p, plan, report);
    plan.precision = precision_of(p, cluster.node.device, std::holds_alternative<ConvolutionalSpec>(workload.spec), report);
    set_optimizer(row, workload.is_transformer() && row.model.family != "cnn", plan, report);
    plan.flash_attention = p.flash_attention.value_or(false);
    if (!p.flash_attention && workload.is_transformer())
        report.assume("attention scores are written out: no fused kernel (FlashAttention)");
    plan.cuda_graph = !p.cuda_graph.empty() && !p.cuda_graph.starts_with("none");
    plan.launch_blocking = mentions(row.header.notes, "CUDA_LAUNCH_BLOCKING=1");
    plan.channels_last = p.channels_last;
    if (is_narrowed(p)) plan.autocast = false;
    plan.forward_only = p.phase == "forward";
    plan.without_optimizer = p.phase == "forward_backward";
    plan.frozen_batch_norm = has_frozen_batch_norms(p);
    if (plan.frozen_batch_norm) report.assume("batch norms keep the statistics of inference: forward and backward of one graph");
    set_offload(p, plan);
    set_overlap(p, plan);
    if (const int used = row.hardware.gpus_used_per_node.value_or(cluster.node.devices); used < cluster.node.devices)
        plan.devices_per_node = used;
    return plan;
}

}  // namespace sextant
