#include "model/io/workload/peft_import.hpp"

#include "model/io/workload/workload_fields.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
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

// "q_proj", of that alone or with the path that leads there: "model.layers.0.self_attn.q_proj".
std::string_view name_in(std::string_view path) { return path.substr(path.rfind('.') + 1); }

void add_module(const JsonNode& node, LowRankAdapters& adapters) {
    std::string path;
    if (!read_value(node, path)) return;
    const std::string_view name = name_in(path);
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

// What trains more, or other, than a pair of matrices of one rank beside every layer's product.
void refuse_what_trains_otherwise(ObjectReader& r) {
    const auto refuse_unless = [&r](const char* key, const auto& is_usual, const char* what) {
        const JsonNode node = r.get(key);
        if (node.value && !node.value->is_null() && !is_usual(*node.value)) node.complain(what, "take it out to predict without it");
    };
    using Json = nlohmann::json;
    const auto empty = [](const Json& v) { return v.empty(); };
    refuse_unless("modules_to_save", empty, "modules that train as a whole beside adapters are not modeled");
    refuse_unless(
        "bias", [](const Json& v) { return v == "none"; }, "biases that train beside adapters are not modeled");
    refuse_unless(
        "use_dora", [](const Json& v) { return v == false; }, "DoRA's magnitudes are not modeled");
    refuse_unless("rank_pattern", empty, "adapters of several ranks are not modeled");
    refuse_unless("layers_to_transform", empty, "adapters of some layers alone are not modeled");
}

// Modules that are parts of one product here have an adapter each in PEFT. Says whether some are left out, or several share one.
std::string parts_of_products(const std::vector<std::string>& named, bool all) {
    const auto count = [&](std::initializer_list<std::string_view> parts) {
        return all ? parts.size() : static_cast<std::size_t>(std::ranges::count_if(named, [&](const std::string& n) {
            return std::ranges::find(parts, name_in(n)) != parts.end();
        }));
    };
    std::string text;
    const std::size_t qkv = count({"q_proj", "k_proj", "v_proj", "query", "key", "value"}),
                      gated = count({"gate_proj", "up_proj", "w1", "w3"});
    if (qkv > 0) text += "; queries, keys and values have one adapter together" + std::string(qkv < 3 ? ", where some have none" : "");
    if (gated > 1) text += "; gate and up have one adapter together";
    return text;
}

}  // namespace

void import_peft_config(const JsonFile& file, Workload& workload) {
    ObjectReader r(file.root());
    r.ignore_others();
    LowRankAdapters adapters{.rank = 8};  // PEFT's own
    std::string type;
    if (r.required("peft_type", type) && type != "LORA")
        r.get("peft_type").complain("adapters of LoRA alone are modeled, not " + type, "\"LORA\"");
    r.optional("r", adapters.rank, width_bound);
    r.optional("lora_alpha", adapters.alpha, width_bound);
    const JsonNode target = r.need("target_modules", "as in [\"q_proj\", \"v_proj\"], or \"all-linear\"");
    refuse_what_trains_otherwise(r);
    std::string all;
    std::vector<std::string> named;
    if (target.is_array()) {
        adapters.qkv = adapters.proj = adapters.fc1 = adapters.fc2 = false;
        r.each("target_modules", [&](const JsonNode& n) {
            add_module(n, adapters);
            if (n.is_string()) named.push_back(n.value->get<std::string>());
        });
    } else if (target.value && (!read_value(target, all) || all != "all-linear")) {
        target.complain("which modules an expression matches depends on their names, which are not read",
                        "a list of names, or \"all-linear\"");
    }
    auto* spec = std::get_if<TransformerSpec>(&workload.spec);
    if (spec != nullptr) spec->adapters = adapters;
    workload.source += "; adapters as an adapter_config.json of PEFT has them" + parts_of_products(named, all == "all-linear");
}

}  // namespace sextant
