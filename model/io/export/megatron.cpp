// Flags of Megatron-LM, as of commit d98e8a64 (August 2026): megatron/training/arguments.py, and the fields of
// megatron/core/model_parallel_config.py and megatron/core/transformer/transformer_config.py, of which it makes flags.
#include "model/base/ceil_divide.hpp"
#include "model/io/export/plan_export.hpp"
#include "model/io/export/refusals.hpp"
#include "model/plan/framework_defaults.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace sextant {
namespace {

using enum PlanDimension;

std::string shortest(double value) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

struct Words {
    std::vector<std::vector<std::string>> arguments;

    void flag(const std::string& name) { arguments.push_back({name}); }
    template <class T>
    void set(const std::string& name, const T& value) {
        if constexpr (std::is_floating_point_v<T>)
            arguments.push_back({name, shortest(value)});
        else if constexpr (std::is_arithmetic_v<T>)
            arguments.push_back({name, std::to_string(value)});
        else
            arguments.push_back({name, value});
    }
    void flag_if(bool condition, const std::string& name) {
        if (condition) flag(name);
    }
};

// Megatron's own sharding of gradients and weights, which it calls FSDP.
bool uses_fsdp(const Plan& p) { return p.shards_gradients(); }

bool recomputes(const Plan& p, const char* module) {
    return p.recompute == Recompute::selective && std::ranges::find(p.recompute_modules, module) != p.recompute_modules.end();
}

// Megatron-LM starts no run that overlaps the messages of experts with the kernels of another micro-batch in any other way.
void check_expert_overlap(const Scenario& s, Refusals& r) {
    const Plan& p = s.plan;
    if (p.ep == 1 || !overlaps_experts(p, s.framework, s.workload)) return;
    const std::string as = "overlaps the messages of experts ", hint = "plan.expert_overlap=false";
    r.unless(p.pp == 1 || p.vpp > 1, "/plan/expert_overlap", as + "in pipelines whose stages have several chunks alone",
             "plan.schedule=interleaved and plan.vpp=2, or " + hint);
    r.unless(p.recompute == Recompute::none || (p.recompute == Recompute::selective && !recomputes(p, "moe")), "/plan/expert_overlap",
             as + "where neither layers nor their experts run again", hint);
    const auto* t = s.workload.transformer();
    r.unless(!t || t->mtp_layers <= 1, "/plan/expert_overlap", as + "with one layer of multi-token prediction at most", hint);
}

// Megatron-LM starts with modules to recompute that the network has.
void check_recompute(const Plan& p, const TransformerSpec* t, Refusals& r) {
    if (p.recompute != Recompute::selective || !t) return;
    for (const std::string& module : p.recompute_modules) {
        r.unless(module != "qkv" && module != "mlp_act", "/plan/recompute_modules", "has no module \"" + module + "\" to recompute");
        const bool of_experts = module == "moe" || module == "moe_act" || module == "shared_experts";
        r.unless(t->moe || !of_experts, "/plan/recompute_modules", "recomputes \"" + module + "\" in networks with experts");
        r.unless(t->mla || module != "mla_up_proj", "/plan/recompute_modules", "recomputes \"" + module + "\" in latent attention");
    }
}

// Null for an optimizer that Megatron-LM has not.
const char* megatron_optimizer(Optimizer o) {
    switch (o) {
        case Optimizer::sgd:
        case Optimizer::momentum: return "sgd";
        case Optimizer::adam:
        case Optimizer::adamw: return "adam";
        case Optimizer::lion: return "lion";
        case Optimizer::muon: return "muon";
        case Optimizer::lamb:
        case Optimizer::adamw_8bit:
        case Optimizer::adafactor: break;
    }
    return nullptr;
}

// From NVIDIA's package emerging-optimizers, with Adam for embeddings and whatever is no matrix.
bool is_emerging(Optimizer o) { return o == Optimizer::lion || o == Optimizer::muon; }

void check_megatron_optimizer(const Plan& p, Refusals& r) {
    r.unless(megatron_optimizer(p.optimizer), "/plan/optimizer", "has no " + std::string(facts_of(p.optimizer).name), "adamw or lion");
    if (!is_emerging(p.optimizer)) return;
    const std::string with = " with " + std::string(facts_of(p.optimizer).name);
    r.unless(!uses_fsdp(p), "/plan/optimizer", "shards no gradients and no weights" + with, "zero1, or adamw");
    r.unless(p.precision.compute != DataType::fp16, "/plan/optimizer", "trains in bf16 and fp32" + with, "bf16, or adamw");
}

void check_offload(const Plan& p, Refusals& r) {
    r.unless(!p.offloads_parameters(), "/plan/offload", "keeps parameters on the device");
    if (p.offload == Offload::optimizer) {
        r.unless(p.has_shards(), "/plan/offload", "offloads an optimizer that is shared out", "zero1");
        const bool adam = p.optimizer == Optimizer::adam || p.optimizer == Optimizer::adamw;
        r.unless(adam, "/plan/offload", "offloads Adam alone", "adam");
    }
    r.unless(p.offload_activations == OffloadActivations::none, "/plan/offload_activations", "has no flag for activations in host memory");
}

void check_network(const TransformerSpec& t, const Plan& p, Refusals& r) {
    r.unless(t.layer_pattern.empty(), "/workload/layer_pattern", "is exported for networks whose layers have attention and an MLP each");
    r.unless(!t.moe || t.moe->latent == 0, "/workload/moe/latent", "is exported for experts of the whole width");
    r.unless(t.position != PositionKind::alibi, "/workload/position", "has no ALiBi");
    r.unless(t.position != PositionKind::sinusoidal, "/workload/position", "has no tables of sinusoids");
    r.unless(!has_embedding_norm(t), "/workload/embedding_norm", "has no norm behind the embedding");
    r.unless(!t.parallel_residual, "/workload/parallel_residual", "has attention and MLP one behind the other");
    r.unless(norm_placement_of(t) == NormPlacement::input, "/workload/norm_placement", "has norms in front of attention and MLP alone");
    r.unless(!t.qk_norm_whole, "/workload/qk_norm_whole", "normalizes the queries and keys of each head by themselves");
    r.unless(t.full_attention_offset.value_or(t.full_attention_every - 1) == t.full_attention_every - 1, "/workload/full_attention_offset",
             "has full attention in the last of every n layers");
    r.unless(t.logit_softcap == 0, "/workload/logit_softcap", "has no flag for a cap of logits");
    r.unless(!t.adapters, "/workload/adapters", "trains no adapters from its command line: NeMo and Megatron Bridge do");
    r.unless(t.mlp != MlpKind::geglu && t.mlp != MlpKind::relu && t.mlp != MlpKind::silu, "/workload",
             "has gelu, swiglu and squared_relu alone");
    const bool even = p.stage_blocks.empty() && t.layers % (std::int64_t{p.pp} * p.vpp) == 0;
    r.unless(t.mtp_layers == 0 || p.pp == 1 || even, "/plan/stage_blocks", "is not exported with uneven stages and multi-token prediction");
}

void check_for_megatron(const Scenario& s) {
    const Plan& p = s.plan;
    Refusals r(s, "Megatron-LM");
    const auto* t = s.workload.transformer();
    r.unless(t && t->kind == TransformerKind::decoder, "/workload", "is exported for decoders alone: " + s.workload.name + " is none");
    check_training(p, r);
    r.unless(p.schedule == Schedule::one_f_one_b || p.schedule == Schedule::interleaved || p.pp == 1, "/plan/schedule",
             "runs 1f1b and interleaved pipelines alone");
    r.unless(!p.has_servers(), "/plan/data_parallel", "has no parameter servers");
    check_megatron_optimizer(p, r);
    check_offload(p, r);
    r.unless(p.pruned_fraction == 0, "/plan/pruned_fraction", "stores every weight");
    r.unless(!p.shard_group || p.shards_states(), "/plan/shard_group", "shards parameters over all data-parallel ranks",
             "zero1, or no shard_group");
    r.unless(!(p.data_parallel == DataParallel::zero2 && p.shard_group), "/plan/shard_group", "shards gradients over all ranks");
    r.unless(in_order(p, {tensor, context, data, pipeline}) || in_order(p, {tensor, context, pipeline, data}), "/plan/placement",
             "numbers ranks tensor, context, data, pipeline, or with the last two exchanged");
    check_expert_overlap(s, r);
    const DataType compute = p.precision.compute;
    check_recompute(p, t, r);
    r.unless(size_of(compute) >= Bytes::from_si(1) || compute == DataType::nvfp4, "/plan/precision", "does not train in this precision");
    if (t) check_network(*t, p, r);
    check_ranks(s, r);
    r.throw_if_any();
}

void expert_parallelism(const Scenario& s, Words& w) {
    if (s.plan.ep == 1) return;
    const bool once = deduplicates_tokens(s.plan, s.framework);
    w.set("--expert-model-parallel-size", s.plan.ep);
    w.set("--moe-token-dispatcher-type", once ? "flex" : "alltoall");
    if (once) w.set("--moe-flex-dispatcher-backend", "deepep");
    w.flag_if(overlaps_experts(s.plan, s.framework, s.workload), "--overlap-moe-expert-parallel-comm");
}

void parallelism(const Plan& p, Words& w) {
    w.set("--tensor-model-parallel-size", p.tp);
    w.set("--pipeline-model-parallel-size", p.pp);
    if (p.cp > 1) w.set("--context-parallel-size", p.cp);
    if (p.expert_tp > 0) w.set("--expert-tensor-parallel-size", p.expert_tp);
    w.flag_if(p.sequence_parallel, "--sequence-parallel");
    w.flag_if(!in_order(p, {tensor, context, data, pipeline}), "--use-tp-pp-dp-mapping");
    w.set("--micro-batch-size", p.micro_batch);
    w.set("--global-batch-size", p.global_batch);
}

// "Et*3|(t*4|)*2t*3L": embedding, layers and loss of each stage in the order of forward.
std::string layout_text(const std::vector<int>& blocks) {
    std::vector<std::string> stages;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const bool first = i == 0, last = i + 1 == blocks.size();
        const int layers = blocks[i] - (first ? 1 : 0) - (last ? 1 : 0);
        stages.push_back(std::string(first ? "E" : "") + (layers > 0 ? "t*" + std::to_string(layers) : "") + (last ? "L" : ""));
    }
    std::string text;
    for (std::size_t i = 0, alike = 1; i < stages.size(); i += alike, alike = 1) {
        while (i + alike < stages.size() && stages[i + alike] == stages[i]) ++alike;
        const bool last = i + alike == stages.size();
        const std::string stage = stages[i] + (last ? "" : "|");
        text += alike > 1 ? "(" + stage + ")*" + std::to_string(alike) : stage;
    }
    return text;
}

