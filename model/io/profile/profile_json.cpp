#include "model/io/profile/profile_writer.hpp"

#include "model/io/format/json_text.hpp"
#include "model/io/profile/fingerprint.hpp"
#include "model/io/profile/profile_json.hpp"
#include "model/io/profile/profile_words.hpp"

namespace sextant {

ProfileJson with_schema(const char* schema, ProfileJson&& body) {
    ProfileJson out = {{"schema", schema}};
    out.update(body);
    return out;
}

ProfileJson json_of(const LinkType& link, ProfileForm form) {
    ProfileObject w(form, {{"name", link.name}, {"category", word_of(link.category, link_category_words)}});
    w.number({"bandwidth", "bandwidth_bytes_per_s"}, link.bandwidth);
    w.number({"achievable", "achievable_fraction"}, link.achievable);
    w.number({"latency", "latency_s"}, link.latency);
    if (!link.ordered) w.put("ordered", false);
    w.number({"eager_limit", "eager_limit_bytes"}, link.eager_limit);
    if (!w.facts()) w.text("notes", link.notes);
    return w.take();
}

ProfileJson json_of(const StorageClass& s, ProfileForm form) {
    ProfileObject w(form, {{"name", s.name}, {"type", word_of(s.kind, storage_kind_words)}, {"shared", s.shared}});
    storage_fields([&](ProfileKey key, auto field, Bounds) { w.number(key, s.*field); });
    if (s.backed_up) w.put("backed_up", *s.backed_up);
    if (s.read_only) w.put("read_only", true);
    w.number({"retention", "retention_s"}, s.retention);
    if (!w.facts()) w.text("notes", s.notes);
    return w.take();
}

ProfileJson json_of(const Device& d, ProfileForm form) {
    ProfileObject w(form, {{"name", d.name}, {"aliases", d.aliases}, {"type", word_of(d.kind, device_kind_words)}});
    w.text("vendor", d.vendor);
    w.text("architecture", d.architecture);
    w.text("compute_capability", d.compute_capability);
    if (w.facts() || d.multiprocessors > 0) w.put("multiprocessors", d.multiprocessors);
    device_fields([&](ProfileKey key, auto field, Bounds bounds) { w.within(bounds, key, d.*field); });
    if (d.fp8_any_layout) w.put("fp8_any_layout", true);
    ProfileJson peaks = ProfileJson::array();
    for (const PeakRate& p : d.peaks) {
        ProfileObject peak(
            form, {{"input", to_text(p.input)}, {"accumulate", to_text(p.accumulate)}, {"unit", word_of(p.unit, compute_unit_words)}});
        peak.number({"rate", "operations_per_s"}, p.rate);
        peak.number({"achievable", "achievable_fraction"}, p.achievable);
        peaks.push_back(peak.take());
    }
    w.put("peaks", std::move(peaks));
    w.text("host_link", d.host_link);
    if (w.facts()) w.put("gemm_curves", d.gemm_curves.size());
    w.text("notes", d.notes);
    return w.take();
}

ProfileJson json_of(const SampleSpeeds& s, ProfileForm form) {
    ProfileObject w(form);
    sample_speed_fields([&](ProfileKey key, auto field, Bounds) { w.number(key, s.*field); });
    ProfileJson formats = ProfileJson::object();
    for (const auto& of_format : s.formats) {
        ProfileObject format(form);
        format_speed_fields([&](ProfileKey key, auto field, Bounds) { format.number(key, of_format.second.*field); });
        formats[of_format.first] = format.take();
    }
    if (!formats.empty()) w.put("formats", std::move(formats));
    return w.take();
}

namespace {

std::string text(const char* schema, ProfileJson&& body) { return json_document(with_schema(schema, std::move(body))); }

template <class Profile>
std::string with_notes(const char* schema, const Profile& profile) {
    ProfileJson out = json_of(profile, ProfileForm::facts);
    out["notes"] = profile.notes;
    return text(schema, std::move(out));
}

}  // namespace

std::string profile_to_json(const Device& d) { return text("device-facts/1", json_of(d, ProfileForm::facts)); }
std::string profile_to_json(const Cluster& c) { return text("cluster-facts/1", json_of(c, ProfileForm::facts)); }
std::string profile_to_json(const LinkType& link) { return with_notes("link-facts/1", link); }
std::string profile_to_json(const StorageClass& storage) { return with_notes("storage-facts/1", storage); }
std::string profile_to_json(const CommunicationLibrary& library) { return text("library-facts/1", json_of(library, ProfileForm::facts)); }

std::string cluster_to_profile(const Cluster& c) {
    ProfileJson out = with_schema("cluster/1", json_of(c, ProfileForm::profile));
    // What was read with a fingerprint keeps it: an edit shows through copies.
    if (c.calibration && c.calibration->fingerprint.empty())
        out["calibration"]["fingerprint"] =
            fingerprint_of(nlohmann::json::parse(out.dump(-1, ' ', false, ProfileJson::error_handler_t::replace)));
    return json_document(out);
}

std::string storage_to_profile(const StorageClass& s) { return text("storage/1", json_of(s, ProfileForm::profile)); }
std::string speeds_to_profile(const SampleSpeeds& s) { return text("sample-speeds/1", json_of(s, ProfileForm::profile)); }

std::string profile_to_json(const ReferenceLatencies& table) {
    ProfileJson out = {{"title", table.title},
                       {"columns", table.columns},
                       {"source", table.source},
                       {"cpu_clock_hz", table.cpu_clock.si()},
                       {"rows", ProfileJson::array()}};
    for (const auto& r : table.rows) {
        ProfileJson row = {{"what", r.what},
                           {"time", r.time},
                           {"instructions", r.instructions},
                           {"low_s", r.low.si()},
                           {"high_s", r.high.si()},
                           {"instructions_low", r.instructions_low},
                           {"instructions_high", r.instructions_high}};
        if (!r.erratum.empty()) row["erratum"] = r.erratum;
        out["rows"].push_back(std::move(row));
    }
    return text("latency-facts/1", std::move(out));
}

}  // namespace sextant
