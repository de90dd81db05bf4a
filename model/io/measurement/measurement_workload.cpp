// The network of a published row: transformers from their numbers, everything else by name.
#include "model/io/measurement/measurement_scenario.hpp"

#include "model/io/measurement/mentioned_word.hpp"

#include <algorithm>
#include <charconv>

namespace sextant {
namespace {

// What the papers of a family say about the parts that its rows do not name. First match by words of the row's family.
struct Family {
    std::string_view words;
    MlpKind mlp;
    NormKind norm;
    PositionKind position;
    bool bias, dropout, tied;
    bool qk_norm = false;
};
constexpr Family gpt{"", MlpKind::gelu, NormKind::layer, PositionKind::learned, true, true, true};      // GPT-2 and 3, Megatron-LM
constexpr Family llama{"", MlpKind::swiglu, NormKind::rms, PositionKind::rotary, false, false, false};  // LLaMA and those after it
constexpr Family families[] = {
    {"BERT", MlpKind::gelu, NormKind::layer, PositionKind::learned, true, true, true},                // arXiv 1810.04805
    {"BLOOM", MlpKind::gelu, NormKind::layer, PositionKind::alibi, true, true, true},                 // arXiv 2211.05100
    {"MPT", MlpKind::gelu, NormKind::layer, PositionKind::alibi, false, false, true},                 // llm-foundry's defaults
    {"Nemotron", MlpKind::squared_relu, NormKind::layer, PositionKind::rotary, false, false, false},  // arXiv 2402.16819
    {"GPT-OSS", MlpKind::clamped_swiglu, NormKind::rms, PositionKind::rotary, true, false, false},    // arXiv 2508.10925
    {"GPT-NeoX", MlpKind::gelu, NormKind::layer, PositionKind::rotary, true, false, false},           // arXiv 2204.06745
    {"Pythia", MlpKind::gelu, NormKind::layer, PositionKind::rotary, true, false, false},             // arXiv 2304.01373: of GPT-NeoX
    {"GPT-J", MlpKind::gelu, NormKind::layer, PositionKind::rotary, true, false, false},              // kingoflolz/mesh-transformer-jax
    {"OPT", MlpKind::relu, NormKind::layer, PositionKind::learned, true, true, true},                 // arXiv 2205.01068
    {"Falcon", MlpKind::gelu, NormKind::layer, PositionKind::rotary, false, false, true},             // arXiv 2311.16867
    {"StarCoder2", MlpKind::gelu, NormKind::layer, PositionKind::rotary, true, true, true},           // arXiv 2402.19173
    {"Phi-1", MlpKind::gelu, NormKind::layer, PositionKind::rotary, true, true, false},               // microsoft/phi-1_5
    {"Phi-2", MlpKind::gelu, NormKind::layer, PositionKind::rotary, true, true, false},               // microsoft/phi-2
    {"Gemma", MlpKind::geglu, NormKind::rms, PositionKind::rotary, false, false, true},               // arXiv 2403.08295
    {"GPT", gpt.mlp, gpt.norm, gpt.position, gpt.bias, gpt.dropout, gpt.tied},
    {"Grok", MlpKind::geglu, NormKind::rms, PositionKind::rotary, false, false, true},           // xai-org/grok-1
    {"Qwen3", MlpKind::swiglu, NormKind::rms, PositionKind::rotary, false, false, false, true},  // arXiv 2505.09388
};
constexpr std::string_view llamas[] = {"llama", "mistral", "mixtral", "qwen", "deepseek", "kimi",    "moonlight", "intern", "baichuan",
                                       "yi-",   "olmo",    "phi",     "glm",  "vicuna",   "minicpm", "hunyuan",   "dbrx",   "command"};

constexpr std::pair<std::string_view, MlpKind> mlp_words[] = {{"squared-relu", MlpKind::squared_relu},
                                                              {"swiglu", MlpKind::swiglu},
                                                              {"geglu", MlpKind::geglu},
                                                              {"3mat", MlpKind::swiglu},
                                                              {"gelu", MlpKind::gelu},
                                                              {"relu", MlpKind::relu}};

bool is_llama(const MeasuredModel& m) {
    return std::ranges::any_of(llamas, [&](std::string_view word) { return mentions(m.family, word); });
}

const Family& family_of(const MeasuredModel& m) {
    const auto* family = std::ranges::find_if(
        families, [&](std::string_view word) { return mentions(m.family, word); }, &Family::words);
    if (family != std::end(families)) return *family;
    return mentions(m.mlp, "glu") || is_llama(m) ? llama : gpt;
}

void set_mixture(const MeasuredModel& m, const MeasuredPlan& p, TransformerSpec& t) {
    if (!m.experts) return;
    MixtureOfExperts& moe = t.moe.emplace();
    moe.experts = *m.experts;
    moe.topk = m.topk.value_or(moe.topk);
    moe.ffn_hidden = m.moe_ffn_hidden.value_or(t.ffn_hidden);
    moe.shared_ffn_hidden = m.shared_expert_ffn_hidden.value_or(0);
    moe.dense_layers = m.dense_layers.value_or(0);
    if (mentions(p.moe_dispatcher, "capacity factor 1")) moe.capacity_factor = 1;
    if (mentions(m.family, "DeepSeek-V3")) {  // arXiv 2412.19437 section 4.2
        moe.expert_groups = 8;
        moe.groups_per_token = 4;
    }
}

void set_latent_attention(const MeasuredModel& m, TransformerSpec& t) {
    if (!m.mla) return;
    LatentAttention& a = t.mla.emplace();
    a.q_rank = m.mla->q_lora_rank.value_or(a.q_rank);
    a.kv_rank = m.mla->kv_lora_rank.value_or(a.kv_rank);
    a.qk_nope_dim = m.mla->qk_head_dim.value_or(a.qk_nope_dim);
    a.qk_rope_dim = m.mla->qk_rope_dim.value_or(a.qk_rope_dim);
    a.value_dim = m.mla->v_head_dim.value_or(a.value_dim);
}

void set_bert(const MeasuredModel& m, TransformerSpec& t, RowReport& report) {
    t.kind = TransformerKind::encoder;
    t.bidirectional = true;
    t.type_vocab = 2;
    t.max_positions = std::max<std::int64_t>(512, t.seq_len);
    t.head = mentions(m.name, "SQuAD") ? HeadKind::question_answering : HeadKind::masked_lm_nsp;
    t.pooler = t.head == HeadKind::masked_lm_nsp;
    t.predicted_tokens = m.max_predictions.value_or(0);
    if (t.pooler && !m.max_predictions) report.assume("every position reaches the masked-language-model head");
}

void set_parts(const MeasuredModel& m, TransformerSpec& t, RowReport& report) {
    const Family& family = family_of(m);
    const MlpKind* stated = mentioned_word(m.mlp, mlp_words);
    t.mlp = stated ? *stated : family.mlp;
    t.norm = family.norm;
    t.position = mentions(m.positional, "learned") ? PositionKind::learned : family.position;
    t.bias = m.bias.value_or(family.bias);
    t.dropout = family.dropout;
    t.qk_norm = family.qk_norm;
    t.tied_embeddings = m.tied_embeddings.value_or(family.tied);
    if (family.mlp == MlpKind::clamped_swiglu && t.mlp == MlpKind::swiglu) t.mlp = family.mlp;  // rows name the kind without its limits
    t.qkv_bias = m.qkv_bias;
    t.bidirectional = m.bidirectional.value_or(false);
    const std::string like = &family == &llama ? "in LLaMA" : "in GPT";
    const bool known = &family != &gpt && (&family != &llama || is_llama(m));
    const std::string usual = m.family.empty() ? like + ": no family is stated"
                              : known          ? "in the family " + m.family
                                               : like + ": the family " + m.family + " is not known here";
    if (m.mlp.empty()) report.assume("MLP as is usual " + usual);
    if (!m.tied_embeddings) report.assume(t.tied_embeddings ? "input and output embeddings tied" : "input and output embeddings not tied");
    report.assume("normalization, positions, bias and dropout as is usual " + usual);
}

Workload transformer(const MeasuredModel& m, const MeasuredPlan& p, RowReport& report) {
    TransformerSpec t;
    t.layers = *m.layers;
    t.hidden = *m.hidden;
    t.heads = *m.heads;
    t.seq_len = m.seq_len.value_or(t.seq_len);
    t.ffn_hidden = m.ffn_hidden.value_or(4 * t.hidden);
    t.kv_heads = m.kv_heads.value_or(t.heads);
    t.head_dim = m.head_dim.value_or(0);
    t.vocab = m.vocab.value_or(t.vocab);
    if (!m.ffn_hidden) report.assume("ffn_hidden = 4 x hidden");
    if (!m.kv_heads) report.assume("as many key-value heads as heads");
    if (!m.vocab) report.assume("a vocabulary of " + std::to_string(t.vocab));
    if (!m.seq_len) report.assume("sequences of " + std::to_string(t.seq_len) + " tokens");
    set_parts(m, t, report);
    t.sliding_window = m.sliding_window.value_or(0);
    t.sliding_window_every = m.sliding_window_every.value_or(1);
    t.mtp_layers = m.mtp_layers.value_or(0);
    set_mixture(m, p, t);
    set_latent_attention(m, t);
    if (mentions(m.family, "BERT")) set_bert(m, t, report);
    const std::string name = !m.name.empty() ? m.name : !m.family.empty() ? m.family : "custom transformer";
    return {name, name, t, "the row"};
}

// Rows of BERT name its task in many ways: "bert_large_squad", "BERT-large (SQuAD fine-tuning)".
std::optional<Workload> find_named(const std::string& name, const MeasurementSources& sources) {
    if (auto workload = sources.workload(name)) return workload;
    if (!lower_case(name).starts_with("bert") || !(mentions(name, "large") || mentions(name, "base"))) return std::nullopt;
    return sources.workload(std::string(mentions(name, "large") ? "bert-large" : "bert-base") + (mentions(name, "squad") ? "-squad" : ""));
}

Workload by_name(const MeasuredModel& m, const MeasurementSources& sources, RowReport& report) {
    auto workload = find_named(m.name, sources);
    if (!workload) {
        report.complain("/model", "the row does not say how large \"" + m.name + "\" is, and no bundled model has this name",
                        "a transformer needs layers, hidden and heads");
        return {};
    }
    if (auto* t = std::get_if<TransformerSpec>(&workload->spec)) {
        if (m.seq_len) t->seq_len = *m.seq_len;
        if (m.image_px && t->kind == TransformerKind::vision) t->image_px = *m.image_px;
    }
    if (auto* c = std::get_if<ConvolutionalSpec>(&workload->spec); c && m.image_px) c->image_px = *m.image_px;
    report.assume("the network that is generally known as " + m.name);
    return std::move(*workload);
}

// "LoRA rank 16". Rows that name the task alone are of NVIDIA's performance recipes, which adapt the products of queries, keys and values
// (NVIDIA-NeMo/Megatron-Bridge, llama3_70b_peft_*_config; NVIDIA/NeMo, llama3_8b.py, finetune_performance_optimizations).
void set_adapters(const TrainingRow& row, Workload& workload, RowReport& report) {
    const std::string& trained = row.plan.trainable;
    if (trained.empty() && row.task != "LoRA") return;
    auto* spec = std::get_if<TransformerSpec>(&workload.spec);
    constexpr std::string_view rank = "LoRA rank ";
    if (spec == nullptr || (!trained.empty() && !trained.starts_with(rank)))
        return report.complain("/plan/trainable", "what is trained is not understood: " + trained, "\"LoRA rank 16\"");
    LowRankAdapters& a = spec->adapters.emplace();
    if (trained.empty()) {
        a.proj = a.fc1 = a.fc2 = false;
        report.assume("adapters of rank 16 for queries, keys and values");
    } else if (std::from_chars(trained.data() + rank.size(), trained.data() + trained.size(), a.rank).ec == std::errc()) {
        report.assume("adapters for every product of a layer");
    } else {
        report.complain("/plan/trainable", "the rank is no number: " + trained, "\"LoRA rank 16\"");
    }
}

}  // namespace

Workload workload_of(const TrainingRow& row, const MeasurementSources& sources, RowReport& report) {
    const MeasuredModel& m = row.model;
    Workload workload = m.layers && m.hidden && m.heads ? transformer(m, row.plan, report) : by_name(m, sources, report);
    set_adapters(row, workload, report);
    return workload;
}

}  // namespace sextant
