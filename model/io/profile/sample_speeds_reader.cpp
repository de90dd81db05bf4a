// What a thread of a host does with samples: "samples" of a host, or a file of its own ("sample-speeds/1").
#include "model/io/profile/profile_fields.hpp"
#include "model/io/profile/profile_reader.hpp"
#include "model/plan/data_source.hpp"

namespace sextant {
namespace {

void read_formats(const JsonNode& n, const Provenance& outer, SampleSpeeds& speeds) {
    if (!n.value) return;
    ObjectReader formats(n);
    for (const DataFormat format : all_data_formats) {
        const JsonNode of_one = formats.get(to_text(format));
        if (!of_one.value) continue;
        ObjectReader r(of_one);
        read_default_source(r, outer);
        FormatSpeed& speed = speeds.formats[std::string(to_text(format))];
        read_sourced(r, "read", speed.read, plausible::latency);
        read_sourced(r, "read_bytes", speed.read_bytes, plausible::bandwidth);
        read_sourced(r, "write", speed.write, plausible::latency);
        read_sourced(r, "write_bytes", speed.write_bytes, plausible::bandwidth);
    }
}

}  // namespace

bool read_sample_speeds(const JsonNode& n, const Provenance& outer, SampleSpeeds& out) {
    if (!n.value) return false;
    const std::size_t problems = n.diagnostics->list().size();
    SampleSpeeds s;
    {
        ObjectReader r(n);
        read_default_source(r, outer);
        if (r.has("schema")) r.schema("sample-speeds/1");
        read_sourced(r, "decode_jpeg", s.decode_jpeg, plausible::bandwidth);
        read_sourced(r, "decode_png", s.decode_png, plausible::bandwidth);
        read_sourced(r, "encode_jpeg", s.encode_jpeg, plausible::bandwidth);
        read_sourced(r, "encode_png", s.encode_png, plausible::bandwidth);
        read_sourced(r, "resize", s.resize, plausible::bandwidth);
        read_sourced(r, "convert", s.convert, plausible::bandwidth);
        read_formats(r.get("formats"), r.default_source(), s);
    }
    if (n.diagnostics->list().size() != problems) return false;
    out = std::move(s);
    return true;
}

}  // namespace sextant
