#include "backend/storage/bench.hpp"
#include "model/base/quantity_text.hpp"
#include "model/io/format/json_text.hpp"
#include "model/io/format/text_table.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

constexpr std::string_view schema = "data_bench/1";

std::string rate_text(double per_second) { return number_text(per_second, 3); }

std::string spread_text(const BenchRow& row) { return to_text(row.times.front()) + " to " + to_text(row.times.back()); }

}  // namespace

std::string bench_to_text(const BenchResult& r) {
    std::string text = r.path + ": " + std::to_string(r.samples) + " samples of " + r.extents + ", " + r.encoding + ", " + r.format + ", " +
                       to_text(r.bytes) + "\n\n";
    TextTable table("  ", Align::right);
    table.row({"", "workers", "median", "samples/s", "MB/s", "calls/s", "from disk", "  from, to"});
    for (const BenchRow& row : r.rows) {
        const double seconds = row.median() / units::s;
        const bool moves = row.bytes.si() > 0, reads = row.what != "write" && row.what != "write to the disk";
        table.row({(reads ? row.cold ? "cold: " : "warm: " : "") + row.what, std::to_string(row.workers), to_text(row.median()),
                   rate_text(static_cast<double>(row.samples) / seconds), moves ? rate_text(row.bytes / units::MB / seconds) : "",
                   reads ? rate_text(row.read_calls / seconds) : "", reads ? to_text(row.from_disk) : "", "  " + spread_text(row)});
    }
    text += table.text();
    for (const std::string& note : r.notes) text += "\n" + note;
    return r.notes.empty() ? text : text + "\n";
}

std::string bench_to_json(const BenchResult& r) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const BenchRow& row : r.rows) {
        const double seconds = row.median() / units::s;
        nlohmann::ordered_json times = nlohmann::ordered_json::array();
        for (const Seconds t : row.times) times.push_back(t.si());
        rows.push_back({{"what", row.what},
                        {"workers", row.workers},
                        {"cold", row.cold},
                        {"samples", row.samples},
                        {"bytes", row.bytes.si()},
                        {"median_s", seconds},
                        {"times_s", times},
                        {"samples_per_s", static_cast<double>(row.samples) / seconds},
                        {"bytes_per_s", row.bytes.si() / seconds},
                        {"read_calls_per_s", row.read_calls / seconds},
                        {"from_disk_bytes", row.from_disk.si()}});
    }
    const nlohmann::ordered_json document = {{"schema", schema},       {"path", r.path},       {"format", r.format},
                                             {"encoding", r.encoding}, {"extents", r.extents}, {"samples", r.samples},
                                             {"bytes", r.bytes.si()},  {"rows", rows},         {"notes", r.notes}};
    return json_document(document);
}

}  // namespace sextant
