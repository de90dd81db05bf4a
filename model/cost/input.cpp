#include "model/cost/input.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace sextant {
namespace {

// A copy that follows others in its stream: ml-engineering and gpu-benches (cuda-memcpy) see some 10 us for asynchronous, 30 us for
// synchronous ones. Pageable: bandwidthTest on a DGX A100 reaches 10.0 of 25.7 GB/s.
constexpr Seconds copy_call = 10 * units::us;
constexpr double pageable_part = 10.0 / 25.7;

StorageClass scaled(StorageClass s, const LoaderScale& by) {
    scale_reading(s, by, [](auto& number, double factor) {
        if (number) number->value *= factor;
    });
    return s;
}

// An object comes with one request; there is nothing to open before it.
double opens_of(const SampleAccess& a, const StorageClass& s) { return s.kind == StorageKind::object ? 0 : a.opens; }

// Of one node, before its share of what all nodes have: a local device is the node's own, and what it reads as one stream it reads at most.
std::optional<Bandwidth> node_read(const StorageClass& s) {
    if (s.client_read_bandwidth) return s.client_read_bandwidth->value;
    if (!s.shared && s.kind != StorageKind::memory) return s.read_bandwidth->value;
    return {};
}
std::optional<Bandwidth> node_write(const StorageClass& s) {
    if (s.client_write_bandwidth) return s.client_write_bandwidth->value;
    if (!s.shared) return s.write_bandwidth->value;
    return {};
}

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

// What lies at a place comes as one piece, and who wants more of it has a stream then.
Seconds streaming_time(const SampleAccess& a, const StorageClass& s) {
    const Bytes at_places = a.at_places * min(a.bytes, storage_piece);
    return at_places / s.random_read_bandwidth.value_or(*s.read_bandwidth).value + (a.bytes - at_places) / s.read_bandwidth->value;
}

}  // namespace

std::string_view to_text(LoaderLimit limit) {
    static constexpr std::array<std::string_view, 7> names{"the number of loader workers",
                                                           "the host's cores, which training needs too",
                                                           "operations per second of the storage",
                                                           "opens per second of the storage",
                                                           "what a node reads from the storage",
                                                           "what all nodes together read from the storage",
                                                           "the node's network"};
    return names[static_cast<std::size_t>(limit)];
}

std::string_view short_text(LoaderLimit limit) {
    static constexpr std::array<std::string_view, 7> names{"loader workers",  "cores of the host",  "storage operations", "storage opens",
                                                           "reads of a node", "reads of all nodes", "network to storage"};
    return names[static_cast<std::size_t>(limit)];
}

