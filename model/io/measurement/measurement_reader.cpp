#include "model/io/measurement/measurement_reader.hpp"

#include "model/io/format/json_reader.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <set>
#include <tuple>

namespace sextant {
namespace {

constexpr Bounds large_count{0, 1e15};
constexpr Bounds ranks{1, 1e7};

// The fields of one object. Unlike ObjectReader it passes over keys that nobody asks for.
class Fields {
public:
    explicit Fields(JsonNode node) : node_(std::move(node)) {
        if (node_.value && !node_.is_object()) {
            node_.complain("expected an object");
            node_.value = nullptr;
        }
    }
    explicit operator bool() const { return node_.value; }

    // The child, value null when absent or JSON null.
    [[nodiscard]] JsonNode at(std::string_view key) const {
        JsonNode n = node_.child(key);
        if (n.value && n.value->is_null()) n.value = nullptr;
        return n;
    }
    template <class T, class... Rules>
    void optional(std::string_view key, T& field, const Rules&... rules) const {
        if (const JsonNode n = at(key); n.value) read_value(n, field, rules...);
    }
    template <class T, class... Rules>
    void optional(std::string_view key, std::optional<T>& field, const Rules&... rules) const {
        const JsonNode n = at(key);
        T value{};
        if (n.value && read_value(n, value, rules...)) field = value;
    }
    template <class T, class... Rules>
    void required(std::string_view key, T& field, const Rules&... rules) const {
        if (!node_.value) return;
        const JsonNode n = at(key);
        if (n.value)
            read_value(n, field, rules...);
        else
            node_.complain("\"" + std::string(key) + "\" is missing");
    }
    // A number in SI units, the unit being part of the key.
    template <class Q>
    void quantity(std::string_view key, std::optional<Q>& field, double unit = 1) const {
        std::optional<double> value;
        optional(key, value, positive);
        if (value) field = Q::from_si(*value * unit);
    }

private:
    JsonNode node_;
};

// One word or a list of words.
std::vector<std::string> read_words(const Fields& f, std::string_view key) {
    std::vector<std::string> words;
    const JsonNode n = f.at(key);
    if (n.is_string())
        read_value(n, words.emplace_back());
    else if (n.value)
        read_value(n, words);
    return words;
}

// A reason in words, or true.
bool read_doubt(const Fields& f, std::string_view key) {
    const JsonNode n = f.at(key);
    bool doubt = n.is_string();
    if (n.value && !doubt) read_value(n, doubt);
    return doubt;
}

// A word of the source's, or true for the usual one and false for `none`.
void read_word(const Fields& f, std::string_view key, std::string& word, std::string_view usual, std::string_view none) {
    const JsonNode n = f.at(key);
    if (n.value && n.value->is_boolean())
        word = n.value->get<bool>() ? usual : none;
    else
        f.optional(key, word);
}

// true, or "implementation/scope" where the implementation may be "none".
bool read_cuda_graph(const Fields& f) {
    const JsonNode n = f.at("cuda_graph");
    bool flag = false;
    if (!n.value) return flag;
    if (!n.is_string()) {
        read_value(n, flag);
        return flag;
    }
    std::string text;
    read_value(n, text);
    return !text.starts_with("none");
}

void read_model(const Fields& f, MeasuredModel& m) {
    const std::pair<const char*, std::string*> texts[] = {
        {"name", &m.name}, {"family", &m.family}, {"mlp", &m.mlp}, {"positional", &m.positional}};
    for (const auto& [key, field] : texts) f.optional(key, *field);
    const std::pair<const char*, std::optional<std::int64_t>*> numbers[] = {{"layers", &m.layers},
                                                                            {"hidden", &m.hidden},
                                                                            {"ffn_hidden", &m.ffn_hidden},
                                                                            {"heads", &m.heads},
                                                                            {"kv_heads", &m.kv_heads},
                                                                            {"head_dim", &m.head_dim},
                                                                            {"vocab", &m.vocab},
                                                                            {"seq_len", &m.seq_len},
                                                                            {"image_px", &m.image_px},
                                                                            {"experts", &m.experts},
                                                                            {"topk", &m.topk},
                                                                            {"moe_ffn_hidden", &m.moe_ffn_hidden},
                                                                            {"sliding_window", &m.sliding_window},
                                                                            {"sliding_window_every", &m.sliding_window_every},
                                                                            {"max_predictions", &m.max_predictions}};
    for (const auto& [key, field] : numbers) f.optional(key, *field, count);
    f.optional("shared_expert_ffn_hidden", m.shared_expert_ffn_hidden, large_count);
    f.optional("dense_layers", m.dense_layers, large_count);
    f.optional("mtp_layers", m.mtp_layers, large_count);
    const std::pair<const char*, std::optional<bool>*> flags[] = {
        {"tied_embeddings", &m.tied_embeddings}, {"bias", &m.bias}, {"qkv_bias", &m.qkv_bias}, {"bidirectional", &m.bidirectional}};
    for (const auto& [key, field] : flags) f.optional(key, *field);
    if (const Fields mla{f.at("mla")}) {
        MeasuredModel::LatentAttention& a = m.mla.emplace();
        mla.optional("q_lora_rank", a.q_lora_rank, large_count);
        mla.optional("kv_lora_rank", a.kv_lora_rank, count);
        mla.optional("qk_head_dim", a.qk_head_dim, count);
        mla.optional("qk_rope_dim", a.qk_rope_dim, count);
        mla.optional("v_head_dim", a.v_head_dim, count);
    }
}

void read_hardware(const Fields& f, MeasuredHardware& h) {
    f.optional("gpu", h.gpu);
    f.optional("system", h.system);
    f.optional("cpu", h.cpu);
    f.optional("gpus", h.gpus, ranks);
    f.optional("nodes", h.nodes, ranks);
    f.optional("gpus_per_node", h.gpus_per_node, ranks);
    f.optional("gpus_used_per_node", h.gpus_used_per_node, ranks);
    f.optional("assumed", h.assumed);
    if (const Fields intra{f.at("intra_node")}) {
        intra.optional("kind", h.intra_node.kind);
        intra.optional("as_stated", h.intra_node.as_stated);
        intra.optional("pair_only", h.intra_node.pair_only);
        intra.optional("peer_access", h.intra_node.peer_access);
        intra.optional("domain_gpus", h.intra_node.domain_gpus, ranks);
    }
    if (const Fields inter{f.at("inter_node")}) {
        MeasuredInterNode& n = h.inter_node.emplace();
        inter.optional("fabric", n.fabric);
        inter.optional("nics_per_node", n.nics_per_node, Bounds{1, 1024});
        inter.optional("nic_gbit_per_s", n.nic_gbit_per_s, Bounds{1e-3, 1e6});
    }
}

void read_plan(const Fields& f, MeasuredPlan& p) {
    f.optional("dp", p.dp, ranks);
    const std::pair<const char*, int*> degrees[] = {{"tp", &p.tp}, {"pp", &p.pp}, {"cp", &p.cp}};
    for (const auto& [key, field] : degrees) f.optional(key, *field, ranks);
    f.optional("zero_stage", p.zero_stage, Bounds{0, 3});
    f.optional("vpp", p.vpp, ranks);
    f.optional("ep", p.ep, ranks);
    f.optional("etp", p.etp, ranks);
    f.optional("zero1_shard_size", p.zero1_shard_size, ranks);
    f.optional("micro_batch", p.micro_batch, count);
    f.optional("global_batch", p.global_batch, count);
    f.optional("grad_accum", p.grad_accum, count);
    read_word(f, "fsdp", p.fsdp, "FULL_SHARD", "");
    read_word(f, "recompute", p.recompute, "full", "none");
    const std::pair<const char*, std::string*> texts[] = {{"recompute_detail", &p.recompute_detail},
                                                          {"schedule", &p.schedule},
                                                          {"variable_update", &p.variable_update},
                                                          {"phase", &p.phase},
                                                          {"optimizer", &p.optimizer},
                                                          {"ddp", &p.ddp},
                                                          {"trainable", &p.trainable},
                                                          {"precision", &p.precision},
                                                          {"precision_kind", &p.precision_kind},
                                                          {"framework", &p.framework},
                                                          {"framework_family", &p.framework_family},
                                                          {"release", &p.release},
                                                          {"grad_reduce_dtype", &p.grad_reduce_dtype},
                                                          {"grad_dtype", &p.grad_dtype},
                                                          {"grad_allreduce", &p.grad_allreduce},
                                                          {"fsdp_mixed_precision", &p.fsdp_mixed_precision},
                                                          {"moe_dispatcher", &p.moe_dispatcher}};
    for (const auto& [key, field] : texts) f.optional(key, *field);
    f.optional("recompute_modules", p.recompute_modules);
    p.offload = read_words(f, "offload");
    p.cuda_graph = read_cuda_graph(f);
    f.optional("sequence_parallel", p.sequence_parallel);
    f.optional("embedding_as_pipeline_layer", p.embedding_as_pipeline_layer);
    f.optional("fp8_params", p.fp8_params);
    f.optional("shard_weights", p.shard_weights);
    f.optional("shard_gradients", p.shard_gradients);
    f.optional("lmhead_chunks", p.lmhead_chunks);
    f.optional("activation_cpu_offload", p.activation_cpu_offload);
    f.optional("activation_cpu_offload_layers", p.activation_cpu_offload_layers, large_count);
    f.optional("flash_attention", p.flash_attention);
    f.optional("grad_overlap", p.grad_overlap);
    f.optional("param_gather_overlap", p.param_gather_overlap);
    f.optional("tp_overlap", p.tp_overlap);
    f.optional("p2p_overlap", p.p2p_overlap);
    f.optional("moe_a2a_overlap", p.moe_a2a_overlap);
    std::string memory_format;
    f.optional("memory_format", memory_format);
    if (!memory_format.empty()) p.channels_last = memory_format == "channels_last" || memory_format == "nhwc";
}

// Of all devices, or of one.
void read_throughput(const Fields& measured, TrainingRow& row) {
    for (const auto& [per, devices] : {std::pair("", 1), std::pair("_per_gpu", row.hardware.gpus)}) {
        for (const char* what : {"samples", "images", "sequences"})
            measured.quantity(std::string(what) + "_per_s" + per, row.samples_per_second, devices);
        measured.quantity(std::string("tokens_per_s") + per, row.tokens_per_second, devices);
    }
}

TrainingRow read_training(const Fields& f, RowHeader header) {
    TrainingRow row;
    row.header = std::move(header);
    f.optional("task", row.task);
    if (const Fields model{f.at("model")}) read_model(model, row.model);
    if (const Fields hardware{f.at("hardware")}) read_hardware(hardware, row.hardware);
    if (const Fields plan{f.at("plan")}) read_plan(plan, row.plan);
    if (const Fields data{f.at("data")}) data.optional("input", row.input);
    const Fields measured{f.at("measured")};
    measured.quantity("step_time_s", row.step_time);
    read_throughput(measured, row);
    measured.quantity("memory_bytes", row.memory);
    measured.optional("fits", row.fits);
    return row;
}

CollectiveRow read_collective(const Fields& f, RowHeader header) {
    CollectiveRow row;
    row.header = std::move(header);
    f.required("collective", row.collective);
    f.optional("library", row.library);
    double bytes = 0;
    f.required("message_bytes", bytes, not_negative);
    row.message = bytes * units::B;
    if (const Fields hardware{f.at("hardware")}) {
        read_hardware(hardware, row.hardware);
        hardware.required("ranks", row.ranks, ranks);
        std::string buffers;
        hardware.optional("buffers", buffers);
        row.host_buffers = buffers == "host";
        row.hardware.gpus = row.ranks;
    }
    const Fields measured{f.at("measured")};
    measured.quantity("time_s", row.time);
    measured.quantity("busbw_bytes_per_s", row.bus_bandwidth);
    return row;
}

LoadingRow read_loading(const Fields& f, RowHeader header) {
    LoadingRow row;
    row.header = std::move(header);
    if (const Fields hardware{f.at("hardware")}) {
        hardware.optional("system", row.system);
        hardware.optional("submitter", row.submitter);
        hardware.optional("hosts", row.hosts, ranks);
        hardware.quantity("node_read_bytes_per_s", row.node_bandwidth);
    }
    if (const Fields workload{f.at("workload")}) {
        workload.required("workload", row.workload);
        workload.optional("emulated_accelerator", row.emulated_accelerator);
        workload.required("num_accelerators", row.accelerators, ranks);
        workload.optional("num_files_train", row.files, large_count);
        workload.optional("samples_per_file", row.samples_per_file, large_count);
        double mebibytes = 0;  // MLPerf Storage: 114,660 bytes are 0.10935
        workload.optional("mb_per_sample", mebibytes, not_negative);
        row.sample = mebibytes * units::MiB;
    }
    const Fields measured{f.at("measured")};
    measured.quantity("samples_per_s", row.samples_per_second);
    measured.optional("accelerator_utilization", row.accelerator_utilization, fraction);
    return row;
}

MeasurementRow read_row(const JsonNode& node, Diagnostics& diagnostics) {
    const std::size_t problems_before = diagnostics.list().size();
    const Fields f{node};
    RowHeader header;
    header.file = *node.file;
    header.pointer = node.pointer;
    std::string kind;
    f.required("id", header.id);
    f.required("kind", kind);
    f.optional("source_ref", header.source_ref);
    f.optional("notes", header.notes);
    f.optional("complete", header.complete);
    header.suspect = read_doubt(f, "suspect") || read_doubt(f, "source_check");
    MeasurementRow row = UnreadRow{header, {}};
    if (kind == "training")
        row = read_training(f, header);
    else if (kind == "collective")
        row = read_collective(f, header);
    else if (kind == "loading")
        row = read_loading(f, header);
    else if (const JsonNode n = f.at("kind"); n.is_string())
        complain_about_word(n, kind, {"training", "collective", "loading"});
    std::vector<Diagnostic> problems = diagnostics.take_from(problems_before);
    if (problems.empty()) return row;
    if (header.id.empty()) header.id = header.pointer;  // "/rows/17"
    return UnreadRow{std::move(header), std::move(problems)};
}

// The workloads that a source of loading rows defines, to every row that names one.
void define_workloads(const Fields& source, std::vector<MeasurementRow>& rows) {
    for (const JsonNode& node : source.at("workload_definitions").elements()) {
        const Fields f{node};
        EmulatedTraining training;
        std::string workload, accelerator;
        std::optional<Seconds> computation;
        f.required("workload", workload);
        f.required("accelerator", accelerator);
        f.required("batch_size", training.batch, large_count);
        f.quantity("computation_time_s", computation);
        f.optional("read_threads", training.threads, ranks);
        f.optional("format", training.format);
        double least = 0;
        f.optional("au_threshold", least, fraction);
        if (least > 0) training.least_utilization = least;
        if (!computation) continue;
        training.computation = *computation;
        for (MeasurementRow& row : rows)
            if (auto* loading = std::get_if<LoadingRow>(&row))
                if (loading->workload == workload && loading->emulated_accelerator == accelerator) loading->training = training;
    }
}

// Rows of a system lie in one folder of its submitter.
std::string folder_of(const LoadingRow& row) { return row.system.substr(0, row.system.rfind('/')); }

// Whose folder is called after a number of accelerators ("unet3d_8acc") has run with others too.
bool is_of_series(const LoadingRow& row) {
    const std::string count = "_" + std::to_string(row.accelerators) + "acc";
    return row.system.ends_with(count);
}

// The most of a system, of several that are known; one by itself is the most that a submitter got to, unless others are left out here.
void compare_accelerators(std::vector<MeasurementRow>& rows) {
    const auto key = [](const LoadingRow& r) { return std::tuple(folder_of(r), r.workload, r.emulated_accelerator, r.hosts); };
    std::map<decltype(key(LoadingRow{})), std::set<int>> of_system;
    for (const MeasurementRow& row : rows)
        if (const auto* r = std::get_if<LoadingRow>(&row)) of_system[key(*r)].insert(r->accelerators);
    for (MeasurementRow& row : rows)
        if (auto* r = std::get_if<LoadingRow>(&row)) {
            const std::set<int>& all = of_system[key(*r)];
            r->most_accelerators = r->accelerators == *all.rbegin() && (all.size() > 1 || !is_of_series(*r));
        }
}

MeasurementFile read_file(const JsonFile& json, Diagnostics& diagnostics) {
    MeasurementFile file;
    file.path = json.name();
    if (!json.root().value) return file;
    const Fields root{json.root()};
    if (const Fields source{root.at("source")}) {
        source.optional("title", file.title);
        source.optional("url", file.url);
    }
    const JsonNode rows = root.at("rows");
    if (!rows.is_array()) {
        if (root) json.root().complain("\"rows\" is missing or no list", "a measurement file is {\"source\": {...}, \"rows\": [...]}");
        return file;
    }
    for (const JsonNode& node : rows.elements()) file.rows.push_back(read_row(node, diagnostics));
    define_workloads(Fields{root.at("source")}, file.rows);
    compare_accelerators(file.rows);
    return file;
}

}  // namespace

const RowHeader& header_of(const MeasurementRow& row) {
    return std::visit([](const auto& r) -> const RowHeader& { return r.header; }, row);
}

MeasurementFile load_measurements(const std::filesystem::path& path, Diagnostics& diagnostics) {
    return read_file(JsonFile::load(path, diagnostics), diagnostics);
}

MeasurementFile read_measurements(std::string_view text, std::string name, Diagnostics& diagnostics) {
    return read_file(JsonFile::from_text(text, std::move(name), diagnostics), diagnostics);
}

}  // namespace sextant
