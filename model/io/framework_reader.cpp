#include "model/io/framework_reader.hpp"

#include <algorithm>

namespace sextant {
namespace {

// What a value can be at most without being a slip of the pen. Seconds and bytes in SI.
constexpr Bounds dispatch_bounds{0, 1e-3};
constexpr Bounds overhead_bounds{0, 10};
constexpr Bounds cycle_bounds{0, 1};
constexpr Bounds buffer_bounds{0, 1e12};
constexpr Bounds kernels_bounds{0, 100};
constexpr Bounds prefetch_bounds{0, 1000};
constexpr Bounds slowdown_bounds{1, 2};
constexpr Bounds efficiency_bounds{0.01, 1};  // divides a time, so that zero is no answer

constexpr Word<Fusion> fusion_words[] = {{"none", Fusion::none}, {"pointwise", Fusion::pointwise}, {"compiler", Fusion::compiler}};

template <class T>
bool read_sourced(const JsonNode& n, const Provenance& inherited, Sourced<T>& field, Bounds bounds) {
    Provenance p = inherited;
    const JsonNode value = read_provenance(n, p);
    if (!value.value || !read_value(value, field.value, bounds)) return false;
    if (p.source.empty()) n.complain("has no source", R"(as in {"value": ..., "kind": "published", "source": "where it is stated"})");
    field.kind = p.kind;
    field.source = std::move(p.source);
    return true;
}

template <class T>
void required(ObjectReader& r, std::string_view key, Sourced<T>& field, Bounds bounds) {
    if (const JsonNode n = r.need(key); n.value) read_sourced(n, r.default_source(), field, bounds);
}

template <class T>
void optional(ObjectReader& r, std::string_view key, std::optional<Sourced<T>>& field, Bounds bounds) {
    const JsonNode n = r.get(key);
    Sourced<T> value;
    if (n.value && read_sourced(n, r.default_source(), value, bounds)) field = std::move(value);
}

void read_identity(ObjectReader& r, Framework& f) {
    r.required("name", f.name);
    r.required("title", f.title);
    r.optional("aliases", f.aliases);
    r.optional("strategy_note", f.strategy_note);
    r.optional("notes", f.notes);
    r.optional("source", f.source);
    Provenance p{SourceKind::estimated, f.source};
    static constexpr Word<SourceKind> kinds[] = {{"datasheet", SourceKind::datasheet},
                                                 {"measured", SourceKind::measured},
                                                 {"published", SourceKind::published},
                                                 {"estimated", SourceKind::estimated}};
    r.word("kind", p.kind, kinds);
    r.default_source(std::move(p));
}

void read_host(ObjectReader& r, Framework& f) {
    required(r, "dispatch", f.dispatch, dispatch_bounds);
    required(r, "backward_dispatch", f.backward_dispatch, dispatch_bounds);
    required(r, "step_overhead", f.step_overhead, overhead_bounds);
    required(r, "micro_batch_overhead", f.micro_batch_overhead, overhead_bounds);
    r.required("dispatch_in_graph", f.dispatch_in_graph);
    required(r, "native_build", f.native_build, efficiency_bounds);
}

void read_kernels(ObjectReader& r, Framework& f) {
    if (r.need("fusion").value) r.word("fusion", f.fusion, fusion_words);
    r.required("fused_softmax", f.fused_softmax);
    r.required("fused_optimizer", f.fused_optimizer);
    required(r, "optimizer_kernels_per_tensor", f.optimizer_kernels_per_tensor, kernels_bounds);
    r.required("fused_gradient_accumulation", f.fused_gradient_accumulation);
    r.required("fused_cross_entropy", f.fused_cross_entropy);
    r.required("channels_last", f.channels_last);
    r.required("casts_each_use", f.casts_each_use);
    required(r, "attention_efficiency", f.attention_efficiency, efficiency_bounds);
    required(r, "convolution_efficiency", f.convolution_efficiency, efficiency_bounds);
}

void read_data_parallelism(ObjectReader& r, Framework& f) {
    r.required("overlaps_gradients", f.overlaps_gradients);
    optional(r, "bucket", f.bucket, buffer_bounds);
    optional(r, "bucket_per_rank", f.bucket_per_rank, buffer_bounds);
    optional(r, "reduction_cycle", f.reduction_cycle, cycle_bounds);
    r.required("reduces_every_micro_batch", f.reduces_every_micro_batch);
    r.required("gradients_in_fp32", f.gradients_in_fp32);
    r.required("overlaps_parameter_gather", f.overlaps_parameter_gather);
    r.required("prefetch_blocks", f.prefetch_blocks, prefetch_bounds);
    r.required("reshards_after_forward", f.reshards_after_forward);
    required(r, "overlap_slowdown", f.overlap_slowdown, slowdown_bounds);
    r.required("clips_gradients", f.clips_gradients);
    if (f.bucket_per_rank && !f.bucket)
        r.get("bucket_per_rank").complain("a size per rank without \"bucket\"", "state the smallest bucket as well");
}

void read_model_parallelism(ObjectReader& r, Framework& f) {
    r.required("overlaps_tensor", f.overlaps_tensor);
    required(r, "tensor_overlap_fraction", f.tensor_overlap_fraction, fraction);
    r.required("overlaps_pipeline", f.overlaps_pipeline);
    r.required("scatters_pipeline", f.scatters_pipeline);
}

void read_communication_and_memory(ObjectReader& r, Framework& f) {
    r.required("library", f.library);
    r.optional("socket_library", f.socket_library);
    required(r, "context", f.context, buffer_bounds);
    required(r, "communication_buffers", f.communication_buffers, buffer_bounds);
    required(r, "fragmentation", f.fragmentation, fraction);
}

std::filesystem::path folder_of(const std::filesystem::path& data_root) { return data_root / "frameworks"; }

std::filesystem::path file_of(const std::filesystem::path& data_root, std::string_view name) {
    return folder_of(data_root) / (std::string(name) + ".json");
}

// The name of the bundled framework that lists this alias; empty when none does. A broken file among the others is not this caller's
// concern.
std::string name_of_alias(std::string_view alias, const std::filesystem::path& data_root, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        Diagnostics ignored;
        const JsonFile file = JsonFile::load(file_of(data_root, name), ignored);
        for (const JsonNode& n : file.root().child("aliases").elements()) {
            std::string text;
            if (n.is_string() && read_value(n, text) && text == alias) return name;
        }
    }
    return {};
}

Framework load_file(const std::filesystem::path& path, Diagnostics& diagnostics) {
    const JsonFile file = JsonFile::load(path, diagnostics);
    return file.root().value ? read_framework(file.root()) : Framework{};
}

Framework load(const std::string& wanted, const JsonNode& place, const std::filesystem::path& data_root) {
    if (wanted.ends_with(".json")) return load_file(wanted, *place.diagnostics);
    const std::vector<std::string> names = framework_names(data_root);
    if (std::ranges::binary_search(names, wanted)) return load_file(file_of(data_root, wanted), *place.diagnostics);
    if (const std::string name = name_of_alias(wanted, data_root, names); !name.empty())
        return load_file(file_of(data_root, name), *place.diagnostics);
    complain_about_word(place, wanted, {names.begin(), names.end()});
    return {};
}

}  // namespace

