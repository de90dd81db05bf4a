#include "model/io/calibration/fio_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

struct FioRead {
    explicit FioRead(std::string_view text) : probe(read_fio(text, "fio.json", diagnostics)) {}
    Diagnostics diagnostics;
    StorageProbe probe;
};

// As fio 3 writes it, shortened: options of all jobs and of each, as text; copies of a job one by one.
constexpr auto four_jobs = R"({
  "fio version": "fio-3.33",
  "global options": {"directory": "/scratch", "direct": "1", "bs": "4k"},
  "jobs": [
    {"jobname": "stream", "job options": {"rw": "read", "bs": "1M"}, "read": {"bw_bytes": 500000000, "iops": 476.8, "lat_ns": {"mean": 2000000.0}}},
    {"jobname": "streams", "job options": {"rw": "read", "numjobs": "2"}, "read": {"bw_bytes": 400000000, "iops": 381, "lat_ns": {"mean": 1}}},
    {"jobname": "streams", "job options": {"rw": "read", "numjobs": "2"}, "read": {"bw_bytes": 350000000, "iops": 334, "lat_ns": {"mean": 1}}},
    {"jobname": "latency", "job options": {"rw": "randread", "iodepth": "1"}, "read": {"bw_bytes": 40960000, "iops": 10000, "lat_ns": {"mean": 100000.0}}},
    {"jobname": "deep", "job options": {"rw": "randread", "iodepth": "32", "numjobs": "4", "group_reporting": "1"},
     "read": {"bw_bytes": 409600000, "iops": 100000, "lat_ns": {"mean": 1280000.0}}},
    {"jobname": "mixed", "job options": {"rw": "randrw"}, "read": {"bw_bytes": 1000, "iops": 1}},
    {"jobname": "checkpoint", "job options": {"rw": "write"}, "write": {"bw_bytes": 200000000, "iops": 190}}
  ]})";

TEST(FioReader, TakesStreamsLatencyAndOperations) {
    const FioRead read(four_jobs);
    EXPECT_TRUE(read.diagnostics.list().empty());
    ASSERT_THAT(read.probe.reads, SizeIs(2));
    EXPECT_NEAR(read.probe.reads[0].rate / (MB / s), 500, 1e-9);
    EXPECT_EQ(read.probe.reads[1].threads, 2);
    EXPECT_NEAR(read.probe.reads[1].rate / (MB / s), 750, 1e-9);  // both copies together
    ASSERT_THAT(read.probe.seeks, SizeIs(1));
    EXPECT_NEAR(read.probe.seeks[0] / us, 100, 1e-9);
    ASSERT_THAT(read.probe.seek_rates, SizeIs(1));
    EXPECT_EQ(read.probe.seek_rates[0].threads, 128);
    EXPECT_NEAR(read.probe.seek_rates[0].rate / Hz, 1e5, 1e-6);
    ASSERT_THAT(read.probe.writes, SizeIs(1));
    EXPECT_THAT(read.probe.notes, ElementsAre(HasSubstr("mixed is left out")));
}

TEST(FioReader, LeavesOutWhatFailedAndRequestsOfTheWrongSize) {
    const FioRead read(R"({"global options": {"direct": "1"}, "jobs": [
        {"jobname": "large", "job options": {"rw": "randread"}, "read": {"bw_bytes": 800000000, "iops": 800, "lat_ns": {"mean": 1280000.0}}},
        {"jobname": "small", "job options": {"rw": "read"}, "read": {"bw_bytes": 400000000, "iops": 100000, "lat_ns": {"mean": 1}}},
        {"jobname": "broken", "error": 5, "job options": {"rw": "read"}, "read": {"bw_bytes": 3000000, "iops": 3, "lat_ns": {"mean": 1}}}]})");
    EXPECT_TRUE(read.diagnostics.list().empty());
    EXPECT_TRUE(read.probe.seeks.empty());
    EXPECT_TRUE(read.probe.reads.empty());
    EXPECT_THAT(read.probe.notes, ElementsAre(HasSubstr("broken is left out: it failed"), HasSubstr("1.00 MB are no small reads"),
                                              HasSubstr("4.00 KB make no stream")));
}

TEST(FioReader, PassesOverNotesAroundTheJson) {
    const FioRead read("note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1\r\n" +
                       std::string(four_jobs) + "\n\nRun status group 0 (all jobs):\n");
    EXPECT_TRUE(read.diagnostics.list().empty());
    EXPECT_THAT(read.probe.reads, SizeIs(2));
}

TEST(FioReader, SaysWhatIsNoOutputOfFio) {
    for (const auto* text : {"{}", R"({"jobs": []})", R"({"jobs": 3})", R"([1])"})
        EXPECT_THAT(FioRead(text).diagnostics.list(), SizeIs(1)) << text;
    EXPECT_FALSE(FioRead("{").diagnostics.list().empty());
    EXPECT_THAT(FioRead(R"({"jobs": [{"read": {}}]})").diagnostics.list(), SizeIs(1));
    // Numbers that are none count as nothing measured.
    EXPECT_THAT(FioRead(R"({"jobs": [{"jobname": "x", "read": {"bw_bytes": "fast"}}]})").probe.notes, SizeIs(1));
}

}  // namespace
}  // namespace sextant
