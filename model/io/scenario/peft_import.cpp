#include "model/io/scenario/peft_import.hpp"

#include "model/io/scenario/workload_fields.hpp"

#include <array>

namespace sextant {
namespace {

// What models of Hugging Face call the modules of each product. GPT-2 calls two of them alike.
struct ProductNames {
    bool LowRankAdapters::*product;
    std::array<std::string_view, 10> modules;
};
constexpr ProductNames products[] = {
    {&LowRankAdapters::qkv, {"q_proj", "k_proj", "v_proj", "qkv_proj", "query_key_value", "c_attn", "Wqkv", "query", "key", "value"}},
    {&LowRankAdapters::proj, {"o_proj", "out_proj", "dense", "c_proj"}},
    {&LowRankAdapters::fc1, {"gate_proj", "up_proj", "gate_up_proj", "dense_h_to_4h", "c_fc", "fc1", "w1", "w3"}},
    {&LowRankAdapters::fc2, {"down_proj", "dense_4h_to_h", "fc2", "w2", "c_proj"}}};

// "q_proj", or with the path that leads there: "model.layers.0.self_attn.q_proj".
void add_module(const JsonNode& node, LowRankAdapters& adapters) {
    std::string path;
    if (!read_value(node, path)) return;
    const std::string_view name = std::string_view(path).substr(path.rfind('.') + 1);
    std::vector<std::string_view> names;
    bool known = false;
    for (const ProductNames& p : products)
        for (const std::string_view module : p.modules) {
            if (module.empty()) break;
            names.push_back(module);
            if (name == module) known = adapters.*p.product = true;
        }
    if (!known) complain_about_word(node, path, names);
}

}  // namespace

void import_peft_config(const JsonFile& file, Workload& workload) {
    ObjectReader r(file.root());
    r.ignore_others();
    LowRankAdapters adapters{.rank = 8};  // PEFT's own
    std::string type;
    if (r.required("peft_type", type) && type != "LORA")
        r.get("peft_type").complain("adapters of LoRA alone are modelled, not " + type, "\"LORA\"");
    r.optional("r", adapters.rank, width_bound);
    r.optional("lora_alpha", adapters.alpha, width_bound);
    const JsonNode target = r.need("target_modules", "as in [\"q_proj\", \"v_proj\"], or \"all-linear\"");
    std::string all;
    if (target.is_array()) {
        adapters.qkv = adapters.proj = adapters.fc1 = adapters.fc2 = false;
        r.each("target_modules", [&](const JsonNode& n) { add_module(n, adapters); });
    } else if (target.value && (!read_value(target, all) || all != "all-linear")) {
        target.complain("which modules an expression matches depends on their names, which are not read",
                        "a list of names, or \"all-linear\"");
    }
    auto* spec = std::get_if<TransformerSpec>(&workload.spec);
    if (spec != nullptr) spec->adapters = adapters;
    workload.source += "; adapters as an adapter_config.json of PEFT has them";
}

}  // namespace sextant