void pipeline_stages(const Scenario& s, const TransformerSpec& t, Words& w) {
    const Plan& p = s.plan;
    if (p.pp == 1) return;
    if (p.stage_blocks.empty() && t.layers % (std::int64_t{p.pp} * p.vpp) == 0) {
        if (p.vpp > 1) w.set("--num-layers-per-virtual-pipeline-stage", t.layers / (std::int64_t{p.pp} * p.vpp));
        return;
    }
    w.set("--pipeline-model-parallel-layout", layout_text(blocks_per_virtual_stage(cut_network(s), p)));
}

void data_parallelism(const Scenario& s, Words& w) {
    const Plan& p = s.plan;
    if (p.data_parallel == DataParallel::zero1) w.flag("--use-distributed-optimizer");
    if (uses_fsdp(p)) {
        w.flag("--use-megatron-fsdp");
        w.set("--data-parallel-sharding-strategy", p.shards_parameters() ? "optim_grads_params" : "optim_grads");
        w.set("--ckpt-format", "fsdp_dtensor");  // it starts with no other
    }
    if (p.shard_group) w.set("--num-distributed-optimizer-instances", p.dp * p.cp / *p.shard_group);
    if (p.dp * p.cp > 1 && overlaps_gradients(p, s.framework)) {
        w.flag("--overlap-grad-reduce");
        w.flag_if(p.has_shards() && overlaps_gathers(p, s.framework), "--overlap-param-gather");
    }
    w.flag_if(p.tp > 1 && p.sequence_parallel && overlaps_tensor(p, s.framework), "--tp-comm-overlap");
    if (p.offload == Offload::optimizer) w.flag("--use-precision-aware-optimizer"), w.flag("--optimizer-cpu-offload");
}

