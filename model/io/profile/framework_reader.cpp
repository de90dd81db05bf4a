#include "model/io/profile/framework_reader.hpp"

#include "model/base/spelling.hpp"
#include "model/hardware/catalog.hpp"
#include "model/io/format/text_file.hpp"

#include <algorithm>

namespace sextant {
namespace {

// What a value can be at most without being a slip of the pen. Seconds and bytes in SI.
constexpr Bounds dispatch_bounds{0, 1e-3};
constexpr Bounds overhead_bounds{0, 10};
constexpr Bounds cycle_bounds{0, 1};
constexpr Bounds buffer_bounds{0, 1e12};
constexpr Bounds in_flight_bounds{0, 1e9};
constexpr Bounds kernels_bounds{0, 100};
constexpr Bounds passes_bounds{0, 20};
constexpr Bounds prefetch_bounds{0, 1000};
constexpr Bounds slowdown_bounds{1, 2};
constexpr Bounds vocabulary_bounds{1, 65536};
constexpr Bounds convolution_bounds{0.01, 1.34};  // 1: as the libraries of 2017 whose medians set the scale; 1.33: as matrix products
constexpr Bounds efficiency_bounds{0.01, 1};      // divides a time, so that zero is no answer

constexpr Word<Fusion> fusion_words[] = {{"none", Fusion::none}, {"pointwise", Fusion::pointwise}, {"compiler", Fusion::compiler}};
constexpr Word<ClampedGate> clamped_gate_words[] = {
    {"by_function", ClampedGate::by_function}, {"limits_apart", ClampedGate::limits_apart}, {"whole", ClampedGate::whole}};
constexpr Word<CastToTf32> cast_words[] = {
    {"none", CastToTf32::none}, {"convolutions", CastToTf32::convolutions}, {"all", CastToTf32::all}};
constexpr Word<OffloadedGradients> offloaded_gradients_words[] = {{"with_update", OffloadedGradients::with_update},
                                                                  {"copied", OffloadedGradients::copied},
                                                                  {"added_on_device", OffloadedGradients::added_on_device},
                                                                  {"added_on_host", OffloadedGradients::added_on_host}};

constexpr Word<NarrowWeights> narrow_weights_words[] = {
    {"passing", NarrowWeights::passing}, {"beside", NarrowWeights::beside}, {"in_primary", NarrowWeights::in_primary}};

void check_source(const JsonNode&, const auto&) {}
template <class T>
void check_source(const JsonNode& n, const Sourced<T>& field) {
    if (field.source.empty()) n.complain("has no source", R"(as in {"value": ..., "kind": "published", "source": "where it is stated"})");
}
template <class T>
void check_source(const JsonNode& n, const std::optional<Sourced<T>>& field) {
    check_source(n, *field);
}

// A file states every field; what is laid over a framework states those that differ.
enum class Fields { all, changed };

struct FrameworkFields {
    ObjectReader& reader;
    Fields fields;

