// Which framework description a published row stands for: one table, read from the top.
#include "model/io/measurement/measurement_scenario.hpp"

#include "model/io/measurement/mentioned_word.hpp"

#include <algorithm>
#include <cctype>

namespace sextant {
namespace {

// All conditions must hold; an empty word always does. `words` stand in the row's framework, precision, optimizer or CUDA graphs as the
// source words them, `kind` in its precision_kind, `update` in its variable_update; `from` is the first year that counts, of the source's
// own words.
struct RareConditions {
    std::string_view kind{}, update{};
    int from = 0;
};
struct FrameworkRule {
    std::string_view family, words, name;
    RareConditions also{};
};
constexpr FrameworkRule rules[] = {
    {"megatron-lm", "TransformerEngine", "megatron-core"},
    {"megatron-lm", "2020", "megatron-lm-2019"},
    {"megatron-lm", "", "megatron-lm-2021"},
    {"megatron-deepspeed", "ZeRO-3", "megatron-deepspeed-zero3"},
    {"megatron-deepspeed", "BigScience", "megatron-deepspeed-bf16", {.kind = "bf16"}},
    {"megatron-deepspeed", "BigScience", "megatron-deepspeed-bigscience"},
    {"megatron-deepspeed", "", "megatron-deepspeed"},
    {"deepspeed", "no model parallelism", "megatron-deepspeed-zero3-2021"},  // SC21, section 5.2: Megatron's model under ZeRO-3
    {"deepspeed", "liger", "deepspeed-liger"},
    {"deepspeed", "", "deepspeed"},
    {"megatron-core", "AutoModel", "nemo-automodel"},
    // What recipes fuse from container 26.06 on they fuse where the whole iteration is one graph (NVIDIA-NeMo/Megatron-Bridge@067f987
    // src/megatron/bridge/perf_recipes/), not where Transformer Engine captures attention and the router.
    {"megatron-core", "transformer_engine/", "nemo"},
    {"megatron-core", "container 26.06", "nemo-26.06"},
    {"megatron-core", "container 26.08", "nemo-26.06"},
    {"megatron-core", "NeMo", "nemo"},  // Megatron Bridge too: NeMo's recipes in its container
    {"megatron-core", "", "megatron-core"},
    {"pytorch-fsdp", "llm-foundry", "llm-foundry"},
    {"pytorch-fsdp", "FSDP2", "pytorch-fsdp2"},
    {"pytorch-fsdp", "composer v0.", "pytorch-ddp-1.x"},  // of 2022; what it trained on vision was never sharded
    {"pytorch-fsdp", "", "pytorch-fsdp"},
    {"internevo", "", "internevo"},
    {"llm.q", "", "llm-q"},
    {"", "Torch7", "torch7"},
    {"", "Caffe2", "caffe2"},
    {"pytorch-ddp", "BertAdam", "pytorch-ddp-bertadam"},
    {"pytorch-ddp", "apex", "pytorch-ddp-apex"},
    {"pytorch-ddp", "(2.", "pytorch-ddp"},               // NVIDIA's containers print the version of PyTorch
    {"pytorch-ddp", "", "pytorch-ddp", {.from = 2023}},  // PyTorch 2.0 is of March 2023
    {"pytorch-ddp", "PyTorch 0.", "pytorch-ddp-0.x"},
    {"pytorch-ddp", "PyTorch 1.0", "pytorch-ddp-0.x"},
    {"pytorch-ddp", "", "pytorch-ddp-1.x"},
    {"tensorflow", "TensorFlow 2", "tensorflow-2-xla"},
    {"tensorflow", "", "tf-parameter-server", {.update = "distributed"}},
    {"tensorflow", "", "tensorflow-1", {.update = "parameter"}},
    {"tensorflow", "", "tensorflow-1", {.update = "replicated"}},
    {"tensorflow", "TensorFlow 1.", "tensorflow-1"},
    {"tensorflow", "", "horovod-tf1"},       // NVIDIA's TensorFlow examples run under Horovod
    {"", "see submission", "mxnet-mlperf"},  // MLPerf's ResNet-50 submissions on NVIDIA devices
    {"mxnet", "", "mxnet"},
};

// For families that are not known: by a word of the framework's name, or what most jobs of such a plan run on.
constexpr std::pair<std::string_view, std::string_view> known_words[] = {
    {"Megatron", "megatron-core"}, {"NeMo", "nemo"},           {"torchtitan", "pytorch-fsdp2"}, {"FSDP2", "pytorch-fsdp2"},
    {"FSDP", "pytorch-fsdp"},      {"DeepSpeed", "deepspeed"}, {"Horovod", "horovod-pytorch"}};
std::string_view nearest_framework(const MeasuredPlan& p) {
    if (const std::string_view* name = mentioned_word(p.framework, known_words)) return *name;
    const bool narrow = p.precision_kind.ends_with("fp8") || p.precision_kind.ends_with("fp4");
    if (p.tp > 1 || p.pp > 1 || p.ep.value_or(1) > 1 || p.sequence_parallel || narrow) return "megatron-core";
    return p.zero_stage == 3 || !p.fsdp.empty() ? "pytorch-fsdp" : "pytorch-ddp";
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The last year from 2000 to 2099 that stands alone in `text`; 0 when there is none.
int year_in(std::string_view text) {
    int year = 0;
    for (std::size_t i = 0; i + 4 <= text.size(); ++i) {
        if (text.substr(i, 2) != "20" || !is_digit(text[i + 2]) || !is_digit(text[i + 3])) continue;
        const bool alone = (i == 0 || !is_digit(text[i - 1])) && (i + 4 == text.size() || !is_digit(text[i + 4]));
        if (alone) year = 2000 + 10 * (text[i + 2] - '0') + (text[i + 3] - '0');
    }
    return year;
}

}  // namespace

std::string framework_name(const TrainingRow& row, RowReport& report) {
    const MeasuredPlan& p = row.plan;
    const std::string words = p.framework + " " + p.precision + " " + p.optimizer + " " + p.cuda_graph;
    const int year = std::max(year_in(p.framework), year_in(row.header.source_ref));
    const auto holds = [&](const FrameworkRule& r) {
        return (r.family.empty() || r.family == p.framework_family) && mentions(words, r.words) &&
               mentions(p.precision_kind, r.also.kind) && mentions(p.variable_update, r.also.update) && year >= r.also.from;
    };
    const auto* rule = std::ranges::find_if(rules, holds);
    std::string name(rule == std::end(rules) ? nearest_framework(p) : rule->name);
    if (p.framework_family.empty())
        report.assume("framework not stated: " + name);
    else if (rule == std::end(rules))
        report.assume("framework not known, " + p.framework_family + ": " + name);
    return name;
}

void set_habits_of_one_run(const MeasuredPlan& p, Framework& framework) {
    const bool sends_gradients = std::ranges::any_of(p.offload, [](const std::string& word) { return mentions(word, "gradients"); });
    if (sends_gradients) framework.offloaded_gradients = OffloadedGradients::added_on_device;
    if (p.cross_entropy_fusion) framework.fused_cross_entropy = *p.cross_entropy_fusion;
    if (mentions(p.framework, "no gradient-accumulation fusion")) framework.fused_gradient_accumulation = false;
}

}  // namespace sextant