void recompute(const Plan& p, Words& w, std::vector<std::string>& notes) {
    switch (p.recompute) {
        case Recompute::none: return;
        case Recompute::selective: {
            w.set("--recompute-granularity", "selective");
            if (p.recompute_modules.empty()) return;
            std::vector<std::string> modules{"--recompute-modules"};
            modules.insert(modules.end(), p.recompute_modules.begin(), p.recompute_modules.end());
            w.arguments.push_back(std::move(modules));
            return;
        }
        case Recompute::full:
            w.set("--recompute-granularity", "full");
            w.set("--recompute-method", "uniform");
            w.set("--recompute-num-layers", 1);
            return;
        case Recompute::blocks:
            w.set("--recompute-granularity", "full");
            w.set("--recompute-method", "block");
            w.set("--recompute-num-layers", ceil_divide(p.recompute_blocks, p.vpp));
            if (p.recompute_blocks % p.vpp != 0)
                notes.push_back("Megatron-LM recomputes as many layers of each of a stage's " + std::to_string(p.vpp) +
                                " chunks: more than the " + std::to_string(p.recompute_blocks) + " that the plan asks for");
    }
}

void precision(const Scenario& s, Words& w) {
    const Precision p = kept_precision(s.plan, s.framework);
    if (p.parameter == DataType::bf16 || p.activation == DataType::bf16) w.flag("--bf16");
    if (p.compute == DataType::fp16) w.flag("--fp16");
    if (p.compute == DataType::fp8) {
        w.set("--fp8-format", "hybrid");
        // Scales of the steps before, which are usual, would count what runs again twice: Megatron-LM refuses.
        if (recomputes(s.plan, "layernorm") || recomputes(s.plan, "moe_act")) w.set("--fp8-recipe", "tensorwise");
    }
    if (p.compute == DataType::mxfp8) w.set("--fp8-format", "e4m3"), w.set("--fp8-recipe", "mxfp8");
    if (p.compute == DataType::nvfp4) w.set("--fp4-format", "e2m1");
    w.flag_if(size_of(p.parameter) < size_of(DataType::fp32) && p.gradient_type() == DataType::fp32,
              "--accumulate-allreduce-grads-in-fp32");
}

