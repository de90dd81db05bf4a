// What of a timeline can be seen: traces written down span by span, in milliseconds.
#include "gui/models/timeline/lanes.hpp"

#include "gui/models/timeline/rows.hpp"
#include "gui/models/timeline/segments.hpp"
#include "tests/properties/draw.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

namespace sextant::gui {
namespace {

using namespace units;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class TraceWriter {
public:
    explicit TraceWriter(int ranks = 1) {
        for (int r = 0; r < ranks; ++r) trace.ranks.push_back({r, 0, 1, false, {}});
        trace.names = {"forward, block 0", "all_reduce of gradients, block 7"};
    }
    SpanIndex add(double from, double to, SpanKind kind = SpanKind::forward, GraphRank rank = 0, Stream stream = Stream::compute) {
        const auto index = static_cast<SpanIndex>(trace.spans.size());
        const std::uint32_t name = runs_kernels(kind) ? 0 : 1;
        trace.spans.push_back({from * ms, to * ms, {}, {}, index, index, rank, 0, name, 0, stream, kind});
        trace.end = max(trace.end, to * ms);
        return index;
    }

    Trace trace;
};

Window window(double from, double to, int pixels) { return {from * ms, to * ms, pixels}; }

TEST(Lanes, ShowEachSpanThatIsAsWideAsAPixel) {
    TraceWriter w;
    const SpanIndex a = w.add(0, 4), b = w.add(4, 9, SpanKind::backward);
    const Lanes lanes(w.trace);
    EXPECT_THAT(lanes.pieces(0, window(0, 10, 10)),
                ElementsAre(LanePiece{0, 4, SpanKind::forward, 1, a}, LanePiece{4, 9, SpanKind::backward, 1, b}));
    // Of 5 pixels, from 2 to 7 ms: two of the first and three of the second.
    EXPECT_THAT(lanes.pieces(0, window(2, 7, 5)),
                ElementsAre(LanePiece{0, 2, SpanKind::forward, 1, a}, LanePiece{2, 5, SpanKind::backward, 1, b}));
    EXPECT_THAT(lanes.pieces(0, window(9.5, 10, 100)), IsEmpty());
}

// In each pixel ten times 0.3 ms forward, 0.2 ms backward, and half of the time nothing.
TEST(Lanes, GatherWhatIsNarrowerThanAPixel) {
    TraceWriter w;
    for (int i = 0; i < 200; ++i) {
        w.add(i, i + 0.3);
        w.add(i + 0.3, i + 0.5, SpanKind::backward);
    }
    const Lanes lanes(w.trace);
    EXPECT_THAT(lanes.pieces(0, window(0, 200, 20)),
                ElementsAre(LanePiece{0, 20, SpanKind::forward, 0.5, {}, 0, 5}, LanePiece{0, 20, SpanKind::backward, 0.5, {}, 5, 8}));
}

TEST(Lanes, DrawNoPatternWhereKindsTakeAboutTheSame) {
    TraceWriter w;
    for (int i = 0; i < 100; ++i) {  // 52 % forward in even pixels, 48 % in odd ones
        const double forward = i / 10 % 2 == 0 ? 0.52 : 0.48;
        w.add(i, i + forward);
        w.add(i + forward, i + 1, SpanKind::backward);
    }
    const Lanes lanes(w.trace);
    EXPECT_THAT(lanes.pieces(0, window(0, 100, 10)),
                ElementsAre(LanePiece{0, 10, SpanKind::forward, 1, {}, 0, 4}, LanePiece{0, 10, SpanKind::backward, 1, {}, 4, 8}));
}

// One part in a hundred is not an eighth of the height.
TEST(Lanes, LeaveOutWhatTakesHardlyAnything) {
    TraceWriter w;
    for (int i = 0; i < 100; ++i) {
        w.add(i, i + 0.56);
        w.add(i + 0.56, i + 0.57, SpanKind::backward);
        w.add(i + 0.57, i + 1, SpanKind::optimizer);
    }
    const Lanes lanes(w.trace);
    EXPECT_THAT(lanes.pieces(0, window(0, 100, 10)),
                ElementsAre(LanePiece{0, 10, SpanKind::forward, 1, {}, 0, 5}, LanePiece{0, 10, SpanKind::optimizer, 1, {}, 5, 8}));
}

TEST(Lanes, ShowALonelySpanHoweverShort) {
    TraceWriter w;
    w.add(0, 1e-6);
    w.add(500, 500 + 1e-6, SpanKind::optimizer);
    w.add(1000 - 1e-6, 1000);
    EXPECT_THAT(Lanes(w.trace).pieces(0, window(0, 1000, 10)),
                ElementsAre(LanePiece{0, 1, SpanKind::forward, 0.125, {}}, LanePiece{5, 6, SpanKind::optimizer, 0.125, {}},
                            LanePiece{9, 10, SpanKind::forward, 0.125, {}}));
}

TEST(Lanes, GiveAnExchangeBehindKernelsALaneOfItsOwn) {
    TraceWriter w;
    w.add(0, 1);
    const SpanIndex hidden = w.add(1, 4, SpanKind::tensor_exchange);
    w.add(1, 6);
    const Lanes lanes(w.trace);
    EXPECT_THAT(lanes.lanes(), ElementsAre(Lane{0, Stream::compute, false}, Lane{0, Stream::compute, true}));
    EXPECT_EQ(lanes.lane_of(hidden), 1U);
    EXPECT_THAT(lanes.spans(1), ElementsAre(hidden));
}

TEST(Lanes, KnowWhatIsUnderThePointer) {
    TraceWriter w(2);
    const SpanIndex a = w.add(0, 4), other = w.add(1, 2, SpanKind::forward, 1), b = w.add(6, 9);
    const Lanes lanes(w.trace);
    EXPECT_EQ(lanes.at(0, 3 * ms, {}), a);
    EXPECT_EQ(lanes.at(0, 4.5 * ms, 1 * ms), a) << "half a millisecond beside it";
    EXPECT_EQ(lanes.at(0, 5.5 * ms, 1 * ms), b);
    EXPECT_EQ(lanes.at(0, 5 * ms, 0.5 * ms), std::nullopt);
    EXPECT_EQ(lanes.at(1, 1.5 * ms, {}), other);
}

// Of the same lanes, so that both are painted into the same rows.
TEST(Lanes, OfSomeSpansAreThoseOfAll) {
    TraceWriter w(3);
    w.add(0, 1, SpanKind::forward, 0);
    const SpanIndex path = w.add(1, 2, SpanKind::forward, 2);
    w.add(1, 2, SpanKind::forward, 1);
    const Lanes all(w.trace), some(w.trace, all, std::vector{path});
    EXPECT_THAT(some.lanes(), SizeIs(3));
    EXPECT_THAT(some.spans(0), IsEmpty());
    EXPECT_THAT(some.spans(2), ElementsAre(path));
    EXPECT_THAT(some.pieces(1, window(0, 2, 10)), IsEmpty());
}

// What is painted covers as much time as the spans do, at any zoom: pixels and eighths of them are all that may be lost.
TEST(Lanes, CoverTheTimeOfTheirSpansAtEveryZoom) {
    Draw draw(1);
    for (int round = 0; round < 40; ++round) {
        TraceWriter w;
        double now = 0;
        const int count = 1 + static_cast<int>(draw.below(5000));
        for (int i = 0; i < count; ++i) {
            const double scale = std::pow(10.0, static_cast<double>(draw.below(5)) - 3);
            now += scale * static_cast<double>(draw.below(100)) / 100;
            const double length = scale * static_cast<double>(1 + draw.below(100)) / 100;
            w.add(now, now + length, static_cast<SpanKind>(draw.below(4)));
            now += length;
        }
        const Lanes lanes(w.trace);
        for (const int pixels : {1, 7, 300, 4000}) {
            const Window shown = window(0.1 * now, 0.9 * now, pixels);
            Seconds painted, busy;
            for (const LanePiece& p : lanes.pieces(0, shown))
                painted += p.covered * (p.right - p.left) * (p.bottom - p.top) / LanePiece::parts * shown.pixel();
            for (const Span& s : w.trace.spans) busy += max(Seconds{}, min(s.end, shown.to) - max(s.start, shown.from));
            EXPECT_NEAR(painted / (shown.to - shown.from), busy / (shown.to - shown.from), 0.14) << count << " spans in " << pixels;
        }
    }
}

TEST(Segments, AreFoundByWordsOfTheirNameAndKind) {
    TraceWriter w;
    const SpanIndex a = w.add(0, 1), b = w.add(1, 2, SpanKind::data_exchange, 0, Stream::communication), c = w.add(2, 3);
    EXPECT_THAT(find_spans(w.trace, QStringLiteral("FORWARD")), ElementsAre(a, c));
    EXPECT_THAT(find_spans(w.trace, QStringLiteral("data all_reduce")), ElementsAre(b)) << "a word of the kind and one of the name";
    EXPECT_THAT(find_spans(w.trace, QStringLiteral("block")), ElementsAre(a, b, c));
    EXPECT_THAT(find_spans(w.trace, QStringLiteral("nothing like it")), IsEmpty());
    EXPECT_THAT(find_spans(w.trace, QStringLiteral("  ")), IsEmpty());
}

TEST(Segments, AreTiedToTheirCauseAndToWhatTheyLetBegin) {
    TraceWriter w(2);
    const SpanIndex a = w.add(0, 1), b = w.add(1, 2, SpanKind::backward), c = w.add(2, 3, SpanKind::forward, 1), d = w.add(2, 4);
    w.trace.spans[b].cause = a;
    w.trace.spans[c].cause = w.trace.spans[d].cause = b;
    const Timeline t = lay_out(std::make_shared<const Trace>(w.trace));
    EXPECT_THAT(ties_of(t, b), ElementsAre(Tie{a, b, TieKind::cause}, Tie{b, c, TieKind::effect}, Tie{b, d, TieKind::effect}));
    EXPECT_THAT(ties_of(t, b, 1), SizeIs(2)) << "one of each kind";
    EXPECT_THAT(ties_of(t, a), ElementsAre(Tie{a, b, TieKind::effect}));
}

// Rank 0 runs 1 + 2 ms forward, of which the range has 2; an exchange of 2 ms has 1 in it.
TEST(Segments, AreSummedByRankAndKindWithinARange) {
    TraceWriter w;
    w.add(0, 1);
    w.add(2, 4);
    w.add(3, 5, SpanKind::data_exchange, 0, Stream::communication);
    TableModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.set_table(kinds_table(w.trace, 2 * ms, 4 * ms));
    ASSERT_EQ(model.rowCount(), 2);
    EXPECT_EQ(model.index(0, 3).data().toString(), QStringLiteral("forward"));
    EXPECT_EQ(model.index(0, 4).data().toInt(), 1);
    EXPECT_DOUBLE_EQ(model.index(0, 5).data().toDouble(), 2e-3);
    EXPECT_EQ(model.index(1, 3).data().toString(), QStringLiteral("data communication"));
    EXPECT_DOUBLE_EQ(model.index(1, 5).data().toDouble(), 1e-3);
}

TEST(Segments, AreNamedAfterTheWorkThatTheyAre) {
    TraceWriter w;
    w.trace.names = {"backward, block 0", "all_reduce of gradients, block 7"};
    const SpanIndex backward = w.add(0, 1, SpanKind::backward), again = w.add(1, 2, SpanKind::recompute);
    EXPECT_EQ(work_of(w.trace, w.trace.spans[backward]), QStringLiteral("backward, block 0"));
    EXPECT_EQ(work_of(w.trace, w.trace.spans[again]), QStringLiteral("recompute, block 0"));
    EXPECT_TRUE(figures_of(w.trace.spans[again], 4 * ms).contains(QStringLiteral("25\u00a0% of the step")));
}

// Four intervals of 1 s; from 0.5 to 2 s there are half of the first and the whole second.
TEST(Segments, KnowHowBusyALinkWasWithinARange) {
    const UtilizationSeries series{"a -> b", 1, {0.2, 0.8, 1, 0}};
    EXPECT_NEAR(mean_within(series, 4 * s, 0.5 * s, 2 * s), (0.1 + 0.8) / 1.5, 1e-12);
    EXPECT_DOUBLE_EQ(mean_within(series, 4 * s, {}, 4 * s), 0.5);
    EXPECT_DOUBLE_EQ(mean_of(series), 0.5);
}

TEST(Rows, HaveTheLinksThatWereFullestAndThoseThatWereUsedMost) {
    SimulationReport report;
    report.links = {{"idle", 1, {0, 0}}, {"steady", 1, {0.6, 0.6}}, {"full once", 1, {0, 1}}, {"little", 1, {0.1, 0}}};
    const auto names = [&](std::size_t most) {
        std::vector<std::string> list;
        for (const UtilizationSeries* link : busiest_links(report, most)) list.push_back(link->name);
        return list;
    };
    EXPECT_THAT(names(2), ElementsAre("full once", "steady"));
    EXPECT_THAT(names(9), ElementsAre("full once", "steady", "little")) << "those that carry nothing are left out";
}

TEST(Rows, PutWhatWasMeasuredBelowWhatWasPredictedOfTheSame) {
    TraceWriter w(2);
    for (const GraphRank r : {0U, 1U}) w.add(0, 1, SpanKind::forward, r);
    const Timeline t = lay_out(std::make_shared<const Trace>(w.trace));
    std::vector<std::string> names;
    for (const RankRows& r : rank_rows(t, &t)) names.push_back(r.name.toStdString());
    EXPECT_THAT(names, ElementsAre("rank 0, predicted", "rank 0, measured", "rank 1, predicted", "rank 1, measured"));
    // One predicted rank stands for both.
    TraceWriter folded;
    folded.trace.ranks[0].multiplicity = 2;
    folded.add(0, 1);
    names.clear();
    for (const RankRows& r : rank_rows(lay_out(std::make_shared<const Trace>(folded.trace)), &t)) names.push_back(r.name.toStdString());
    EXPECT_THAT(names, ElementsAre("rank 0 \u00d72, predicted", "rank 0, measured", "rank 1, measured"));
}

}  // namespace
}  // namespace sextant::gui
