#include "backend/storage/probe_storage.hpp"

#include "model/base/diagnostics.hpp"
#include "tests/storage/dataset_fixture.hpp"

#include <gmock/gmock.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;
using namespace units;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class StorageProbeTest : public DatasetTest {
protected:
    StorageProbeTest() { fs::create_directories(at("here")); }
};

TEST_F(StorageProbeTest, MeasuresEachOfThemAndLeavesNothingBehind) {
    std::int64_t last = 0, all = 0;
    const StorageProbe p = probe_storage({at("here"), 8 * MB, 0.5 * s}, [&](std::int64_t done, std::int64_t of) { last = done, all = of; });
    EXPECT_EQ(last, all);
    EXPECT_THAT(p.opens, Not(IsEmpty()));
    EXPECT_THAT(p.seeks, Not(IsEmpty()));
    EXPECT_THAT(p.creates, Not(IsEmpty()));
    EXPECT_THAT(p.removes, Not(IsEmpty()));
    EXPECT_THAT(p.pieces, Not(IsEmpty()));
    EXPECT_THAT(p.removes_unwritten, Not(IsEmpty()));
    EXPECT_THAT(p.reads, SizeIs(2 + 5));  // three passes by 1 thread, one by 2, 4, 8 and 16
    EXPECT_THAT(p.seek_rates, SizeIs(5));
    EXPECT_THAT(p.open_rates, SizeIs(5));
    ASSERT_THAT(p.writes, SizeIs(3));
    EXPECT_THAT(fs::directory_iterator(at("here")), fs::directory_iterator());
    const StorageClass c = fit_storage(p, "here", "a test");
    // One thread that waits for each of its reads makes as many as their time allows: 1, were they measured at one time, on a quiet disk.
    EXPECT_GT((c.seek_latency->value * p.seek_rates.front().rate).si(), 0.03);
    EXPECT_LT((c.seek_latency->value * p.seek_rates.front().rate).si(), 30);
    EXPECT_GE(c.client_read_bandwidth->value, c.read_bandwidth->value);
}

TEST_F(StorageProbeTest, RefusesWhatIsNoDirectory) {
    EXPECT_THROW(probe_storage({at("nowhere")}, no_progress), InputError);
    write_bytes(at("file"), "x");
    EXPECT_THROW(probe_storage({at("file")}, no_progress), InputError);
}

}  // namespace
}  // namespace sextant
