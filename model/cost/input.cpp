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

// What one node can read, before its share of what all nodes have: a local device is the node's own, and reads no faster than one stream.
std::optional<Bandwidth> node_read(const StorageClass& s) {
    if (s.client_read_bandwidth) return s.client_read_bandwidth->value;
    if (!s.shared && s.kind != StorageKind::memory) return s.read_bandwidth->value;
    return {};
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

LoaderRate loader_rate(const std::vector<SampleSource>& sources, Seconds work, const LoaderNode& node, const StorageSharing& sharing,
                       const LoaderScale& by) {
    LoaderRate loader;
    std::vector<StorageDemand> shared;
    for (const SampleSource& source : sources) {
        if (!(source.share > 0)) continue;
        const SampleSource here{scaled(source.storage, by), source.access, source.share, source.keep};
        loader.reading += here.share * (read_time(here.access, here.storage) + here.keep);
        for (const StorageDemand& d : storage_demands(here, node.network, sharing.others)) shared.push_back(d);
    }
    loader.work = work / by.cores;
    if (loader.work > Seconds{}) shared.push_back({LoaderLimit::cores, true, loader.work.si(), node.cores, loader.work});
    const Seconds for_sample = loader.reading + loader.work;
    const double workers = node.workers * by.workers;
    Frequency bound = workers / for_sample;
    loader.samples = bound;
    for (const StorageDemand& d : shared) {
        const double sharers = d.of_node ? 1 : sharing.nodes;
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

// Each of n nodes reads a random n-th of the samples in every epoch, in random order. A sample that a node reads at the part y of an epoch
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

Seconds host_copy_time(Bytes bytes, double copies, const HostCopy& link) {
    return copies * copy_call + bytes / (link.pinned ? link.bandwidth : pageable_part * link.bandwidth);
}

}  // namespace sextant
