// Reads device profiles ("device/1") and the GEMM measurements beside them ("gemm/1").
#include "model/hardware/estimate.hpp"
#include "model/io/profile/profile_fields.hpp"
#include "model/io/profile/profile_reader.hpp"
#include "model/io/profile/profile_words.hpp"

namespace sextant {
namespace {

DataType usual_accumulator(DataType input) {
    switch (input) {
        case DataType::fp64: return DataType::fp64;
        case DataType::int32:
        case DataType::int8:
        case DataType::int4:
        case DataType::int1: return DataType::int32;
        default: return DataType::fp32;
    }
}

bool read_peak(const JsonNode& n, const Provenance& outer, PeakRate& peak) {
    ObjectReader r(n);
    read_default_source(r, outer);
    bool ok = r.required("input", peak.input);
    peak.accumulate = usual_accumulator(peak.input);
    r.optional("accumulate", peak.accumulate);
    ok = r.need("unit", "\"tensor\" (tensor cores, matrix cores, AMX) or \"vector\"").value &&
         r.word("unit", peak.unit, compute_unit_words) && ok;
    ok = r.read(r.need("rate", "as in \"312 TFLOP/s\""), peak.rate, plausible::compute_rate) && ok;
    r.optional("achievable", peak.achievable, plausible::part);
    return ok;
}

void read_peaks(ObjectReader& r, Device& d) {
    const JsonNode list = r.need("peaks", "at least one, as in [{\"input\": \"fp32\", \"unit\": \"vector\", \"rate\": \"19.5 TFLOP/s\"}]");
    r.each("peaks", [&](const JsonNode& n) {
        PeakRate peak;
        if (!read_peak(n, r.default_source(), peak)) return;
        for (const PeakRate& p : d.peaks)
            if (p.input == peak.input && p.accumulate == peak.accumulate && p.unit == peak.unit)
                return n.complain("stated twice: " + std::string(to_text(peak.input)) + " with sums in " +
                                  std::string(to_text(peak.accumulate)) + " on the same unit");
        d.peaks.push_back(std::move(peak));
    });
    if (list.is_array() && list.elements().empty()) list.complain("a device needs at least one peak rate");
}

void read_curve(const JsonNode& n, const std::string& source, std::vector<GemmCurve>& curves) {
    ObjectReader r(n);
    GemmCurve curve;
    curve.source = source;
    bool ok = r.required("type", curve.type);
    ok = r.required("n", curve.n, Bounds{1, 1e7}) && ok;
    ok = r.required("k", curve.k, Bounds{1, 1e7}) && ok;
    const auto rows = r.need("m").elements();
    const auto times = r.need("time_us").elements();
    if (rows.size() != times.size() || rows.empty()) {
        n.complain("m and time_us must be lists of the same length");
        return;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::int64_t m = 0;
        double us = 0;
        if (!read_value(rows[i], m, Bounds{1, 1e9}) || !read_value(times[i], us, Bounds{1e-3, 1e9})) return;
        if (!curve.points.empty() && m <= curve.points.back().m) return rows[i].complain("m must ascend");
        curve.points.push_back({m, us * units::us});
    }
    if (ok) curves.push_back(std::move(curve));
}

void read_curves(const JsonNode& n, std::vector<GemmCurve>& curves) {
    ObjectReader r(n);
    std::string source;
    r.schema("gemm/1");
    r.required("source", source);
    r.each("curves", [&](const JsonNode& c) { read_curve(c, source, curves); });
}

// A list of curves is long: it stands in a file beside the device's.
void read_gemm_file(ObjectReader& r, Device& d) {
    std::string name;
    if (!r.optional("gemm_curves", name)) return;
    const JsonNode n = r.get("gemm_curves");
    const JsonFile file = JsonFile::load(std::filesystem::path(*n.file).parent_path() / name, *n.diagnostics);
    if (file.root().value) read_curves(file.root(), d.gemm_curves);
}

void read_device_fields(ObjectReader& r, Device& d) {
    r.schema("device/1");
    r.required("name", d.name);
    r.optional("aliases", d.aliases);
    r.word("type", d.kind, device_kind_words);
    r.optional("vendor", d.vendor);
    r.optional("architecture", d.architecture);
    r.optional("compute_capability", d.compute_capability);
    r.optional("multiprocessors", d.multiprocessors, Bounds{1, 1e6});
    r.need("memory", "as in \"80 GiB\"");
    r.need("memory_bandwidth", "as in \"3.35 TB/s\"");
    device_fields([&](ProfileKey key, auto field, Bounds bounds) { r.optional(key.profile, d.*field, bounds); });
    r.optional("fp8_any_layout", d.fp8_any_layout);
    read_peaks(r, d);
    r.optional("host_link", d.host_link);
    read_gemm_file(r, d);
    r.optional("notes", d.notes);
    if (d.usable_memory && d.usable_memory->value > d.memory.value * 1.05)
        r.get("usable_memory").complain("more than the memory of the device, " + to_text(d.memory.value));
}

}  // namespace

bool read_device(const JsonNode& n, Device& out) {
    if (!read_whole(n, {}, out, read_device_fields)) return false;
    complete(out);
    return true;
}

}  // namespace sextant
