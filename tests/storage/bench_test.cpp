#include "backend/storage/bench.hpp"

#include "backend/storage/page_cache.hpp"
#include "model/base/diagnostics.hpp"
#include "tests/storage/dataset_fixture.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using namespace units;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class DatasetBench : public DatasetTest, public testing::WithParamInterface<DatasetKind> {};
INSTANTIATE_TEST_SUITE_P(All, DatasetBench, testing::ValuesIn(dataset_kinds()), test_name);

TEST_P(DatasetBench, MeasuresEveryRow) {
    BenchSettings s;
    s.path = make("d", GetParam());
    s.cold = s.write = true;
    s.epochs = 2;
    const BenchResult result = bench_dataset(s, no_progress);
    // Opening cold and warm; each of three ways to read for two numbers of workers, cold and warm; writing and bringing to the disk.
    ASSERT_THAT(result.rows, SizeIs(2 + 3 * 2 * 2 + 2));
    for (const BenchRow& row : result.rows) {
        EXPECT_EQ(row.samples, 20) << row.what;
        EXPECT_GT(row.times.front(), 0 * units::s) << row.what;
        if (row.what == "open") continue;
        EXPECT_THAT(row.times, SizeIs(2)) << row.what;
        EXPECT_EQ(row.bytes, result.bytes) << row.what;
    }
    EXPECT_EQ(result.format, GetParam().format);
    EXPECT_EQ(result.encoding, to_text(GetParam().encoding));
    const auto json = nlohmann::json::parse(bench_to_json(result));
    EXPECT_EQ(json.at("schema"), "data_bench/1");
    EXPECT_EQ(json.at("rows").size(), result.rows.size());
    EXPECT_THAT(bench_to_text(result), HasSubstr("cold: read in order"));
}

using BenchOfFiles = DatasetTest;

TEST_F(BenchOfFiles, NamesWhatItSkips) {
    BenchSettings s;
    s.path = make("d", {"files", SampleEncoding::png});
    for (const int i : {0, 2}) write_bytes(open_dataset(s.path)->name(i), "damaged");
    s.epochs = 1;
    s.write = true;
    EXPECT_THROW(bench_dataset(s, no_progress), InputError);
    s.bad = BadSamples::skip;
    const BenchResult result = bench_dataset(s, no_progress);
    EXPECT_THAT(result.notes, Contains(HasSubstr("00000002.png: it is neither PNG")));
    EXPECT_EQ(result.extents, "8x6x3");
}

TEST_F(BenchOfFiles, WritesBesideAFolderAndNotIntoIt) {
    BenchSettings s;
    s.path = make("d", {"files", SampleEncoding::png}) / "";
    s.write = true;
    s.epochs = 2;
    for (const BenchRow& row : bench_dataset(s, no_progress).rows) EXPECT_EQ(row.samples, 20) << row.what;
}

TEST_F(BenchOfFiles, CanBeEndedWithinAPass) {
    struct Ended {};
    BenchSettings s;
    s.path = make("d", {"files", SampleEncoding::png});
    int told = 0;
    const auto end_soon = [&](std::int64_t done, std::int64_t) {
        EXPECT_EQ(done, 0);
        if (++told == 21) throw Ended{};  // after a look at twenty samples
    };
    EXPECT_THROW(bench_dataset(s, end_soon), Ended);
}

TEST(BenchRow, HasTheMedianOfItsTimes) {
    BenchRow row;
    row.times = {1 * s, 2 * s, 10 * s};
    EXPECT_EQ(row.median(), 2 * s);
    row.times.push_back(11 * s);
    EXPECT_EQ(row.median(), 6 * s);
}

TEST(ColdState, SaysWhatItCouldNotDrop) {
    EXPECT_EQ(shortcoming({1 * GB, 0 * B, true}), "");
    EXPECT_THAT(shortcoming({1 * GB, 0.5 * GB, true}), HasSubstr("50 % of the data stayed in memory"));
    EXPECT_THAT(shortcoming({1 * GB, 0 * B, false}), HasSubstr("only root"));
}

}  // namespace
}  // namespace sextant
