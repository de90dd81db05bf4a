#include "model/io/trace/trace_hdf5.hpp"

#include "model/base/diagnostics.hpp"
#include "model/io/trace/trace_check.hpp"
#include "tests/base/refusal.hpp"
#include "tests/report/hand_made_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

namespace sextant::hand_made {
namespace {

namespace fs = std::filesystem;
using namespace units;
using testing::HasSubstr;
using enum Stream;
using enum SpanKind;

// Every field has a value of its own.
Trace a_trace() {
    HandMadeTrace t({0, 1});
    t.trace.ranks[1] = {.rank = 8, .stage = 1, .multiplicity = 4, .server = true, .host = "gcn7"};
    const auto f = t.add(0, compute, forward, 0, 10);
    const auto x = t.add(0, send_next, pipeline_transfer, 10, 13.5, f);
    t.add(1, copy, serve, 13.5, 23, x);
    Span& s = t.trace.spans[2];
    s.bytes = 3 * MB, s.flops = 7 * GFLOP;
    s.segment = 70'000, s.micro_batch = 511, s.chunk = 3;
    return t.trace;
}

void expect_equal(const Trace& a, const Trace& b) {
    EXPECT_EQ(a.end, b.end);
    EXPECT_EQ(a.names, b.names);
    ASSERT_EQ(a.ranks.size(), b.ranks.size());
    for (std::size_t r = 0; r < a.ranks.size(); ++r) {
        const TraceRank &x = a.ranks[r], &y = b.ranks[r];
        EXPECT_EQ(std::tie(x.rank, x.stage, x.multiplicity, x.server, x.host), std::tie(y.rank, y.stage, y.multiplicity, y.server, y.host));
    }
    ASSERT_EQ(a.spans.size(), b.spans.size());
    for (std::size_t i = 0; i < a.spans.size(); ++i) {
        const Span &x = a.spans[i], &y = b.spans[i];
        EXPECT_EQ(std::tie(x.start, x.end, x.bytes, x.flops, x.segment, x.cause),
                  std::tie(y.start, y.end, y.bytes, y.flops, y.segment, y.cause));
        EXPECT_EQ(std::tie(x.rank, x.micro_batch, x.name, x.chunk, x.stream, x.kind),
                  std::tie(y.rank, y.micro_batch, y.name, y.chunk, y.stream, y.kind));
    }
}

struct Hdf5Trace : testing::Test {
    Hdf5Trace() { fs::create_directories(folder); }
    ~Hdf5Trace() override { fs::remove_all(folder); }
    std::string bytes_of(const Trace& trace) const {
        write_trace_hdf5(path, trace);
        std::ostringstream bytes;
        bytes << std::ifstream(path, std::ios::binary).rdbuf();
        return bytes.str();
    }
    static std::string complaint(std::string_view bytes) {
        return refusal_by([&] { return trace_from_hdf5(bytes, "x.h5"); });
    }
    const fs::path folder =
        fs::path(testing::TempDir()) / ("trace_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    const fs::path path = folder / "trace.h5";
};

TEST_F(Hdf5Trace, IsReadBackAsItWas) {
    write_trace_hdf5(path, a_trace());
    expect_equal(read_trace_hdf5(path), a_trace());
    EXPECT_FALSE(fs::exists(path.string() + ".part"));
}

TEST_F(Hdf5Trace, ThatCannotBeWrittenSaysWhatTheSystemSays) {
    try {
        write_trace_hdf5("/no/such/folder/t.h5", a_trace());
        FAIL() << "written nowhere";
    } catch (const BackendError& e) {
        EXPECT_THAT(e.what(), testing::EndsWith(": No such file or directory"));
    }
}

TEST_F(Hdf5Trace, OfNothingIsReadBackToo) {
    write_trace_hdf5(path, {});
    expect_equal(read_trace_hdf5(path), {});
}

TEST_F(Hdf5Trace, OfManySpansIsSmallAndTheSameFromMemory) {
    // 200 000 spans of 60 bytes, more than one chunk, with times that do not repeat: well under half of their size in memory.
    HandMadeTrace t({0});
    t.add(0, compute, forward, 0, 1);
    for (SpanIndex i = 1; i < 200'000; ++i) {
        Span s = t.trace.spans[0];
        s.start = i * 1.1 * ms, s.end = s.start + 1 * ms;
        s.segment = i, s.cause = i - 1, s.micro_batch = i % 512;
        t.trace.spans.push_back(s);
    }
    t.trace.end = t.trace.spans.back().end;
    const std::string bytes = bytes_of(t.trace);
    EXPECT_LT(bytes.size(), 5'000'000u);
    expect_equal(trace_from_hdf5(bytes, "x.h5"), t.trace);
}

TEST_F(Hdf5Trace, TheSameTraceGivesTheSameBytes) { EXPECT_EQ(bytes_of(a_trace()), bytes_of(a_trace())); }

TEST_F(Hdf5Trace, WhatIsNoTraceIsRefused) {
    EXPECT_THAT(complaint("schema: trace/1"), HasSubstr("no HDF5 file"));
    EXPECT_THAT(complaint(""), HasSubstr("no HDF5 file"));
    EXPECT_THROW(read_trace_hdf5(folder / "absent.h5"), InputError);
    EXPECT_THROW(read_trace_hdf5(folder), InputError);
    std::string other = bytes_of(a_trace());
    EXPECT_EQ(complaint(other), "");
    other.replace(other.find("trace/1"), 7, "trace/9");
    EXPECT_NE(complaint(other), "");
}

TEST_F(Hdf5Trace, TruncatedAnywhereIsRefused) {
    const std::string whole = bytes_of(a_trace());
    for (std::size_t n = 0; n < whole.size(); n += 41) EXPECT_NE(complaint(std::string_view(whole).substr(0, n)), "") << n;
}

TEST_F(Hdf5Trace, DamagedAnywhereIsReadOrRefusedAndNeverCrashes) {
    const std::string whole = bytes_of(a_trace());
    std::mt19937 random(1);
    int refused = 0;
    for (int round = 0; round < 2000; ++round) {
        std::string damaged = whole;
        damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
        refused += complaint(damaged).empty() ? 0 : 1;
    }
    EXPECT_GT(refused, 500);  // the rest hit what HDF5 leaves unused
}

TEST_F(Hdf5Trace, WhatContradictsItselfIsRefusedWithEverythingThatIsWrong) {
    Trace t = a_trace();
    t.spans[0].rank = 9;
    t.spans[1].name = 77;
    t.spans[2].cause = 1000;
    t.spans[2].end = 99 * s;
    t.spans[1].flops = -1 * FLOP;
    const std::string what = complaint(bytes_of(t));
    EXPECT_THAT(what, HasSubstr("x.h5:/spans/rank: span 0: is of none of the ranks"));
    EXPECT_THAT(what, HasSubstr("x.h5:/spans/name: span 1"));
    EXPECT_THAT(what, HasSubstr("x.h5:/spans/cause: span 2"));
    EXPECT_THAT(what, HasSubstr("x.h5:/spans/end: span 2"));
    EXPECT_THAT(what, HasSubstr("x.h5:/spans/flops: span 1"));
}

TEST_F(Hdf5Trace, SpansOutOfOrderAndRanksOfNobodyAreRefused) {
    Trace t = a_trace();
    std::swap(t.spans[0].start, t.spans[1].start);
    t.ranks[0].multiplicity = 0;
    const std::string what = complaint(bytes_of(t));
    EXPECT_THAT(what, HasSubstr("ordered by start"));
    EXPECT_THAT(what, HasSubstr("/ranks/multiplicity: rank 0: stands for no rank"));
}

TEST_F(Hdf5Trace, AKindThatIsUnknownIsRefused) {
    Trace t = a_trace();
    t.spans[0].kind = static_cast<SpanKind>(200);
    EXPECT_THAT(complaint(bytes_of(t)), HasSubstr("/spans/kind"));
}

TEST_F(Hdf5Trace, ADiskThatRefusesLeavesWhatWasThere) {
    EXPECT_THROW(write_trace_hdf5(folder / "absent" / "trace.h5", a_trace()), BackendError);
    // A folder stands where the file should go: the part that was written aside is taken away again.
    fs::create_directories(path / "kept");
    EXPECT_THROW(write_trace_hdf5(path, a_trace()), BackendError);
    EXPECT_TRUE(fs::exists(path / "kept"));
    EXPECT_FALSE(fs::exists(path.string() + ".part"));
}

}  // namespace
}  // namespace sextant::hand_made
