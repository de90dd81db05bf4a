// Which framework description a published row stands for: one table, read from the top.
#include "model/io/measurement_scenario.hpp"

#include <algorithm>
#include <cctype>

namespace sextant {
namespace {

// All conditions must hold; an empty word always does. `words` stand in the row's framework (or, where it has none, its precision),
// `update` in its variable_update. `from` is the first year that counts, of the source's own words.
struct FrameworkRule {
    std::string_view family, words, update;
    int from;
    std::string_view name;
};
constexpr FrameworkRule rules[] = {
    {"megatron-lm", "TransformerEngine", "", 0, "megatron-core"},
    {"megatron-lm", "2020", "", 0, "megatron-lm-2019"},
    {"megatron-lm", "", "", 0, "megatron-lm-2021"},
    {"megatron-deepspeed", "", "", 0, "megatron-deepspeed"},
    {"megatron-core", "AutoModel", "", 0, "pytorch-fsdp2"},
    {"megatron-core", "Megatron-Bridge", "", 0, "megatron-core"},
    {"megatron-core", "NeMo", "", 0, "nemo"},
    {"megatron-core", "", "", 0, "megatron-core"},
    {"pytorch-fsdp", "llm-foundry", "", 0, "llm-foundry"},
    {"pytorch-fsdp", "FSDP2", "", 0, "pytorch-fsdp2"},
    {"pytorch-fsdp", "", "", 0, "pytorch-fsdp"},
    {"deepspeed", "", "", 0, "deepspeed"},
    {"internevo", "", "", 0, "internevo"},
    {"llm.q", "", "", 0, "llm-q"},
    {"mxnet", "", "", 0, "mxnet"},
    {"", "Torch7", "", 0, "torch7"},
    {"", "Caffe2", "", 0, "caffe2"},
    {"pytorch-ddp", "(2.", "", 0, "pytorch-ddp"},  // NVIDIA's containers print the version of PyTorch
    {"pytorch-ddp", "(1.", "", 0, "pytorch-ddp-1.x"},
    {"pytorch-ddp", "", "", 2023, "pytorch-ddp"},  // PyTorch 2.0 is of March 2023
    {"pytorch-ddp", "", "", 0, "pytorch-ddp-1.x"},
    {"tensorflow", "TensorFlow 2", "", 0, "tensorflow-2-xla"},
    {"tensorflow", "", "parameter", 0, "tf-parameter-server"},
    {"tensorflow", "", "replicated", 0, "tf-mirrored"},
    {"tensorflow", "TensorFlow 1.", "", 0, "tensorflow-1"},
    {"tensorflow", "", "", 0, "horovod-tf1"},  // NVIDIA's TensorFlow examples run under Horovod
    {"", "mxnet", "", 0, "mxnet"},
    {"", "fsdp", "", 0, "pytorch-fsdp"},
};
constexpr std::string_view fallback = "pytorch-ddp";

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

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

bool mentions(std::string_view text, std::string_view word) {
    return std::ranges::search(text, word, [](char a, char b) { return lower(a) == lower(b); }).begin() != text.end() || word.empty();
}

std::string framework_name(const TrainingRow& row, RowReport& report) {
    const MeasuredPlan& p = row.plan;
    const std::string& words = p.framework.empty() ? p.precision : p.framework;
    const int year = std::max(year_in(p.framework), year_in(row.header.source_ref));
    for (const FrameworkRule& r : rules) {
        const bool family = r.family.empty() || r.family == p.framework_family;
        if (!family || !mentions(words, r.words) || !mentions(p.variable_update, r.update) || year < r.from) continue;
        if (p.framework_family.empty()) report.assume("framework " + std::string(r.name) + ", from the words \"" + words + "\"");
        return std::string(r.name);
    }
    report.assume("framework not stated: " + std::string(fallback));
    return std::string(fallback);
}

}  // namespace sextant