SampleAccess sample_access(DataFormat format, Shuffle shuffle, Bytes sample, std::optional<std::int64_t> samples_per_file) {
    const FormatFacts& facts = facts_of(format);
    const Bytes bytes = sample + facts.beside;
    if (!facts.packed) return {1, 1, bytes, 1};
    const double files = samples_per_file ? 1 / static_cast<double>(*samples_per_file) : 0;
    // Read-ahead follows whoever reads in order; files stay open for who does not.
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

Seconds sample_work(DataFormat format, SampleEncoding encoding, Transform transform, Bytes stored, std::optional<Bytes> decoded,
                    Bytes input, const SampleThread& thread) {
    const SampleSpeeds& own = thread.measured;
    const Bytes values = decoded.value_or(facts_of(encoding).compression * stored);
    const FormatSpeed of_format = measured(own, format);
    Seconds t = library_time(format, of_format.read, of_format.read_bytes, stored, thread);
    if (const auto decodes = decoding_speed(encoding, thread)) t += values / decodes->value;
    if (transform == Transform::resize) t += values / own.resize.value_or(at(thread, transform_facts().resize)).value;
    if (transform != Transform::none) t += input / own.convert.value_or(at(thread, transform_facts().convert)).value;
    return t;
}

Seconds writing_work(DataFormat format, SampleEncoding encoding, Bytes stored, std::optional<Bytes> decoded, const SampleThread& thread) {
    const EncodingFacts& facts = facts_of(encoding);
    const SampleSpeeds& own = thread.measured;
    const FormatSpeed of_format = measured(own, format);
    const Seconds library = library_time(format, of_format.write, of_format.write_bytes, stored, thread);
    if (!facts.encode) return library;
    const auto& encode = encoding == SampleEncoding::png ? own.encode_png : own.encode_jpeg;
    return library + decoded.value_or(facts.compression * stored) / encode.value_or(at(thread, *facts.encode)).value;
}

Seconds read_time(const SampleAccess& a, const StorageClass& s) {
    return opens_of(a, s) * s.open_latency->value + a.seeks * s.seek_latency->value + streaming_time(a, s);
}

Seconds write_time(const SampleAccess& a, const StorageClass& s) {
    return opens_of(a, s) * s.create_latency->value + a.bytes / s.write_bandwidth->value;
}

std::vector<StorageDemand> storage_demands(const SampleSource& source, Bandwidth network, double others) {
    const StorageClass& s = source.storage;
    const double left = s.shared ? 1 - others : 1, opens = source.share * opens_of(source.access, s);
    const double operations = opens + source.share * source.access.seeks, bytes = (source.share * source.access.bytes).si();
    std::vector<StorageDemand> demands;
    const Seconds opening = opens * s.open_latency->value, seeking = source.share * source.access.seeks * s.seek_latency->value,
                  streaming = source.share * streaming_time(source.access, s);
    const auto add = [&](LoaderLimit limit, bool of_node, double of_sample, double per_second, Seconds alone) {
        if (of_sample > 0) demands.push_back({limit, of_node, of_sample, per_second, alone});
    };
    if (s.random_read_rate) add(LoaderLimit::operations, !s.shared, operations, left * s.random_read_rate->value.si(), opening + seeking);
    if (s.metadata_rate) add(LoaderLimit::metadata, !s.shared, opens, left * s.metadata_rate->value.si(), opening);
    if (const auto node = node_read(s)) add(LoaderLimit::node_bandwidth, true, bytes, node->si(), streaming);
    if (s.total_read_bandwidth) add(LoaderLimit::total_bandwidth, !s.shared, bytes, left * s.total_read_bandwidth->value.si(), streaming);
    if (s.shared && network > Bandwidth{}) add(LoaderLimit::network, true, bytes, network.si(), streaming);
    return demands;
}

// With n of N workers there, min(n, places) / there leave it in a second and (N - n) / (for_sample - there) come: what n is how often
// follows. Shared evenly, the distribution of neither time matters, only its mean (Baskett, Chandy, Muntz and Palacios, "Open, Closed, and
// Mixed Networks of Queues with Different Classes of Customers", Journal of the ACM 22(2), 1975).
Frequency shared_rate(double workers, Seconds for_sample, Seconds there, double places) {
    constexpr double many = 1000;  // then both bounds are met within 3 %
    const Seconds elsewhere = for_sample - there;
    const Frequency least = std::min(workers / for_sample, places / there);
    if (workers <= places || workers > many || !(elsewhere > 1e-9 * there)) return least;
    double weight = 1, all = 1, busy = 0;  // busy: places
    for (double n = 1; n < workers + 1; ++n) {
        weight *= (workers - (n - 1)) * (there / elsewhere) / std::min(n, places);
        all += weight;
        busy += weight * std::min(n, places);
        const double scale = std::max(1.0, weight);  // of hundreds of them the product is beyond any number
        for (double* sum : {&weight, &all, &busy}) *sum /= scale;
    }
    return std::min(least, busy / all / there);
}

LoaderRate loader_rate(const std::vector<SampleSource>& sources, Seconds work, const LoaderNode& node, double nodes, double others,
                       const LoaderScale& by) {
    LoaderRate loader;
    std::vector<StorageDemand> shared;
    for (const SampleSource& source : sources) {
        if (!(source.share > 0)) continue;
        const SampleSource here{scaled(source.storage, by), source.access, source.share, source.keep};
        loader.reading += here.share * (read_time(here.access, here.storage) + here.keep);
        for (const StorageDemand& d : storage_demands(here, node.network, others)) shared.push_back(d);
    }
    loader.work = work / by.cores;
    if (loader.work > Seconds{}) shared.push_back({LoaderLimit::cores, true, loader.work.si(), node.cores, loader.work});
    const Seconds for_sample = loader.reading + loader.work;
    const double workers = node.workers * by.workers;
    Frequency bound = workers / for_sample;
    loader.samples = bound;
    for (const StorageDemand& d : shared) {
        const double sharers = d.of_node ? 1 : nodes;
        const Seconds least = d.of_sample / d.per_second * units::s;  // of all together
        // A worker that could use all that there is by itself takes the longer of the two times.
        const Seconds there = max(d.alone, least);
        loader.samples =
            std::min(loader.samples, shared_rate(sharers * workers, for_sample + (there - d.alone), there, there / least) / sharers);
        if (1 / (sharers * least) >= bound) continue;
        bound = 1 / (sharers * least);
        loader.limit = d.limit;
    }
    loader.unhindered = loader.samples / bound;
    return loader;
}

namespace {

// Of n nodes each reads a random n-th of the samples in every epoch, in random order. A sample that a node reads at the part y of an epoch
// was last read there at the part x of the k-th epoch before, with probability (1/n) (1 - 1/n)^(k-1). What the node has not read in between
// is (1 - (1-x)/n) (1 - 1/n)^(k-1) (1 - y/n) of the dataset, and the sample is still there when that is at least 1 - c, the part that the
// memory cannot hold. a = 1 - (1-x)/n and b = 1 - y/n are uniform on [q, 1], q = 1 - 1/n. For one node c + (1 - c) ln(1 - c).
double lasting_hits(double cached, int nodes, Shuffle shuffle) {
    if (cached >= 1) return 1;
    if (cached <= 0) return 0;
    if (shuffle == Shuffle::none) return cached * nodes >= 1 ? 1 : 0;  // the same n-th in every epoch
    constexpr int many = 64;
    if (nodes > many) return cached;  // the limit: reads that do not depend on each other
    const double n = nodes, q = 1 - 1 / n;
    double hits = 0, reached = 1 / n;
    for (double z = 1 - cached; z < 1; z /= q, reached *= q) {
        double area = 0;  // of { a b >= z } in [q, 1] x [q, 1]
        if (z <= q * q)
            area = (1 - q) * (1 - q);
        else if (z >= q)
            area = 1 - z + z * std::log(z);
        else
            area = (1 - q) * (1 - q) - (z * std::log(z / (q * q)) - z + q * q);
        hits += reached * area * n * n;
        if (nodes == 1) break;
    }
    return std::clamp(hits, 0.0, cached);
}

}  // namespace

// After k epochs a node has read the part 1 - q^k of the samples, q = 1 - 1/n, and has no other in memory: of that a sum over the K epochs
// in which it is less than what lasts, K - q (1 - q^K) / (1 - q), and what lasts in all others.
double page_cache_hits(double cached, int nodes, Shuffle shuffle, std::optional<double> epochs) {
    const double lasting = lasting_hits(cached, nodes, shuffle);
    if (shuffle == Shuffle::none || nodes == 1 || !epochs || *epochs <= 1) return lasting;
    const double later = std::max(1.0, *epochs - 1), q = 1 - 1.0 / nodes;
    const double until_full = lasting < 1 ? std::ceil(std::log(1 - lasting) / std::log(q)) - 1 : later;
    const double filling = std::clamp(until_full, 0.0, std::floor(later));
    const double found = filling - q * (1 - std::pow(q, filling)) / (1 - q);
    return (found + (later - filling) * lasting) / later;
}

// Linux brings what was written to storage after vm.dirty_expire_centisecs, 30 s unless somebody changed them.
StagingTime StagingTime::after(Seconds time) const {
    StagingTime t = *this;
    if (time < 30 * units::s) t.remove = remove_unwritten;
    return t;
}

SampleSource copied_from(const StagingJob& job) {
    return {job.from, sample_access(job.format, Shuffle::none, job.sample, job.samples_per_file), 1, {}};
}

// One process on each node copies file by file: it opens, reads, creates and writes each. All nodes read at the same time.
StagingTime staging_time(const StagingJob& job) {
    const SampleAccess in_files = sample_access(DataFormat::files, Shuffle::none, job.sample, {});
    SampleSource source = copied_from(job);
    const SampleAccess as_stored = source.access;
    const LoaderNode one{1, 1, job.network};
    StagingTime t;
    source.keep = write_time(as_stored, job.to);
    t.copy = job.samples / loader_rate({source}, Seconds{}, one, job.nodes, job.others).samples;
    double files = job.samples * opens_of(as_stored, job.to);
    if (job.mode == StagingMode::untar) files += job.samples;
    t.remove = files * job.to.remove_latency->value;
    t.remove_unwritten = files * job.to.remove_unwritten_latency.value_or(*job.to.remove_latency).value;
    if (job.mode != StagingMode::untar) return t;
    SampleAccess streamed = as_stored;
    streamed.opens = streamed.seeks = streamed.at_places = 0;
    t.unpack = job.samples * (read_time(streamed, job.to) + write_time(in_files, job.to));
    return t;
}

Seconds checkpoint_time(Bytes bytes, const StorageClass& s, double writers, double nodes, Bandwidth network, double left) {
    Bandwidth rate = writers * s.write_bandwidth->value;
    if (const auto node = node_write(s)) rate = min(rate, nodes * *node);
    if (s.shared && network > Bandwidth{}) rate = min(rate, nodes * network);
    if (s.shared && s.total_write_bandwidth) rate = min(rate, left * s.total_write_bandwidth->value);
    const auto& rate_of_files = s.create_rate ? s.create_rate : s.metadata_rate;
    const Seconds creates = s.shared && rate_of_files ? writers / (left * rate_of_files->value) : Seconds{};
    return max(creates, s.create_latency->value) + bytes / rate;
}

// Who reads opens what is there, and is limited by what limits readers.
Seconds checkpoint_read_time(Bytes bytes, const StorageClass& storage, double writers, double nodes, Bandwidth network, double left) {
    StorageClass s = storage;
    s.create_latency = s.open_latency;
    s.create_rate = {};
    s.write_bandwidth = s.read_bandwidth;
    s.client_write_bandwidth = s.client_read_bandwidth;
    s.total_write_bandwidth = s.total_read_bandwidth;
    return checkpoint_time(bytes, s, writers, nodes, network, left);
}

Seconds host_copy_time(Bytes bytes, double copies, const HostCopy& link) {
    return copies * copy_call + bytes / (link.pinned ? link.bandwidth : pageable_part * link.bandwidth);
}

}  // namespace sextant