void network(const TransformerSpec& t, const Plan& p, Words& w) {
    const bool narrow = size_of(p.precision.activation) < size_of(DataType::fp32);  // else flash attention is no choice
    w.set("--num-layers", t.layers);
    w.set("--hidden-size", t.hidden);
    w.set("--ffn-hidden-size", t.ffn_hidden);
    w.set("--num-attention-heads", t.heads);
    if (t.kv_heads != t.heads && !t.mla) w.flag("--group-query-attention"), w.set("--num-query-groups", t.kv_heads);
    if (t.head_dim > 0 && !t.mla) w.set("--kv-channels", t.head_dim);
    w.set("--seq-length", t.seq_len);
    w.set("--max-position-embeddings", t.max_positions > 0 ? t.max_positions : t.seq_len);
    static constexpr const char* positions[] = {"learned_absolute", "rope", "none", "relative", "none"};
    w.set("--position-embedding-type", std::string(positions[static_cast<std::size_t>(t.position)]));
    if (t.norm == NormKind::rms) w.set("--normalization", "RMSNorm");
    w.flag_if(t.mlp == MlpKind::swiglu, "--swiglu");
    w.flag_if(t.mlp == MlpKind::squared_relu, "--squared-relu");
    if (t.mlp == MlpKind::clamped_swiglu)
        w.flag("--quick-geglu"), w.set("--activation-func-clamp-value", "7.0"), w.set("--glu-linear-offset", "1.0");
    w.flag_if(!t.tied_embeddings, "--untie-embeddings-and-output-weights");
    w.flag_if(!t.bias, "--disable-bias-linear");
    w.flag_if(!t.bias && t.qkv_bias.value_or(false), "--add-qkv-bias");
    w.set("--attention-backend", std::string(!p.flash_attention ? "unfused" : narrow ? "flash" : "auto"));
    if (!t.dropout) w.set("--attention-dropout", std::string("0")), w.set("--hidden-dropout", std::string("0"));
}

void latent_attention(const LatentAttention& mla, Words& w) {
    w.flag("--multi-latent-attention");
    if (mla.q_rank > 0) w.set("--q-lora-rank", mla.q_rank);
    w.set("--kv-lora-rank", mla.kv_rank);
    w.set("--qk-head-dim", mla.qk_nope_dim);
    w.set("--qk-pos-emb-head-dim", mla.qk_rope_dim);
    w.set("--v-head-dim", mla.value_dim);
}

