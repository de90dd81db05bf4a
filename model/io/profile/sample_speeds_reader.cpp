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
        format_speed_fields([&](ProfileKey key, auto field, Bounds bounds) { r.optional(key.profile, speed.*field, bounds); });
    }
}

void read_speed_fields(ObjectReader& r, SampleSpeeds& s) {
    if (r.has("schema")) r.schema("sample-speeds/1");
    sample_speed_fields([&](ProfileKey key, auto field, Bounds bounds) { r.optional(key.profile, s.*field, bounds); });
    read_formats(r.get("formats"), r.default_source(), s);
}

}  // namespace

bool read_sample_speeds(const JsonNode& n, const Provenance& outer, SampleSpeeds& out) {
    return read_whole(n, outer, out, read_speed_fields);
}

}  // namespace sextant
