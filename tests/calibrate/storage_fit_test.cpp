#include "model/calibrate/storage_fit.hpp"

#include "model/base/diagnostics.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

TEST(StorageFit, TakesWhatARunPays) {
    StorageProbe probe;
    probe.kind = StorageKind::nfs;
    probe.shared = true;
    probe.opens = {1.4 * ms, 2.4 * ms, 3.4 * ms};  // a thousand of them cost 2.4 s, and their first bytes are 0.4 s of it
    probe.seeks = {400 * us};
    probe.creates = {50 * us, 70 * us};
    probe.reads = {{1, 30 * MB / s}, {1, 110 * MB / s}, {1, 100 * MB / s}, {4, 300 * MB / s}, {16, 250 * MB / s}};
    probe.writes = {{1, 50 * MB / s}};
    probe.open_rates = {{1, 500 * Hz}, {8, 3000 * Hz}};
    probe.notes = {"folders stayed in memory"};
    const StorageClass c = fit_storage(probe, "home", "here");
    EXPECT_NEAR(c.open_latency->value / ms, 2, 1e-12);
    EXPECT_NEAR(c.seek_latency->value / us, 400, 1e-9);
    EXPECT_NEAR(c.create_latency->value / us, 60, 1e-9);
    EXPECT_FALSE(c.remove_latency);
    EXPECT_NEAR(c.read_bandwidth->value / (MB / s), 100, 1e-9);         // one stream
    EXPECT_NEAR(c.client_read_bandwidth->value / (MB / s), 300, 1e-9);  // the most that a node gets
    EXPECT_NEAR(c.metadata_rate->value / Hz, 3000, 1e-9);
    EXPECT_FALSE(c.random_read_rate);
    EXPECT_EQ(c.read_bandwidth->kind, SourceKind::measured);
    EXPECT_EQ(c.read_bandwidth->source, "here");
    EXPECT_TRUE(c.shared);
    EXPECT_EQ(c.notes, "folders stayed in memory");
}

TEST(StorageFit, DrawsALineThroughAFewBytesAndManyAtAPlace) {
    // 508 KiB take 5.08 ms more: 100 KiB/ms, and 4 KiB are 40 us of the 200 that a few bytes take.
    StorageProbe probe;
    probe.seeks = {200 * us};
    probe.pieces = {5.28 * ms};
    probe.opens = {1.2 * ms};
    probe.removes_unwritten = {30 * us};
    probe.read_ahead = 128 * KiB;
    const StorageClass c = fit_storage(probe, "x", "y");
    EXPECT_NEAR(c.random_read_bandwidth->value / (KiB / ms), 100, 1e-9);
    EXPECT_NEAR(c.seek_latency->value / us, 160, 1e-9);
    EXPECT_NEAR(c.open_latency->value / ms, 1, 1e-12);
    EXPECT_NEAR(c.remove_unwritten_latency->value / us, 30, 1e-9);
    EXPECT_NEAR(c.read_ahead->value / KiB, 128, 1e-12);
}

TEST(StorageFit, CountsFirstBytesOfFilesOnce) {
    // 3000 files a second with their first bytes, of which 6000 come a second: 1/3 ms - 1/6 ms for each open.
    StorageProbe probe;
    probe.open_rates = {{8, 3000 * Hz}};
    probe.seek_rates = {{8, 6000 * Hz}};
    EXPECT_NEAR(fit_storage(probe, "x", "y").metadata_rate->value / Hz, 6000, 1e-6);
    probe.seek_rates = {{8, 2000 * Hz}};  // noise
    EXPECT_NEAR(fit_storage(probe, "x", "y").metadata_rate->value / Hz, 30000, 1e-6);
}

TEST(StorageFit, CountsTheBytesOfSmallReadsOnce) {
    // 2000 a second of 4 KiB, of which a stream has 4000: 1/2 ms - 1/4 ms for each. Of a link that has no more bytes noise is left.
    StorageProbe probe;
    probe.seek_rates = {{16, 2000 * Hz}};
    probe.reads = {{1, 4000.0 * StorageProbe::few / s}};
    EXPECT_NEAR(fit_storage(probe, "x", "y").random_read_rate->value / Hz, 4000, 1e-6);
    probe.reads = {{1, 2000.0 * StorageProbe::few / s}};
    EXPECT_NEAR(fit_storage(probe, "x", "y").random_read_rate->value / Hz, 20000, 1e-6);
}

TEST(StorageFit, LeavesOutTheSlowestHundredth) {
    // 199 of 1 ms, and one that stood still for a second.
    StorageProbe probe;
    probe.opens.assign(199, 1 * ms);
    probe.opens.push_back(1 * s);
    EXPECT_NEAR(fit_storage(probe, "x", "y").open_latency->value / ms, 1, 1e-12);
}

TEST(StorageFit, WantsSomethingThatWasMeasured) { EXPECT_THROW(fit_storage({}, "x", "y"), InputError); }

}  // namespace
}  // namespace sextant
