#include "model/io/trace/trace_chrome.hpp"

#include "tests/report/hand_made_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace sextant::hand_made {
namespace {

using namespace units;
using Json = nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using enum Stream;
using enum SpanKind;

Json written(const Trace& trace, const ChromeTraceView& view = {}) {
    std::ostringstream out;
    write_chrome_trace(out, trace, view);
    return Json::parse(out.str());
}

std::vector<Json> events(const Json& json, std::string_view phase, std::string_view name = {}) {
    std::vector<Json> found;
    for (const Json& e : json["traceEvents"])
        if (e["ph"] == phase && (name.empty() || e["name"] == name)) found.push_back(e);
    return found;
}

// Stage 0 computes 0 .. 10 ms and sends until 13, then stage 1 computes until 23.
HandMadeTrace two_computing_stages() {
    HandMadeTrace t({0, 1});
    const auto f = t.add(0, compute, forward, 0, 10);
    const auto x = t.add(0, send_next, pipeline_transfer, 10, 13, f);
    t.add(1, compute, forward, 13, 23, x);
    return t;
}

TEST(ChromeTrace, HasASliceForEachSpanInMicroseconds) {
    HandMadeTrace t = two_computing_stages();
    t.trace.spans[1].bytes = 3 * MB;
    t.trace.spans[1].micro_batch = 7;
    t.trace.spans[2].flops = 1.5 * GFLOP;
    const Json json = written(t.trace);
    EXPECT_EQ(json["otherData"]["schema"], "trace/1");
    const std::vector<Json> slices = events(json, "X");
    ASSERT_THAT(slices, SizeIs(3));
    EXPECT_EQ(slices[1]["name"], "pipeline_transfer");
    EXPECT_EQ(slices[1]["ts"], 10'000.0);
    EXPECT_EQ(slices[1]["dur"], 3'000.0);
    EXPECT_EQ(slices[1]["pid"], 0);
    EXPECT_EQ(slices[1]["tid"], 2);
    EXPECT_EQ(slices[1]["args"]["bytes"], 3'000'000);
    EXPECT_EQ(slices[1]["args"]["micro_batch"], 7);
    EXPECT_EQ(slices[2]["args"]["gflop"], 1.5);
    EXPECT_EQ(slices[2]["pid"], 1);
}

TEST(ChromeTrace, NamesRanksAndTheStreamsThatTheyUse) {
    HandMadeTrace t = two_computing_stages();
    t.trace.ranks[1] = {.rank = 8, .stage = 1, .multiplicity = 4, .host = "gcn7"};
    const Json json = written(t.trace);
    std::vector<std::string> processes, threads;
    for (const Json& e : events(json, "M", "process_name")) processes.push_back(e["args"]["name"]);
    for (const Json& e : events(json, "M", "thread_name")) threads.push_back(e["args"]["name"]);
    EXPECT_THAT(processes, ElementsAre("rank 0 (stage 0)", "rank 8 (stage 1), stands for 4 ranks on gcn7"));
    EXPECT_THAT(threads, ElementsAre("compute", "send to the next stage", "compute"));
}

TEST(ChromeTrace, DrawsCausesOnOtherRanksInSmallTraces) {
    const HandMadeTrace t = two_computing_stages();
    const Json json = written(t.trace);
    ASSERT_THAT(events(json, "s"), SizeIs(1));
    EXPECT_EQ(events(json, "s")[0]["pid"], 0);
    EXPECT_LT(events(json, "s")[0]["ts"], 13'000.0);
    ASSERT_THAT(events(json, "f"), SizeIs(1));
    EXPECT_EQ(events(json, "f")[0]["pid"], 1);
    EXPECT_EQ(events(json, "f")[0]["ts"], 13'000.0);
    EXPECT_EQ(events(json, "f")[0]["id"], events(json, "s")[0]["id"]);
    EXPECT_THAT(events(written(t.trace, {.memory = {}, .utilization = {}, .arrows_up_to = 2}), "s"), IsEmpty());
}

TEST(ChromeTrace, KeepsSlicesOfAThreadNested) {
    // The exchange 10 .. 16 goes on behind the kernel 12 .. 15.
    HandMadeTrace t({0});
    t.add(0, compute, forward, 0, 10);
    t.add(0, compute, expert_exchange, 10, 16);
    t.add(0, compute, forward, 12, 15);
    const std::vector<Json> slices = events(written(t.trace), "X");
    EXPECT_EQ(slices[0]["tid"], 0);
    EXPECT_EQ(slices[1]["tid"], stream_count);
    EXPECT_EQ(slices[2]["tid"], 0);
}

TEST(ChromeTrace, CountsMemoryAndUtilization) {
    const HandMadeTrace t = two_computing_stages();
    MemoryTimeline memory;
    memory.stage = 1, memory.rank = 1;
    memory.base[MemoryKind::weights] = 5 * GB;
    memory.curve = {{0 * ms, 0 * GB}, {13 * ms, 2 * GB}};
    const UtilizationSeries link{.name = "n0.nic0 -> leaf0", .count = 2, .busy = {0.25, 1}};
    const Json json = written(t.trace, {.memory = {&memory, 1}, .utilization = {&link, 1}});
    const std::vector<Json> bytes = events(json, "C", "memory of stage 1"), busy = events(json, "C", "n0.nic0 -> leaf0 x2");
    ASSERT_THAT(bytes, SizeIs(2));
    EXPECT_EQ(bytes[1]["ts"], 13'000.0);
    EXPECT_EQ(bytes[1]["args"]["bytes"], 7e9);
    EXPECT_EQ(bytes[1]["pid"], 1);
    ASSERT_THAT(busy, SizeIs(2));
    EXPECT_EQ(busy[1]["ts"], 11'500.0);
    EXPECT_EQ(busy[0]["args"]["percent"], 25.0);
    EXPECT_EQ(busy[0]["pid"], 2);
}

TEST(ChromeTrace, NamesMayHoldAnything) {
    HandMadeTrace t = two_computing_stages();
    t.trace.names[0] = "a \"name\"\n\xff";
    t.trace.ranks[0].host = "\\";
    EXPECT_EQ(events(written(t.trace), "X")[0]["name"], "a \"name\"\n\xEF\xBF\xBD");
}

TEST(ChromeTrace, OfNothingIsStillAFile) { EXPECT_THAT(written({})["traceEvents"], IsEmpty()); }

}  // namespace
}  // namespace sextant::hand_made
