#include "model/io/workload/hf_import.hpp"

#include "model/io/workload/hf_families.hpp"

#include <algorithm>
#include <string>

namespace sextant {
namespace {

// A table of positions stays as long as the config has it.
void choose_length(const JsonFile& file, std::optional<std::int64_t> wanted, HfModel& model, TransformerSpec& spec) {
    if (spec.kind == TransformerKind::vision) {
        if (wanted) file.root().complain("images are sequences as long as their size makes them", "leave out --seq-len");
        return;
    }
    model.positions = spec.seq_len;
    const bool table = has_table(spec.position);
    if (table && wanted && *wanted > model.positions)
        file.root().complain("the model has a table of " + std::to_string(model.positions) + " positions, and sequences are no longer",
                             "--seq-len " + std::to_string(model.positions) + " at most");
    spec.seq_len = wanted.value_or(std::min(model.positions, longest_usual_sequence));
    if (table && spec.max_positions == 0) spec.max_positions = model.positions;
}

// Of a family that no workload describes: what it has, and what comes nearest.
void complain_about_family(const JsonNode& node, const std::string& type) {
    const auto others = other_hf_families();
    const auto known = std::ranges::find(others, type, &OtherHfFamily::model_type);
    if (known == others.end()) return complain_about_word(node, type, hf_model_types());
    node.complain(type + " has " + std::string(known->has) + ", which no workload says",
                  "nearest is model_type \"" + std::string(known->nearest) +
                      "\" with the same sizes; sextant import torch reads the module itself, as torch.export saves it");
}

}  // namespace

std::vector<std::string_view> hf_model_types() {
    std::vector<std::string_view> types;
    for (const HfFamily& family : hf_families()) types.push_back(family.model_type);
    return types;
}

HfModel import_hf_config(const JsonFile& file, std::optional<std::int64_t> seq_len) {
    HfModel model;
    ObjectReader r(file.root());
    r.ignore_others();
    std::string type;
    if (!r.need("model_type", "the config.json of a Hugging Face model has it").value || !r.required("model_type", type)) return model;
    const std::vector<HfFamily> families = hf_families();
    const auto family = std::ranges::find(families, type, &HfFamily::model_type);
    if (family == families.end()) {
        complain_about_family(r.get("model_type"), type);
        return model;
    }
    TransformerSpec spec;
    family->read(r, spec);
    choose_length(file, seq_len, model, spec);
    Workload& workload = model.workload;
    workload.name = type;
    r.optional("_name_or_path", workload.name);
    workload.title = workload.name;
    workload.source = "config.json of Hugging Face, model_type " + type + std::string(family->left_out);
    workload.spec = spec;
    return model;
}

}  // namespace sextant
