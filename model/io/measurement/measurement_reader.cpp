#include "model/io/measurement/measurement_reader.hpp"

#include "model/base/spelling.hpp"
#include "model/io/measurement/measurement_fields.hpp"

namespace sextant {
namespace {

// As libraries and nccl-tests spell it, too: "AllReduce", "all-gather", "MPI_Bcast", "sendrecv_perf".
std::string collective_named(const std::string& words) {
    constexpr std::pair<std::string_view, std::string_view> names[] = {
        {"allreduce", "all_reduce"}, {"allgather", "all_gather"}, {"reducescatter", "reduce_scatter"},
        {"alltoall", "alltoall"},    {"broadcast", "broadcast"},  {"bcast", "broadcast"},
        {"reduce", "reduce"},        {"sendrecv", "sendrecv"}};
    std::string letters = letters_and_digits(words);
    if (letters.starts_with("mpi")) letters.erase(0, 3);
    if (letters.ends_with("perf")) letters.erase(letters.size() - 4);
    for (const auto& [spelled, name] : names)
        if (letters == spelled) return std::string(name);
    return words;
}

CollectiveRow read_collective(RowFields& f, RowHeader header) {
    CollectiveRow row;
    row.header = std::move(header);
    f.required("collective", row.collective);
    row.collective = collective_named(row.collective);
    f.optional("library", row.library);
    double bytes = 0;
    f.required("message_bytes", bytes, not_negative);
    row.message = bytes * units::B;
    if (RowFields hardware{f.get("hardware")}) {
        hardware.required("ranks", row.ranks, rank_counts);
        row.hardware.gpus = row.ranks;
        read_hardware(hardware, row.hardware);
        std::string buffers;
        hardware.optional("buffers", buffers);
        row.host_buffers = buffers == "host";
        row.hardware.gpus = row.ranks;
    }
    RowFields measured{f.get("measured")};
    measured.optional("time_s", row.time, InSi{positive});
    measured.optional("busbw_bytes_per_s", row.bus_bandwidth, InSi{positive});
    return row;
}

// A reason in words, or true.
bool read_doubt(RowFields& f, std::string_view key) {
    const JsonNode n = f.get(key);
    bool doubt = n.is_string();
    if (n.value && !doubt) read_value(n, doubt);
    return doubt;
}

MeasurementRow read_row(const JsonNode& node, Diagnostics& diagnostics) {
    const std::size_t problems_before = diagnostics.list().size();
    RowFields f{node};
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
    else if (const JsonNode n = f.get("kind"); n.is_string())
        complain_about_word(n, kind, {"training", "collective", "loading"});
    std::vector<Diagnostic> problems = diagnostics.take_from(problems_before);
    if (problems.empty()) return row;
    if (header.id.empty()) header.id = header.pointer;  // "/rows/17"
    return UnreadRow{std::move(header), std::move(problems)};
}

// Whether `memory_bytes` are what an allocator handed out, in words of the source or of a row: "torch.cuda.max_memory_allocated".
void define_memory(RowFields& source, std::vector<MeasurementRow>& rows) {
    std::string memory;
    if (RowFields definitions{source.get("definitions")}) definitions.optional("memory", memory);
    for (MeasurementRow& row : rows)
        if (auto* training = std::get_if<TrainingRow>(&row))
            training->memory_is_allocated = mentions(memory + training->header.notes, "allocated");
}

MeasurementFile read_file(const JsonFile& json, Diagnostics& diagnostics) {
    MeasurementFile file;
    file.path = json.name();
    if (!json.root().value) return file;
    RowFields root{json.root()};
    RowFields source{root.get("source")};
    source.optional("title", file.title);
    const JsonNode rows = root.get("rows");
    if (!rows.is_array()) {
        if (root) json.root().complain("\"rows\" is missing or no list", "a measurement file is {\"source\": {...}, \"rows\": [...]}");
        return file;
    }
    for (const JsonNode& node : rows.elements()) file.rows.push_back(read_row(node, diagnostics));
    define_workloads(source, file.rows);
    define_memory(source, file.rows);
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
