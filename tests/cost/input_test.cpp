#include "model/cost/staging.hpp"

#include "tests/cost/round_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <numeric>
#include <random>
#include <unordered_map>

namespace sextant {
namespace {

using namespace units;
using round_machine::given;

// 10 ms to open a file, 5 ms to go to a place in it, 100 MB/s from there, 50 MB/s to write.
StorageClass slow_server() {
    StorageClass s;
    s.kind = StorageKind::nfs;
    s.shared = true;
    s.open_latency = given(10 * ms);
    s.seek_latency = given(5 * ms);
    s.read_bandwidth = given(100 * MB / units::s);
    s.write_bandwidth = given(50 * MB / units::s);
    return s;
}
StorageClass local_disk() {
    StorageClass s;
    s.kind = StorageKind::ssd;
    s.open_latency = given(1 * ms);
    s.seek_latency = given(1 * ms);
    s.create_latency = given(2 * ms);
    s.remove_latency = given(3 * ms);
    s.read_bandwidth = given(500 * MB / units::s);
    s.write_bandwidth = given(200 * MB / units::s);
    return s;
}
SampleAccess files_of_a_megabyte() { return sample_access(DataFormat::files, Shuffle::full, 1 * MB, {}); }

TEST(SampleAccess, AFileIsOpenedAPackedSampleIsSoughtAndAStreamGoesOn) {
    // 10 + 5 + 1 MB / 100 MB/s = 25 ms; 5 + 10 = 15 ms; 10 ms. An array has nothing beside its values.
    const StorageClass server = slow_server();
    EXPECT_NEAR(read_time(files_of_a_megabyte(), server) / ms, 25, 1e-9);
    EXPECT_NEAR(read_time(sample_access(DataFormat::hdf5, Shuffle::full, 1 * MB, {}), server) / ms, 15, 1e-9);
    EXPECT_NEAR(read_time(sample_access(DataFormat::npy, Shuffle::window, 1 * MB, {}), server) / ms, 10, 1e-9);
    // A hundred to a file: (10 + 5) / 100 ms each for the next file.
    EXPECT_NEAR(read_time(sample_access(DataFormat::npy, Shuffle::window, 1 * MB, 100), server) / ms, 10.15, 1e-9);
}

TEST(SampleAccess, ComesFromPlacesAsFastAsPiecesDo) {
    // 5 ms and 10 MB: half a MiB of it at 50 MB/s, 10.48576 ms, and 9.475712 MB as a stream at 100 MB/s.
    StorageClass server = slow_server();
    server.random_read_bandwidth = given(50 * MB / units::s);
    EXPECT_NEAR(read_time(sample_access(DataFormat::hdf5, Shuffle::full, 10 * MB, {}), server) / ms, 5 + 10.48576 + 94.75712, 1e-9);
    EXPECT_NEAR(read_time(sample_access(DataFormat::hdf5, Shuffle::none, 10 * MB, {}), server) / ms, 100, 1e-9);
}

// Samples read in random order by a node that keeps what it fetched, each time `window` of them: how often it fetches.
double played_fetches(int window) {
    constexpr int samples = 20000;
    std::vector<int> order(samples);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, std::mt19937(3));
    std::vector<bool> there(samples + static_cast<std::size_t>(window));
    int fetches = 0;
    for (const int sample : order) {
        if (there[static_cast<std::size_t>(sample)]) continue;
        ++fetches;
        for (int i = 0; i < window; ++i) there[static_cast<std::size_t>(sample + i)] = true;
    }
    return static_cast<double>(fetches) / samples;
}

TEST(ReadAhead, FetchesWhatOthersNeed) {
    StorageClass disk = local_disk();
    const SampleAccess one = sample_access(DataFormat::npy, Shuffle::full, 128 * KiB, {});  // 32 pages
    EXPECT_EQ(with_read_ahead(one, disk, 1).seeks, 1);
    // No more than a 32nd of 8 MiB: four times as much, so that a sample is not there when none of three before it was fetched.
    disk.read_ahead = given(8 * MiB);
    const SampleAccess all = with_read_ahead(one, disk, 1);
    EXPECT_NEAR(all.seeks, 1 - 1 / std::sqrt(3), 1e-9);
    EXPECT_NEAR(all.seeks / played_fetches(4), 1, 0.12);  // whether one was fetched tells something of its neighbour
    EXPECT_NEAR(all.bytes / KiB, 128, 1e-9);
    // Up to a quarter of the most twice as much: windows of two, f' = 1 - f, or of a little more. Of 5 MiB 8, the power of two: 1.6.
    const auto fetches = [&](Bytes sample) {
        return with_read_ahead(sample_access(DataFormat::npy, Shuffle::full, sample, {}), disk, 1).seeks;
    };
    EXPECT_NEAR(fetches(1 * MiB), 1 - std::exp(-1), 1e-9);
    EXPECT_NEAR(fetches(1 * MiB) / played_fetches(2), 1, 0.12);
    EXPECT_NEAR(fetches(0.999 * MiB), fetches(1 * MiB), 1e-3);
    EXPECT_NEAR(fetches(5 * MiB), 1 - std::pow(0.6, 2.5), 1e-9);
    // Nothing is kept: all that is fetched beside it is in vain.
    const SampleAccess none = with_read_ahead(one, disk, 0);
    EXPECT_NEAR(none.seeks, 1, 1e-3);
    EXPECT_NEAR(none.bytes / KiB, 512, 0.1);
    // A file ends where its sample does; a stream has what comes next anyway.
    EXPECT_EQ(with_read_ahead(files_of_a_megabyte(), disk, 1).seeks, 1);
    EXPECT_EQ(with_read_ahead(sample_access(DataFormat::npy, Shuffle::none, 1 * MB, {}), disk, 1).seeks, 0);
}

TEST(SampleAccess, AnObjectNeedsNoOpening) {
    StorageClass bucket = slow_server();
    bucket.kind = StorageKind::object;
    EXPECT_NEAR(read_time(files_of_a_megabyte(), bucket) / ms, 15, 1e-9);
}

TEST(SampleWork, DecodesScalesAndConverts) {
    // 420 KB of pixels at 210 MB/s and at 310 MB/s, 250 KB at 250 MB/s, 10 us of the loader: 2 + 1.3548 + 1 + 0.01 ms.
    const Seconds t = sample_work({DataFormat::files, SampleEncoding::jpeg, 110 * KB, 420 * KB}, Transform::resize, 250 * KB, {});
    EXPECT_NEAR(t / ms, 4.3648, 1e-4);
    // Values that are kept as the network takes them: the conversion and HDF5's 7 us.
    const Seconds kept = sample_work({DataFormat::hdf5, SampleEncoding::raw, 250 * KB, {}}, Transform::convert, 250 * KB, {});
    EXPECT_NEAR(kept / ms, 1.007, 1e-9);
    EXPECT_NEAR(sample_work({DataFormat::npy, SampleEncoding::raw, 1 * MB, {}}, Transform::none, 1 * MB, {}) / us, 5, 1e-9);
}

TEST(SampleWork, OfAZipSumsTheBytes) {
    // 20 us and 105 KB at 2.1 GB/s, 50 us, on a thread of half the speed: 140 us. A host where both were measured has neither.
    SampleThread thread{0.5, {}};
    EXPECT_NEAR(sample_work({DataFormat::zip, SampleEncoding::raw, 105 * KB, {}}, Transform::none, 105 * KB, thread) / us, 140, 1e-6);
    thread.measured.formats["zip"] = {given(3 * us), given(8 * us), given(1 * GB / s), given(500 * MB / s)};
    EXPECT_NEAR(sample_work({DataFormat::zip, SampleEncoding::raw, 105 * KB, {}}, Transform::none, 105 * KB, thread) / us, 108, 1e-6);
}

TEST(SampleWork, IsWhatWasMeasuredOnTheHostWhereItWas) {
    SampleThread thread{2, {}};
    thread.measured.decode_jpeg = given(100 * MB / s);
    thread.measured.formats["tar"] = {given(3 * us), given(8 * us), given(1 * GB / s), given(500 * MB / s)};
    // 400 KB at 100 MB/s; at twice 310 MB/s, which nobody measured; 100 KB of numbers at twice 250 MB/s; 3 us and 100 KB at 1 GB/s.
    const Seconds read = sample_work({DataFormat::tar, SampleEncoding::jpeg, 100 * KB, 400 * KB}, Transform::resize, 100 * KB, thread);
    EXPECT_NEAR(read / us, 4000 + 645.16 + 200 + 103, 0.01);
    // HDF5 was not measured: 7 us of a host of speed 1.
    EXPECT_NEAR(sample_work({DataFormat::hdf5, SampleEncoding::raw, 1 * MB, {}}, Transform::none, 1 * MB, thread) / us, 3.5, 1e-9);
}

TEST(WritingWork, EncodesAndHandsOn) {
    SampleThread thread;
    thread.measured.formats["tar"] = {given(3 * us), given(8 * us), given(1 * GB / s), given(500 * MB / s)};
    // 400 KB at 210 MB/s, 8 us, and 100 KB at 500 MB/s.
    EXPECT_NEAR(writing_work({DataFormat::tar, SampleEncoding::jpeg, 100 * KB, 400 * KB}, thread) / us, 1904.76 + 8 + 200, 0.01);
    EXPECT_NEAR(writing_work({DataFormat::tar, SampleEncoding::raw, 100 * KB, {}}, thread) / us, 208, 1e-9);
}

TEST(SampleWork, OfAnImageOfImageNetIsWhatItsSourcesMeasured) {
    // 110 KB and 418 KB of pixels: Pillow decodes some 557 a second on hosts of speed 1.1, 1.97 ms on one of speed 1.
    const Seconds decode = sample_work({DataFormat::npy, SampleEncoding::jpeg, 110 * KB, {}}, Transform::none, 150 * KB, {}) - 5 * us;
    EXPECT_NEAR(decode / ms, 1.97, 0.05);
}

// Four workers, each 25 ms to read and 15 ms to work.
struct Loading {
    StorageClass storage = slow_server();
    LoaderNode node{4, 4, {}};
    double nodes = 1, others = 0;
    LoaderScale scale;
    [[nodiscard]] LoaderRate rate() const {
        return loader_rate({{storage, files_of_a_megabyte(), 1, {}}}, 15 * ms, node, {nodes, others}, scale);
    }
    // The least bound, and not much less.
    void expect(double bound, LoaderLimit limit) const {
        const LoaderRate r = rate();
        EXPECT_NEAR(r.samples / Hz / r.unhindered, bound, 1e-9);
        EXPECT_LE(r.unhindered, 1);
        EXPECT_GE(r.unhindered, 0.9);
        EXPECT_EQ(r.limit, limit) << to_text(r.limit);
    }
};

TEST(SharedRate, IsTheLessTheMoreWorkersMeet) {
    // Two workers, half of the time at a place for one. None, one or both are there, in the ratio 1 to 2 to 2: it is in use 4/5 of the
    // time, 0.8 samples in what each takes there, 1 ms. At a place for two nobody waits: 2 in 2 ms.
    EXPECT_NEAR(shared_rate(2, 2 * ms, 1 * ms, 1) / Hz, 800, 1e-9);
    EXPECT_NEAR(shared_rate(2, 2 * ms, 1 * ms, 2) / Hz, 1000, 1e-9);
    // Of three at a place for two none to three are there in the ratio 1 to 3 to 3 to 3/2: (3 + 2 x 3 + 2 x 3/2) / 8.5 samples a ms.
    EXPECT_NEAR(shared_rate(3, 2 * ms, 1 * ms, 2) / Hz, 12 / 8.5 * 1000, 1e-9);
    // Workers that do nothing else never leave it idle; and a hundred thousand do not either.
    EXPECT_NEAR(shared_rate(5, 1 * ms, 1 * ms, 1) / Hz, 1000, 1e-9);
    EXPECT_NEAR(shared_rate(1e5, 2 * ms, 1 * ms, 1) / Hz, 1000, 1e-9);
    EXPECT_NEAR(shared_rate(900, 2 * ms, 1 * ms, 1) / Hz, 1000, 1e-9);
}

TEST(LoaderRate, IsLessThanBothBoundsWhereTheyMeet) {
    // Two workers of which each is half of the time on the only core: 0.8 of it, as above.
    const LoaderRate r = loader_rate({{slow_server(), files_of_a_megabyte(), 1, {}}}, 25 * ms, {2, 1, {}});
    EXPECT_NEAR(r.samples / Hz, 0.8 / 0.025, 1e-9);
    EXPECT_NEAR(r.unhindered, 0.8, 1e-12);
}

TEST(LoaderRate, IsThatOfItsWorkersUntilSomethingThatTheyShareIsLess) {
    Loading l;
    l.expect(100, LoaderLimit::workers);  // 4 / 40 ms
    l.node.cores = 1;
    l.expect(1 / 0.015, LoaderLimit::cores);
    l.storage.client_read_bandwidth = given(50 * MB / s);
    l.expect(50, LoaderLimit::node_bandwidth);
    l.node.network = 40 * MB / s;
    l.expect(40, LoaderLimit::network);
    l.nodes = 16;
    l.storage.total_read_bandwidth = given(400 * MB / s);
    l.expect(25, LoaderLimit::total_bandwidth);
    l.storage.random_read_rate = given(640 / s);  // two operations a sample
    l.expect(20, LoaderLimit::operations);
    l.storage.metadata_rate = given(160 / s);
    l.expect(10, LoaderLimit::metadata);
    l.others = 0.5;
    l.expect(5, LoaderLimit::metadata);
}

TEST(LoaderRate, OfALocalDiskIsNoMoreThanItsStream) {
    Loading l;
    l.storage = local_disk();
    l.node = {100, 100, 10 * MB / s};  // the network is not on the way
    l.expect(500, LoaderLimit::node_bandwidth);
}

TEST(LoaderRate, FollowsWhatEachResourceTwiceAsGoodChanges) {
    Loading l;
    l.node.cores = 8;
    l.scale.workers = 2;
    EXPECT_NEAR(l.rate().samples / Hz, 200, 1e-9);
    l.scale = {.operations = 2};  // (10 + 5) / 2 + 10 + 15 = 32.5 ms
    EXPECT_NEAR(l.rate().samples / Hz, 4 / 0.0325, 1e-9);
    l.scale = {.bandwidth = 2};  // 15 + 5 + 15
    EXPECT_NEAR(l.rate().samples / Hz, 4 / 0.035, 1e-9);
    l.scale = {.cores = 2};  // 25 + 7.5
    EXPECT_NEAR(l.rate().samples / Hz, 4 / 0.0325, 1e-9);
}

TEST(LoaderRate, OfSeveralSourcesCountsWhatComesFromEach) {
    // Half from the server at 25 ms, half from the disk at 1 + 1 + 2 ms, and the work: 14.5 + 15 ms.
    const std::vector<SampleSource> both = {{slow_server(), files_of_a_megabyte(), 0.5, {}},
                                            {local_disk(), files_of_a_megabyte(), 0.5, {}}};
    EXPECT_NEAR(loader_rate(both, 15 * ms, {1, 1, {}}).samples / Hz, 1 / 0.0295, 1e-9);
}

TEST(PageCache, HoldsNothingOfWhatIsReadInTurnUnlessAllOfItFits) {
    EXPECT_EQ(page_cache_hits(0.9, 1, Shuffle::none), 0);
    EXPECT_EQ(page_cache_hits(0.9, 2, Shuffle::none), 1);  // half of it on each node
    EXPECT_EQ(page_cache_hits(1, 1, Shuffle::full), 1);
    EXPECT_EQ(page_cache_hits(0, 4, Shuffle::full), 0);
}

TEST(PageCache, OfOneNodeAndRandomOrderFollowsTheFormula) {
    // c + (1 - c) ln(1 - c): with half in memory 0.5 - 0.3466.
    EXPECT_NEAR(page_cache_hits(0.5, 1, Shuffle::full), 0.1534, 1e-4);
}

TEST(PageCache, OfManyNodesFillsEpochByEpoch) {
    // A quarter of the samples an epoch: 1 - 0.75^k of them are in memory after k, in the mean of k = 1 .. 4 (0.25 + 0.4375 + 0.5781 +
    // 0.6836) / 4.
    EXPECT_NEAR(page_cache_hits(1, 4, Shuffle::full, 5), 0.4873, 1e-4);
    EXPECT_NEAR(page_cache_hits(1, 4, Shuffle::full, 1e5), 1, 1e-4);
    EXPECT_EQ(page_cache_hits(1, 1, Shuffle::full, 5), 1);  // alone it has read everything
    EXPECT_EQ(page_cache_hits(1, 4, Shuffle::none, 5), 1);  // its own quarter
    // What memory cannot keep is not found later either.
    EXPECT_LT(page_cache_hits(0.5, 4, Shuffle::full, 100), page_cache_hits(0.5, 4, Shuffle::full));
    EXPECT_NEAR(page_cache_hits(0.5, 4, Shuffle::full, 1e5), page_cache_hits(0.5, 4, Shuffle::full), 1e-3);
}

// Reads of one of n nodes that share each epoch's random order, through a cache that drops the least recently used.
double played_hits(double cached, int nodes) {
    constexpr int samples = 1200, warm = 40, epochs = 200;
    const auto room = static_cast<std::size_t>(cached * samples);
    std::mt19937 random(7);
    std::vector<int> order(samples);
    std::iota(order.begin(), order.end(), 0);
    std::list<int> recent;
    std::unordered_map<int, std::list<int>::iterator> held;
    double hits = 0, reads = 0;
    for (int epoch = 0; epoch < epochs; ++epoch) {
        std::ranges::shuffle(order, random);
        for (int i = 0; i < samples / nodes; ++i) {
            const int sample = order[static_cast<std::size_t>(i)];
            const auto found = held.find(sample);
            if (epoch >= warm) reads += 1, hits += found != held.end() ? 1 : 0;
            if (found != held.end()) {
                recent.erase(found->second);
            } else if (held.size() == room) {
                held.erase(recent.back());
                recent.pop_back();
            }
            recent.push_front(sample);
            held[sample] = recent.begin();
        }
    }
    return hits / reads;
}

TEST(PageCache, FindsAsMuchAsACacheThatIsPlayed) {
    for (const int nodes : {1, 2, 3, 8})
        for (const double cached : {0.2, 0.5, 0.8})
            EXPECT_NEAR(page_cache_hits(cached, nodes, Shuffle::full), played_hits(cached, nodes), 0.01) << nodes << " nodes, " << cached;
}

TEST(StagingTime, CopiesFileByFileOrAsAStreamThatIsUnpacked) {
    // Files: 25 ms to read, 2 ms to create, 5 ms to write and at the end 3 ms to remove each. An archive: 1,000,768 bytes at 100 and
    // 200 MB/s, 15.0115 ms; unpacked at 2.0015 ms to read, 2 + 5 ms to create and write; removed at 3 ms.
    StagingJob job{slow_server(), local_disk(), DataFormat::files, 1 * MB, {}, 1000, StagingMode::copy, 1, 0, {}};
    EXPECT_NEAR(staging_time(job).total() / s, 35, 1e-9);
    job.format = DataFormat::tar;
    job.mode = StagingMode::untar;
    const StagingTime t = staging_time(job);
    EXPECT_NEAR(t.copy / s, 15.0115, 1e-4);
    EXPECT_NEAR(t.unpack / s, 9.0015, 1e-4);
    EXPECT_NEAR(t.remove / s, 3, 1e-9);
}

TEST(StagingTime, RemovesSoonerWhatTheStorageDoesNotHaveYet) {
    StagingJob job{slow_server(), local_disk(), DataFormat::files, 1 * MB, {}, 1000, StagingMode::copy, 1, 0, {}};
    EXPECT_NEAR(staging_time(job).after(1 * s).remove / s, 3, 1e-9);
    job.to.remove_unwritten_latency = given(50 * us);
    EXPECT_NEAR(staging_time(job).after(1 * s).remove / s, 0.05, 1e-9);
    EXPECT_NEAR(staging_time(job).after(1 * minute).remove / s, 3, 1e-9);
    EXPECT_NEAR(staging_time(job).after(1 * s).copy / s, 32, 1e-9);
}

TEST(StagingTime, OfManyNodesSharesTheServer) {
    // Ten nodes at 100 MB/s from a server that has 200 MB/s: 20 MB/s each, 50 s for a GB; all ten are nearly always there.
    StagingJob job{slow_server(), local_disk(), DataFormat::npy, 1 * MB, {}, 1000, StagingMode::copy, 10, 0, {}};
    job.from.total_read_bandwidth = given(200 * MB / s);
    EXPECT_NEAR(staging_time(job).total() / s, 50, 0.1);
}

TEST(CheckpointTime, IsThatOfWritersNodesOrTheWholeStorage) {
    StorageClass server = slow_server();
    server.create_latency = given(10 * ms);
    server.write_bandwidth = given(1 * GB / s);
    EXPECT_NEAR(checkpoint_time(100 * GB, server, {4, 2, {}}) / s, 25.01, 1e-9);
    server.client_write_bandwidth = given(1.25 * GB / s);
    EXPECT_NEAR(checkpoint_time(100 * GB, server, {4, 2, {}}) / s, 40.01, 1e-9);
    EXPECT_NEAR(checkpoint_time(100 * GB, server, {4, 2, 1 * GB / s}) / s, 50.01, 1e-9);
    server.total_write_bandwidth = given(0.5 * GB / s);
    EXPECT_NEAR(checkpoint_time(100 * GB, server, {4, 2, {}}) / s, 200.01, 1e-9);
}

TEST(CheckpointTime, CreatesAFileForEachWriterAndOpensItToReadItBack) {
    // 400 files where 200 are made a second, 2 s, and at half of that 4 s; where nobody says how many, as many as are opened: 0.4 s of
    // 1000. A single one takes 30 ms to make and 10 ms to open. 100 GB at 50 and 100 MB/s of each of 400: 5 s and 2.5 s.
    StorageClass server = slow_server();
    server.create_latency = given(30 * ms);
    server.metadata_rate = given(1000 / s);
    EXPECT_NEAR(checkpoint_time(100 * GB, server, {400, 2, {}}) / s, 5.4, 1e-9);
    server.create_rate = given(200 / s);
    EXPECT_NEAR(checkpoint_time(100 * GB, server, {400, 2, {}}) / s, 7, 1e-9);
    EXPECT_NEAR(checkpoint_time(100 * GB, server, {400, 2, {}, 0.5}) / s, 9, 1e-9);
    EXPECT_NEAR(checkpoint_time(50 * MB, server, {1, 1, {}}) / s, 1.03, 1e-9);
    EXPECT_NEAR(checkpoint_read_time(100 * GB, server, {400, 2, {}}) / s, 2.9, 1e-9);
    EXPECT_NEAR(checkpoint_read_time(100 * MB, server, {1, 1, {}}) / s, 1.01, 1e-9);
}

TEST(HostCopy, OfManyPartsOrFromPageableMemoryTakesLonger) {
    // 2 GB at 20 GB/s; a thousand calls of 10 us; 10.0 of 25.7 GB/s.
    EXPECT_NEAR(host_copy_time(2 * GB, 1, {20 * GB / s, true}) / ms, 100.01, 1e-9);
    EXPECT_NEAR(host_copy_time(2 * GB, 1000, {20 * GB / s, true}) / ms, 110, 1e-9);
    EXPECT_NEAR(host_copy_time(2 * GB, 1, {20 * GB / s, false}) / ms, 257.01, 1e-9);
}

TEST(StorageClass, IsCompletedAsUsualForItsKindAndKeepsWhatIsStated) {
    StorageClass disk;
    disk.kind = StorageKind::disk;
    disk.seek_latency = given(4 * ms);
    complete(disk);
    EXPECT_EQ(disk.seek_latency->value, 4 * ms);
    EXPECT_EQ(disk.open_latency->kind, SourceKind::estimated);
    EXPECT_EQ(disk.open_latency->source, "usual for a hard disk");
    StorageClass narrow;
    narrow.kind = StorageKind::parallel;
    narrow.client_read_bandwidth = given(0.7 * GB / s);
    complete(narrow);
    EXPECT_EQ(narrow.read_bandwidth->value, 0.7 * GB / s);
    EXPECT_FALSE(narrow.metadata_rate);
}

}  // namespace
}  // namespace sextant