Framework read_framework(const JsonNode& node) {
    Framework f;
    ObjectReader r(node);
    if (!r.node().value) return f;
    r.schema("framework/1");
    read_identity(r, f);
    read_host(r, f);
    read_kernels(r, f);
    read_data_parallelism(r, f);
    read_model_parallelism(r, f);
    read_communication_and_memory(r, f);
    return f;
}

std::vector<std::string> framework_names(const std::filesystem::path& data_root) {
    std::vector<std::string> names;
    std::error_code error;  // no folder: no names, and the caller says which name it missed
    for (std::filesystem::directory_iterator it(folder_of(data_root), error), end; !error && it != end; it.increment(error))
        if (it->path().extension() == ".json") names.push_back(it->path().stem().string());
    std::ranges::sort(names);
    return names;
}

Framework load_framework(const JsonNode& name, const std::filesystem::path& data_root) {
    std::string wanted;
    return name.value && read_value(name, wanted) ? load(wanted, name, data_root) : Framework{};
}

Framework load_framework(std::string_view name_or_path, const std::filesystem::path& data_root, Diagnostics& diagnostics) {
    const std::string folder = folder_of(data_root).string();
    return load(std::string(name_or_path), JsonNode{nullptr, &folder, "", &diagnostics}, data_root);
}

}  // namespace sextant