    [[nodiscard]] JsonNode stated(std::string_view key) const { return fields == Fields::all ? reader.need(key) : reader.get(key); }
    template <class T, class... Rules>
    void read(std::string_view key, T& field, const Rules&... rules) const {
        read(stated(key), field, rules...);
    }
    template <class T, class... Rules>
    void optional(std::string_view key, T& field, const Rules&... rules) const {
        read(reader.get(key), field, rules...);
    }
    template <class T, class... Rules>
    void read(const JsonNode& n, T& field, const Rules&... rules) const {
        if (reader.read(n, field, rules...)) check_source(n, field);
    }
};

constexpr Word<PlanFeature> feature_words[] = {{"several_nodes", PlanFeature::several_nodes},
                                               {"tp", PlanFeature::tensor},
                                               {"sequence_parallel", PlanFeature::sequence},
                                               {"cp", PlanFeature::context},
                                               {"ep", PlanFeature::experts},
                                               {"pp", PlanFeature::pipeline},
                                               {"gpipe", PlanFeature::gpipe},
                                               {"interleaved", PlanFeature::interleaved},
                                               {"zero_bubble", PlanFeature::zero_bubble},
                                               {"dual_pipe", PlanFeature::dual_pipe},
                                               {"zero1", PlanFeature::zero1},
                                               {"zero2", PlanFeature::zero2},
                                               {"zero3", PlanFeature::zero3},
                                               {"shard_group", PlanFeature::shard_groups},
                                               {"sharded_pipeline", PlanFeature::sharded_pipeline},
                                               {"selective_recompute", PlanFeature::selective_recompute},
                                               {"offload", PlanFeature::offload},
                                               {"optimizer_offload", PlanFeature::optimizer_offload},
                                               {"parameter_offload", PlanFeature::parameter_offload},
                                               {"unsharded_offload", PlanFeature::unsharded_offload}};

void read_identity(ObjectReader& r, Framework& f) {
    r.required("name", f.name);
    r.required("title", f.title);
    r.optional("aliases", f.aliases);
    r.optional("strategy_note", f.strategy_note);
    r.optional("notes", f.notes);
    r.optional("source", f.source);
    Provenance p{SourceKind::estimated, f.source};
    r.word("kind", p.kind, source_kind_words);
    r.default_source(std::move(p));
}

void read_host(const FrameworkFields& r, Framework& f) {
    r.read("dispatch", f.dispatch, dispatch_bounds);
    r.read("backward_dispatch", f.backward_dispatch, dispatch_bounds);
    r.optional("checkpoint_overhead", f.checkpoint_overhead, overhead_bounds);
    r.read("step_overhead", f.step_overhead, overhead_bounds);
    r.read("micro_batch_overhead", f.micro_batch_overhead, overhead_bounds);
    r.optional("launch_blocking", f.launch_blocking);
    r.read("dispatch_in_graph", f.dispatch_in_graph);
    r.read("native_build", f.native_build, efficiency_bounds);
}

void read_kernels(const FrameworkFields& r, Framework& f) {
    if (r.stated("fusion").value) r.reader.word("fusion", f.fusion, fusion_words);
    r.reader.word("fusion_fp32", f.fusion_fp32, fusion_words);
    r.optional("streaming_efficiency", f.streaming_efficiency, efficiency_bounds);
    r.optional("bytes_in_flight", f.bytes_in_flight, in_flight_bounds);
    r.read("fused_softmax", f.fused_softmax);
    r.read("fused_optimizer", f.fused_optimizer);
    r.read("optimizer_kernels_per_tensor", f.optimizer_kernels_per_tensor, kernels_bounds);
    r.read("fused_gradient_accumulation", f.fused_gradient_accumulation);
    r.optional("keeps_gradient_placeholders", f.keeps_gradient_placeholders);
    r.reader.word("clamped_gate", f.clamped_gate, clamped_gate_words);
    r.optional("composes_functions", f.composes_functions);
    r.optional("fuses_expert_gate", f.fuses_expert_gate);
    r.optional("accumulates_from_first", f.accumulates_from_first);
    r.optional("makes_data_gradients", f.makes_data_gradients);
    r.read("fused_cross_entropy", f.fused_cross_entropy);
    r.optional("fused_loss_passes", f.fused_loss_passes, Bounds{3, 20});
    r.optional("recomputes_what_is_read", f.recomputes_what_is_read);
    r.optional("head_chunks", f.head_chunks);
    r.optional("counts_gradients_of_activations", f.counts_gradients_of_activations);
    r.read("channels_last", f.channels_last);
    r.optional("finds_largest_again", f.finds_largest_again);
    r.optional("rearranges_filters", f.rearranges_filters);
    r.optional("products_of_pixels", f.products_of_pixels);
    r.optional("frozen_batch_norm_passes", f.frozen_batch_norm_passes, passes_bounds);
    r.optional("frozen_batch_norm_kernels", f.frozen_batch_norm_kernels, Bounds{1, 100});
    r.optional("tensor_units", f.tensor_units);
    r.optional("vector_filter_gradients", f.vector_filter_gradients);
    r.reader.word("casts_to_tf32", f.casts_to_tf32, cast_words);
    r.optional("plain_kernels", f.plain_kernels);
    r.optional("widens_16_bits", f.widens_16_bits);
    r.read("casts_each_use", f.casts_each_use);
    r.read("attention_efficiency", f.attention_efficiency, efficiency_bounds);
    r.optional("attention_for_ampere", f.attention_for_ampere);
    r.read("convolution_efficiency", f.convolution_efficiency, convolution_bounds);
}

void read_data_parallelism(const FrameworkFields& r, Framework& f) {
    r.read("overlaps_gradients", f.overlaps_gradients);
    r.optional("bucket", f.bucket, buffer_bounds);
    r.optional("bucket_per_rank", f.bucket_per_rank, buffer_bounds);
    r.optional("reduction_cycle", f.reduction_cycle, cycle_bounds);
    r.read("reduces_every_micro_batch", f.reduces_every_micro_batch);
    r.read("gradients_in_fp32", f.gradients_in_fp32);
    r.optional("reduces_whole_gradients", f.reduces_whole_gradients);
    r.optional("broadcasts_parameters", f.broadcasts_parameters);
    r.optional("keeps_both_gradients", f.keeps_both_gradients);
    r.optional("copies_gradients_to_buckets", f.copies_gradients_to_buckets);
    r.optional("flattens_gradients_to_update", f.flattens_gradients_to_update);
    r.optional("sums_gradients_apart", f.sums_gradients_apart);
    r.optional("bucket_passes", f.bucket_passes, passes_bounds);
    r.read("overlaps_parameter_gather", f.overlaps_parameter_gather);
    r.read("prefetch_blocks", f.prefetch_blocks, prefetch_bounds);
    r.read("reshards_after_forward", f.reshards_after_forward);
    r.optional("shards_are_masters", f.shards_are_masters);
    r.optional("list_of_pieces", f.list_of_pieces, overhead_bounds);
    r.read("overlap_slowdown", f.overlap_slowdown, slowdown_bounds);
    r.reader.word("offloaded_gradients", f.offloaded_gradients, offloaded_gradients_words);
    r.optional("sums_on_host", f.sums_on_host);
    r.read("clips_gradients", f.clips_gradients);
    r.optional("waits_for_norm", f.waits_for_norm);
    if (f.bucket_per_rank && !f.bucket)
        r.reader.get("bucket_per_rank").complain("a size per rank without \"bucket\"", "state the smallest bucket as well");
}

void read_model_parallelism(const FrameworkFields& r, Framework& f) {
    if (r.reader.has("lacks")) f.lacks.clear();
    r.reader.words("lacks", f.lacks, feature_words);
    r.optional("vocabulary_multiple", f.vocabulary_multiple, vocabulary_bounds);
    r.read("overlaps_tensor", f.overlaps_tensor);
    r.read("tensor_overlap_fraction", f.tensor_overlap_fraction, fraction);
    r.optional("overlaps_experts", f.overlaps_experts);
    r.optional("expert_overlap_fraction", f.expert_overlap_fraction, fraction);
    r.optional("deduplicates_tokens", f.deduplicates_tokens);
    r.read("overlaps_pipeline", f.overlaps_pipeline);
    r.optional("waits_for_transfers", f.waits_for_transfers);
    r.read("scatters_pipeline", f.scatters_pipeline);
}

void read_communication_and_memory(const FrameworkFields& r, Framework& f) {
    static constexpr Word<RankStarter> starters[] = {{"torchrun", RankStarter::torchrun},
                                                     {"horovodrun", RankStarter::horovodrun},
                                                     {"tf_distribute", RankStarter::tf_distribute},
                                                     {"own", RankStarter::own}};
    r.reader.word("starter", f.starter, starters);
    static constexpr Word<TrainingProgram> programs[] = {
        {"yours", TrainingProgram::yours}, {"megatron", TrainingProgram::megatron}, {"deepspeed", TrainingProgram::deepspeed}};
    r.reader.word("program", f.program, programs);
    r.read("library", f.library);
    r.optional("socket_library", f.socket_library);
    r.read("context", f.context, buffer_bounds);
    r.read("communication_buffers", f.communication_buffers, buffer_bounds);
    r.reader.word("narrow_weights", f.narrow_weights, narrow_weights_words);
    r.read("fragmentation", f.fragmentation, fraction);
}

void read_fields(const FrameworkFields& r, Framework& f) {
    read_host(r, f);
    read_kernels(r, f);
    read_data_parallelism(r, f);
    read_model_parallelism(r, f);
    read_communication_and_memory(r, f);
}

std::filesystem::path folder_of(const std::filesystem::path& data_root) { return data_root / "frameworks"; }

std::filesystem::path file_of(const std::filesystem::path& data_root, std::string_view name) {
    return folder_of(data_root) / (std::string(name) + ".json");
}

// The bundled framework that is called so, or lists such an alias, whatever its capitals and hyphens; empty when none does. A broken file
// among the others is not this caller's concern.
std::string name_like(std::string_view wanted, const std::filesystem::path& data_root, const std::vector<std::string>& names) {
    const std::string key = key_of(wanted);
    for (const std::string& name : names) {
        if (key_of(name) == key) return name;
        Diagnostics ignored;
        const JsonFile file = JsonFile::load(file_of(data_root, name), ignored);
        for (const JsonNode& n : file.root().child("aliases").elements()) {
            std::string text;
            if (n.is_string() && read_value(n, text) && key_of(text) == key) return name;
        }
    }
    return {};
}

Framework load_file(const std::filesystem::path& path, Diagnostics& diagnostics) {
    const JsonFile file = JsonFile::load(path, diagnostics);
    return file.root().value ? read_framework(file.root()) : Framework{};
}

Framework load_named(const std::string& wanted, const JsonNode& place, const std::filesystem::path& data_root) {
    if (wanted.ends_with(".json")) return load_file(file_beside(*place.file, wanted), *place.diagnostics);
    const std::vector<std::string> names = framework_names(data_root);
    if (std::ranges::binary_search(names, wanted)) return load_file(file_of(data_root, wanted), *place.diagnostics);
    if (const std::string name = name_like(wanted, data_root, names); !name.empty())
        return load_file(file_of(data_root, name), *place.diagnostics);
    complain_unknown(place, wanted, hint_for_profile(nearest_names(wanted, {names.begin(), names.end()}, 3)));
    return {};
}

}  // namespace

Framework read_framework(const JsonNode& node) {
    Framework f;
    ObjectReader r(node);
    if (!r) return f;
    r.schema("framework/1");
    read_identity(r, f);
    read_fields({r, Fields::all}, f);
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

Framework load_framework(const JsonNode& node, const std::filesystem::path& data_root) {
    std::string wanted;
    if (!node.is_object()) return node.value && read_value(node, wanted) ? load_named(wanted, node, data_root) : Framework{};
    ObjectReader r(node);
    r.default_source({SourceKind::published, "the scenario"});
    Framework f;
    if (r.required("base", wanted)) f = load_named(wanted, r.get("base"), data_root);
    r.optional("title", f.title);
    read_fields({r, Fields::changed}, f);
    return f;
}

Framework load_framework(std::string_view name_or_path, const std::filesystem::path& data_root, Diagnostics& diagnostics) {
    if (name_or_path.ends_with(".json")) return load_file(std::string(name_or_path), diagnostics);
    const std::string folder = folder_of(data_root).string();
    return load_named(std::string(name_or_path), JsonNode{nullptr, &folder, "", &diagnostics}, data_root);
}

}  // namespace sextant