void attention(const TransformerSpec& t, Words& w) {
    if (t.mla) latent_attention(*t.mla, w);
    w.flag_if(t.mla || t.qk_norm, "--qk-layernorm");
    w.flag_if(t.attention_gate, "--attention-output-gate");
    if (t.sliding_window == 0) return;
    w.set("--window-size", std::to_string(t.sliding_window) + ",0");
    const std::int64_t every = t.sliding_window_every;
    if (t.full_attention_every > 0) w.set("--window-attn-skip-freq", t.full_attention_every);
    if (every > 1)
        w.set("--window-attn-skip-freq", "([1]+[0]*" + std::to_string(every - 1) + ")*" + std::to_string(ceil_divide(t.layers, every)));
}

void multi_token_prediction(const TransformerSpec& t, Words& w) {
    if (t.mtp_layers == 0) return;
    w.set("--mtp-num-layers", t.mtp_layers);
    w.set("--mtp-loss-scaling-factor", t.mtp_loss_weight);
}

void experts(const TransformerSpec& t, Words& w) {
    if (!t.moe) return;
    const MixtureOfExperts& moe = *t.moe;
    w.set("--num-experts", moe.experts);
    w.flag("--moe-grouped-gemm");
    w.set("--moe-router-topk", moe.topk);
    if (moe.expert_groups > 1) w.set("--moe-router-num-groups", moe.expert_groups), w.set("--moe-router-group-topk", moe.groups_per_token);
    if (moe.sigmoid_router) {
        w.set("--moe-router-score-function", "sigmoid");
        w.flag("--moe-router-enable-expert-bias");
        w.set("--moe-router-bias-update-rate", moe.bias_update_speed);
    }
    // The score of a single expert counts as it is, before others are left out.
    w.flag_if(!moe.sigmoid_router && moe.topk == 1, "--moe-router-pre-softmax");
    if (moe.balance_loss > 0) {
        w.set("--moe-router-load-balancing-type", "seq_aux_loss");
        w.set("--moe-aux-loss-coeff", moe.balance_loss);
    }
    w.set("--moe-ffn-hidden-size", moe.ffn_hidden > 0 ? moe.ffn_hidden : t.ffn_hidden);
    if (moe.shared_ffn_hidden > 0) w.set("--moe-shared-expert-intermediate-size", moe.shared_ffn_hidden);
    w.flag_if(moe.shared_gate, "--moe-shared-expert-gate");
    if (moe.dense_layers > 0 && moe.every == 1)
        w.set("--moe-layer-freq", "([0]*" + std::to_string(moe.dense_layers) + "+[1]*" + std::to_string(t.layers - moe.dense_layers) + ")");
    else if (moe.every > 1)
        w.set("--moe-layer-freq", moe.every);
}

void optimizer(const Plan& p, Words& w) {
    w.set("--optimizer", std::string(megatron_optimizer(p.optimizer)));
    if (p.optimizer == Optimizer::sgd) w.set("--sgd-momentum", "0");
    if (p.optimizer == Optimizer::muon && p.tp > 1) w.set("--muon-tp-mode", std::string("blockwise"));
}

}  // namespace

ExportedLaunch megatron_launch(const Scenario& s) {
    check_for_megatron(s);
    const auto& t = std::get<TransformerSpec>(s.workload.spec);
    ExportedLaunch launch{used_nodes(s), ranks_per_node(s), cores_of_job(s), {}, "pretrain_gpt.py", {}, left_to_the_program(s)};
    // A tensor exchange must be issued before the kernels behind it. Megatron-LM does not start without this, and with it not under FSDP,
    // whose gathers go on beside kernels.
    if ((s.plan.tp > 1 || s.plan.cp > 1) && !uses_fsdp(s.plan)) launch.environment.emplace_back("CUDA_DEVICE_MAX_CONNECTIONS", "1");
    if (s.plan.launch_blocking) launch.environment.emplace_back(blocking_launches, "1");
    Words w;
    parallelism(s.plan, w);
    expert_parallelism(s, w);
    pipeline_stages(s, t, w);
    data_parallelism(s, w);
    recompute(s.plan, w, launch.notes);
    precision(s, w);
    optimizer(s.plan, w);
    network(t, s.plan, w);
    attention(t, w);
    multi_token_prediction(t, w);
    experts(t, w);
    launch.arguments = std::move(w.arguments);
    if (is_emerging(s.plan.optimizer))
        launch.notes.emplace_back(
            "the optimizer is of the package emerging-optimizers; embeddings, norms and biases are updated with Adam");
    launch.notes.emplace_back("data, tokenizer, learning rate and length of the run are yours to add");
    return launch;
}

}  // namespace sextant
