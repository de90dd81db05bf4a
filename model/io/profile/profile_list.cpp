#include "model/base/list_text.hpp"
#include "model/io/format/json_text.hpp"
#include "model/io/format/text_table.hpp"
#include "model/io/profile/framework_reader.hpp"
#include "model/io/profile/profile_writer.hpp"
#include "model/workload/workload.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using namespace units;

std::string tera(const Device& d, DataType type, ComputeUnit unit) {
    const PeakRate* p = d.peak(type, unit);
    return p ? number_text(p->rate.value / (TFLOP / s)) : "-";
}

// The rate of products in the type itself, which sum in more bits than they multiply, as training needs.
std::string narrow_tera(const Device& d, DataType type) {
    const MatrixPath path = matrix_path(d, type, false);
    return path.native ? number_text(path.peak->rate.value / (TFLOP / s)) : "-";
}

std::vector<std::string> device_row(const Device& d) {
    const PeakRate* half = matrix_path(d, DataType::fp16, false).peak;
    const PeakRate* wide = matrix_path(d, DataType::bf16, false).peak;
    const PeakRate* training = half->rate.value < wide->rate.value ? wide : half;
    return {d.name,
            number_text(d.memory.value / GiB) + " GiB",
            to_text(d.memory_bandwidth.value),
            tera(d, DataType::fp32, ComputeUnit::vector),
            number_text(training->rate.value / (TFLOP / s)),
            narrow_tera(d, DataType::fp8)};
}

std::vector<std::string> cluster_row(const Cluster& c) {
    const std::string network = c.node.nics ? std::to_string(c.node.nics) + " x " + c.node.nic_link.name : "";
    return {c.name, std::to_string(c.node.devices) + " x " + c.node.device.name, network};
}

std::vector<std::string> row_of(Catalog& catalog, const std::string& kind, const std::string& name) {
    Diagnostics ignored;  // `profiles check` and `profiles show` say what is wrong
    if (kind == "devices")
        if (const Device* d = find_device(catalog, name, ignored)) return device_row(*d);
    if (kind == "clusters")
        if (const Cluster* c = find_cluster(catalog, name, ignored)) return cluster_row(*c);
    if (kind == "links")
        if (const LinkType* l = find_link(catalog, name, ignored))
            return {l->name, to_text(l->bandwidth.value), percent_text(l->achievable.value, 2), to_text(l->latency.value)};
    return {name};
}

std::string parameters_text(double parameters) {
    constexpr double billion = 1e9, million = 1e6;
    return parameters < billion ? number_text(parameters / million) + " million" : number_text(parameters / billion) + " billion";
}

std::string models_text() {
    TextTable table;
    table.row({"", "", "parameters"});
    for (const std::string& name : workload_names()) {
        const Workload model = *find_workload(name);
        table.row({name, model.title, parameters_text(size_of(model).parameters)});
    }
    return table.text();
}

std::string frameworks_text(const std::filesystem::path& root) {
    TextTable table;
    for (const std::string& name : framework_names(root)) {
        Diagnostics ignored;
        table.row({name, load_framework(name, root, ignored).title});
    }
    return table.text();
}

}  // namespace

std::string profile_list_to_text(Catalog& catalog, std::string_view only) {
    std::string out;
    const auto is_wanted = [only](std::string_view kind) { return only.empty() || only == kind; };
    const auto add = [&](const std::string& kind, const std::string& table) { append_to_list(out, kind + "\n" + table, "\n"); };
    for (const NamesOfKind& kind : all_names(catalog)) {
        if (!is_wanted(kind.kind)) continue;
        TextTable table;
        if (kind.kind == "devices") table.row({"", "memory", "bandwidth", "FP32", "16 bit", "FP8 TFLOP/s"});
        if (kind.kind == "clusters") table.row({"", "a node", "its network"});
        if (kind.kind == "links") table.row({"", "bandwidth", "reached", "latency"});
        for (const std::string& name : kind.names) table.row(row_of(catalog, kind.kind, name));
        add(kind.kind, table.text());
    }
    if (is_wanted("frameworks")) add("frameworks", frameworks_text(library_root(catalog)));
    if (is_wanted("models")) add("models", models_text());
    return out;
}

std::string profile_list_to_json(Catalog& catalog, std::string_view only) {
    nlohmann::ordered_json out = {{"schema", "profile-list/1"}};
    const auto add = [&](const std::string& kind, const std::vector<std::string>& names) {
        if (only.empty() || only == kind) out[kind] = names;
    };
    for (const NamesOfKind& kind : all_names(catalog)) add(kind.kind, kind.names);
    add("frameworks", framework_names(library_root(catalog)));
    add("models", workload_names());
    return json_document(out);
}

}  // namespace sextant
