#include "model/io/scenario/hf_import.hpp"

#include "model/io/scenario/hf_families.hpp"

#include <algorithm>

namespace sextant {

std::vector<std::string_view> hf_model_types() {
    std::vector<std::string_view> types;
    for (const HfFamily& family : hf_families()) types.push_back(family.model_type);
    return types;
}

Workload import_hf_config(const JsonFile& file) {
    Workload workload;
    ObjectReader r(file.root());
    r.ignore_others();
    std::string type;
    if (!r.required("model_type", type)) return workload;
    const std::vector<HfFamily> families = hf_families();
    const auto family = std::ranges::find(families, type, &HfFamily::model_type);
    if (family == families.end()) {
        complain_about_word(r.get("model_type"), type, hf_model_types());
        return workload;
    }
    TransformerSpec spec;
    family->read(r, spec);
    workload.name = type;
    r.optional("_name_or_path", workload.name);
    workload.title = workload.name;
    workload.source = "config.json of Hugging Face, model_type " + type + std::string(family->left_out);
    workload.spec = spec;
    return workload;
}

}  // namespace sextant
