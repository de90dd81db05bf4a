#include "model/cost/sample.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

Sourced<Bandwidth> at(const SampleThread& thread, Sourced<Bandwidth> of_speed_1) {
    of_speed_1.value *= thread.speed;
    return of_speed_1;
}

FormatSpeed measured(const SampleSpeeds& own, DataFormat format) {
    const auto found = own.formats.find(to_text(format));
    return found == own.formats.end() ? FormatSpeed{} : found->second;
}

Seconds library_time(DataFormat format, const std::optional<Sourced<Seconds>>& each, const std::optional<Sourced<Bandwidth>>& bytes,
                     Bytes stored, const SampleThread& thread) {
    const FormatFacts& usual = facts_of(format);
    if (bytes) return (each ? each->value : usual.library.value / thread.speed) + stored / bytes->value;
    if (each) return each->value;
    const Seconds sum = usual.checksum ? stored / usual.checksum->value : Seconds{};
    return (usual.library.value + sum) / thread.speed;
}

}  // namespace

// What lies at a place comes as one piece, and who wants more of it has a stream then.
Seconds streaming_time(const SampleAccess& a, const StorageClass& s) {
    const Bytes at_places = a.at_places * min(a.bytes, storage_piece);
    return at_places / s.random_read_bandwidth.value_or(*s.read_bandwidth).value + (a.bytes - at_places) / s.read_bandwidth->value;
}

SampleAccess sample_access(DataFormat format, Shuffle shuffle, Bytes sample, std::optional<std::int64_t> samples_per_file) {
    const FormatFacts& facts = facts_of(format);
    const Bytes bytes = sample + facts.beside;
    if (!facts.packed) return {1, 1, bytes, 1};
    const double files = samples_per_file ? 1 / static_cast<double>(*samples_per_file) : 0;
    // Reads in order are read ahead; for others files stay open.
    if (shuffle == Shuffle::full) return {0, 1, bytes, 1};
    return {files, files, bytes, files};
}

// Linux (mm/readahead.c, get_init_ra_size) reads at a new place the pages that were asked for, rounded up to a power of two, four times
// that where it is no more than a 32nd of the most, twice up to a quarter. So one of `window` samples that lie behind each other finds the
// others where they are still there. A sample that a node reads finds nothing when none of the n = window - 1 before it was fetched; with
// f(t) of all samples fetched by the time that the part t was read, f' = (1 - f)^n where they do not depend on each other.
SampleAccess with_read_ahead(SampleAccess a, const StorageClass& s, double kept) {
    constexpr Bytes page = 4096 * units::B;
    if (!s.read_ahead || a.opens > 0 || a.seeks < 1) return a;
    const Bytes most = s.read_ahead->value, asked = std::exp2(std::ceil(std::log2(std::ceil(a.bytes / page)))) * page;
    const double window = min(most, (asked <= most / 32 ? 4 : asked <= most / 4 ? 2 : 1) * asked) / a.bytes;
    if (window <= 1) return a;
    const double n = window - 1, t = std::clamp(kept, 1e-6, 1.0);
    const double missed = std::abs(n - 1) < 1e-9 ? std::exp(-t) : std::pow(1 + (n - 1) * t, -1 / (n - 1));  // 1 - f
    a.seeks = (1 - missed) / t;
    a.bytes *= (1 - std::pow(1 - t, window)) / t;
    return a;
}

SampleThread thread_of(const HostSpec& host) { return {host.thread_speed.value, host.samples}; }

std::optional<Sourced<Bandwidth>> decoding_speed(SampleEncoding encoding, const SampleThread& thread) {
    const auto& usual = facts_of(encoding).decode;
    if (!usual) return {};
    const auto& own = encoding == SampleEncoding::png ? thread.measured.decode_png : thread.measured.decode_jpeg;
    return own.value_or(at(thread, *usual));
}

Seconds sample_work(const StoredSample& sample, Transform transform, Bytes input, const SampleThread& thread) {
    const SampleSpeeds& own = thread.measured;
    const Bytes values = sample.decoded.value_or(facts_of(sample.encoding).compression * sample.size);
    const FormatSpeed of_format = measured(own, sample.format);
    Seconds t = library_time(sample.format, of_format.read, of_format.read_bytes, sample.size, thread);
    if (const auto decodes = decoding_speed(sample.encoding, thread)) t += values / decodes->value;
    if (transform == Transform::resize) t += values / own.resize.value_or(at(thread, transform_facts().resize)).value;
    if (transform != Transform::none) t += input / own.convert.value_or(at(thread, transform_facts().convert)).value;
    return t;
}

Seconds writing_work(const StoredSample& sample, const SampleThread& thread) {
    const EncodingFacts& facts = facts_of(sample.encoding);
    const SampleSpeeds& own = thread.measured;
    const FormatSpeed of_format = measured(own, sample.format);
    const Seconds library = library_time(sample.format, of_format.write, of_format.write_bytes, sample.size, thread);
    if (!facts.encode) return library;
    const auto& encode = sample.encoding == SampleEncoding::png ? own.encode_png : own.encode_jpeg;
    return library + sample.decoded.value_or(facts.compression * sample.size) / encode.value_or(at(thread, *facts.encode)).value;
}

Seconds read_time(const SampleAccess& a, const StorageClass& s) {
    return opens_of(a, s) * s.open_latency->value + a.seeks * s.seek_latency->value + streaming_time(a, s);
}

Seconds write_time(const SampleAccess& a, const StorageClass& s) {
    return opens_of(a, s) * s.create_latency->value + a.bytes / s.write_bandwidth->value;
}

}  // namespace sextant
