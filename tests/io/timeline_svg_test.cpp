#include "model/io/trace/timeline_svg.hpp"

#include "model/io/format/svg.hpp"
#include "model/io/trace/span_style.hpp"
#include "model/io/trace/timeline_boxes.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/report/hand_made_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

namespace sextant::hand_made {
namespace {

using namespace units;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using enum Stream;
using enum SpanKind;

struct Rectangle {
    double x, y, width, height;
    std::string fill;
};
std::vector<Rectangle> rectangles(const std::string& svg, const std::string& fill = {}) {
    std::vector<Rectangle> found;
    static const std::regex pattern(R"re(<rect x="([^"]*)" y="([^"]*)" width="([^"]*)" height="([^"]*)" fill="([^"]*)")re");
    for (auto it = std::sregex_iterator(svg.begin(), svg.end(), pattern); it != std::sregex_iterator(); ++it)
        if (fill.empty() || (*it)[5] == fill)
            found.push_back({std::stod((*it)[1]), std::stod((*it)[2]), std::stod((*it)[3]), std::stod((*it)[4]), (*it)[5]});
    return found;
}
std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
}

// Every element that is opened is closed.
void expect_well_formed(const std::string& svg) {
    std::vector<std::string> open;
    static const std::regex tag(R"re(<(/?)([a-z]+)[^<>]*?(/?)>)re");
    for (auto it = std::sregex_iterator(svg.begin(), svg.end(), tag); it != std::sregex_iterator(); ++it) {
        if ((*it)[1] == "/") {
            ASSERT_FALSE(open.empty());
            EXPECT_EQ(open.back(), (*it)[2]);
            open.pop_back();
        } else if ((*it)[3] != "/") {
            open.push_back((*it)[2]);
        }
    }
    EXPECT_TRUE(open.empty());
}

TimelinePicture picture(std::string title) { return {.title = std::move(title), .memory = {}, .device_memory = {}}; }

// Micro-batches 6 .. 8 in forwards of 10 ms on stage 0, each sent to stage 1 in 1 ms and computed there.
Trace two_stages() {
    HandMadeTrace t({0, 1});
    for (std::uint32_t i = 0; i < 3; ++i) {
        const auto f = t.add(0, compute, forward, 10.0 * i, 10.0 * i + 10);
        const auto x = t.add(0, send_next, pipeline_transfer, 10.0 * i + 10, 10.0 * i + 11, f);
        const auto g = t.add(1, compute, forward, 10.0 * i + 11, 10.0 * i + 21, x);
        for (const SpanIndex s : {f, x, g}) t.trace.spans[s].micro_batch = 6 + i;
    }
    std::ranges::stable_sort(t.trace.spans, {}, &Span::start);
    return t.trace;
}

TEST(TimelineSvg, DrawsABoxForEachSpanToScaleWithTheNumberOfItsMicroBatch) {
    const std::string svg = timeline_svg(two_stages(), picture("Two stages"));
    expect_well_formed(svg);
    EXPECT_THAT(svg, HasSubstr(">Two stages</text>"));
    EXPECT_THAT(svg, HasSubstr("One step takes 41.0 ms."));
    EXPECT_THAT(svg, HasSubstr(">stage 0</text>"));
    EXPECT_THAT(svg, HasSubstr(">stage 1</text>"));
    EXPECT_THAT(svg, HasSubstr("time in ms"));
    for (const char* number : {">6</text>", ">7</text>", ">8</text>"}) EXPECT_EQ(count(svg, number), 2u) << number;
    // The first of this colour is the legend's. 10 of 41 ms are 10/41 of the width of the idle rows, less the seam.
    const std::vector<Rectangle> forwards = rectangles(svg, style_of(SpanKind::forward).colour.hex()), rows = rectangles(svg, "#efefef");
    ASSERT_THAT(forwards, SizeIs(1 + 6));
    EXPECT_NEAR(forwards[1].width + 0.7, rows.back().width * 10 / 41, 0.02);
    EXPECT_EQ(forwards[1].x, rows.back().x);
}

TEST(TimelineSvg, KeepsEverythingInsideThePicture) {
    const std::string svg = timeline_svg(two_stages(), picture(std::string(400, 'W')));
    for (const Rectangle& r : rectangles(svg)) {
        EXPECT_GE(r.x, 0);
        EXPECT_LE(r.x + r.width, 1200.01);
    }
    EXPECT_THAT(svg, Not(HasSubstr(std::string(90, 'W') + "</text>")));
    EXPECT_THAT(svg, HasSubstr("W\u2026</text>"));
}

TEST(TimelineSvg, TitlesMayHoldAnything) {
    const std::string svg = timeline_svg(two_stages(), picture("a < b & \"c\"\n"));
    expect_well_formed(svg);
    EXPECT_THAT(svg, HasSubstr("a &lt; b &amp; &quot;c&quot; </text>"));
}

TEST(TimelineSvg, MemoryHasACurveOfItsHighestAndTheLineOfTheDevice) {
    MemoryTimeline m;
    m.base[MemoryKind::weights] = 30 * GB;
    m.curve = {{0 * ms, 0 * GB}, {10 * ms, 20 * GB}, {20 * ms, 0 * GB}};
    m.highest = 20 * GB, m.highest_at = 10 * ms;
    TimelinePicture p = picture("Memory");
    p.memory = {&m, 1};
    p.device_memory = 80 * GB;
    const std::string svg = timeline_svg(two_stages(), p);
    expect_well_formed(svg);
    EXPECT_THAT(svg, HasSubstr("peak 50.0 GB at 10.0 ms"));
    EXPECT_THAT(svg, HasSubstr("the device's 80.0 GB"));
    // Held all the time: 30 of the 80 GB that the curve is high.
    const std::vector<Rectangle> ground = rectangles(svg, "#fafafa"), base = rectangles(svg, "#d0d0d0");
    ASSERT_THAT(base, SizeIs(1));
    EXPECT_NEAR(base[0].height, ground[0].height * 30 / 80, 0.02);
}

TEST(TimelineSvg, AHugeTraceIsDrawnTogetherSaysSoAndStaysSmall) {
    // 70 stages, 3 000 forwards and exchanges in turn on each, a server beside them.
    Trace t;
    for (int r = 0; r < 71; ++r) t.ranks.push_back({.rank = r, .stage = r, .server = r == 70, .host = {}});
    t.names = {"forward"};
    for (std::uint32_t i = 0; i < 3000; ++i)
        for (GraphRank r = 0; r < 71; ++r) {
            Span s;
            s.start = i * 1 * ms, s.end = s.start + 1 * ms;
            s.rank = r, s.segment = i, s.micro_batch = i, s.kind = i % 2 == 0 ? forward : tensor_exchange;
            t.spans.push_back(s);
        }
    t.end = 3 * s;
    const std::string svg = timeline_svg(t, picture("Huge"));
    expect_well_formed(svg);
    EXPECT_LT(svg.size(), 2'000'000u);
    EXPECT_THAT(svg, HasSubstr("64 of 71 stages are shown."));
    EXPECT_THAT(svg, HasSubstr("There is more than can be drawn"));
    EXPECT_THAT(svg, HasSubstr(">server</text>"));
}

TEST(TimelineSvg, OneMicroBatchNeedsNoNumberAndOneStageNoName) {
    HandMadeTrace t({0});
    t.add(0, compute, forward, 0, 10);
    const std::string svg = timeline_svg(t.trace, picture("One rank"));
    EXPECT_THAT(svg, HasSubstr(">rank 0</text>"));
    EXPECT_THAT(svg, Not(HasSubstr("micro-batch")));
    EXPECT_THAT(timeline_svg(two_stages(), picture("Two stages")), HasSubstr("Numbers are those of micro-batches."));
}

TEST(TimelineSvg, ARecordingHasRanksAndWordsOfItsOwn) {
    TimelinePicture p = picture("Replayed");
    p.name_of = [](SpanKind) -> std::string_view { return "kernels"; };
    const std::string svg = timeline_svg(two_stages(), p);
    EXPECT_THAT(svg, HasSubstr(">rank 1</text>"));
    EXPECT_THAT(svg, HasSubstr(">kernels</text>"));
    EXPECT_THAT(svg, Not(HasSubstr("stage 1<")));
}

// Eight ranks of one stage, of which the first four have another device: without that they are one row.
TEST(TimelineSvg, ShowsARankOfEachKindOfDevices) {
    const SimulationReport played = simulate(bundled_scenario("two-kinds-of-gpus"));
    const std::string svg = timeline_svg(played.trace, picture_of(played));
    EXPECT_THAT(svg, HasSubstr(">rank 0, A30<"));
    EXPECT_THAT(svg, HasSubstr(">rank 4, A100 SXM4 40GB<"));
    EXPECT_THAT(svg, Not(HasSubstr(">rank 1")));
    TimelinePicture alike = picture_of(played);
    alike.kinds.reset();
    EXPECT_THAT(timeline_svg(played.trace, alike), Not(HasSubstr(">rank 4")));
}

TEST(TimelineSvg, OfNothingIsStillAPicture) { expect_well_formed(timeline_svg({}, picture(""))); }

TEST(TimelineBoxes, ASegmentBecomesOneBoxInTheColourOfItsLongestPart) {
    // Forward 8 ms in two kernels with an exchange of 3 ms between them; then another segment.
    HandMadeTrace t({0});
    t.add(0, compute, forward, 0, 4);
    t.add(0, compute, tensor_exchange, 4, 7);
    t.add(0, compute, forward, 7, 11);
    t.add(0, compute, backward, 11, 12);
    t.trace.spans[1].segment = t.trace.spans[2].segment = 0;
    SpanRow row;
    for (const Span& s : t.trace.spans) row.push_back(&s);
    EXPECT_THAT(boxes_of(row, Detail::spans), SizeIs(4));
    const std::vector<Box> boxes = boxes_of(row, Detail::segments);
    ASSERT_THAT(boxes, SizeIs(2));
    EXPECT_EQ(boxes[0].kind, forward);
    EXPECT_EQ(boxes[0].end, 11 * ms);
    // Three boxes of 3 ms at least on average: yes; of 4 ms: only as segments; of 7 ms: not even then.
    EXPECT_EQ(detail_for({row}, 3 * ms, 10), Detail::spans);
    EXPECT_EQ(detail_for({row}, 4 * ms, 10), Detail::segments);
    EXPECT_EQ(detail_for({row}, 7 * ms, 10), Detail::columns);
    EXPECT_EQ(detail_for({row}, 0 * ms, 3), Detail::segments);
}

TEST(TimelineBoxes, SegmentsOfOneMicroBatchThatFollowCloselyBecomeOneBoxToo) {
    // Forward 0 .. 10 and 10.2 .. 15 of micro-batch 0, at 16 that of micro-batch 1; later more of micro-batch 1.
    HandMadeTrace t({0});
    t.add(0, compute, forward, 0, 10);
    t.add(0, compute, forward, 10.2, 15);
    t.add(0, compute, forward, 16, 20);
    t.add(0, compute, forward, 22, 30);
    t.trace.spans[2].micro_batch = t.trace.spans[3].micro_batch = 1;
    SpanRow row;
    for (const Span& s : t.trace.spans) row.push_back(&s);
    const std::vector<Box> boxes = boxes_of(row, Detail::segments);
    ASSERT_THAT(boxes, SizeIs(3));
    EXPECT_EQ(boxes[0].end, 15 * ms);
    EXPECT_EQ(boxes[1].micro_batch, 1u);
    EXPECT_THAT(boxes_of(row, Detail::spans), SizeIs(4));
}

TEST(TimelineBoxes, AColumnIsDividedAmongWhatItsTimeWasSpentOn) {
    HandMadeTrace t({0});
    t.add(0, compute, forward, 0, 4);
    t.add(0, compute, backward, 4, 15);
    const std::vector<TimeByKind> columns = columns_of({&t.trace.spans[0], &t.trace.spans[1]}, 10 * ms);
    ASSERT_THAT(columns, SizeIs(2));
    EXPECT_NEAR(columns[0][forward] / ms, 4, 1e-9);
    EXPECT_NEAR(columns[0][backward] / ms, 6, 1e-9);
    EXPECT_NEAR(columns[1][backward] / ms, 5, 1e-9);
}

TEST(Svg, ATextThatDoesNotFitIsShortenedBetweenCharacters) {
    EXPECT_EQ(svg::shortened("short", 10, 100), "short");
    const std::string cut = svg::shortened("\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4", 10, 50);
    EXPECT_EQ(cut, "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u2026");  // 6 of 6.4 pixels and an ellipsis of at most 10
}

TEST(Svg, LinesBreakBetweenWords) { EXPECT_THAT(svg::wrapped("aaa bbb ccc", 10, 45), testing::ElementsAre("aaa bbb", "ccc")); }

}  // namespace
}  // namespace sextant::hand_made
