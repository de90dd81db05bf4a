// The timeline as people use it: with the wheel, the pointer and keys.
#include "gui/models/simulated.hpp"
#include "gui/views/timeline/canvas.hpp"
#include "tests/gui/desk.hpp"

#include <gmock/gmock.h>

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>
#include <QThreadPool>
#include <QWheelEvent>

namespace sextant::gui {
namespace {

using testing::HasSubstr;

class TimelineFlows : public Desk {
protected:
    void show(const std::string& scenario) {
        open(scenario);
        show_view("timeline");
    }
    // The scenario of the kept runs, and the run of it with two data-parallel ranks.
    void show_scenario_of_run() {
        predictor.open(SEXTANT_SOURCE_DIR "/tests/io/runs/scenario.json");
        wait_for([&] { return workbench.session() != nullptr; });
        show_view("timeline");
    }
    void open_run() {
        window.files().open(QStringLiteral(SEXTANT_SOURCE_DIR "/tests/io/runs/data_parallel.json"));
        wait_for([&] { return workbench.session()->measured != nullptr; });
        settle();
    }
    TimelineCanvas& canvas() { return find<TimelineCanvas>("timeline"); }
    const TimelineAspect& aspect() { return canvas().aspect(); }
    const Trace& trace() { return *canvas().content()->simulated->timeline.trace; }

    // Where a span is on the screen.
    QPoint place_of(SpanIndex s) {
        const TimelinePicture picture(*canvas().content(), aspect(), canvas().rect());
        const Window shown{aspect().from, aspect().to, static_cast<int>(picture.body().width())};
        const Seconds middle = 0.5 * (trace().spans[s].start + trace().spans[s].end);
        return QPointF(picture.body().left() + shown.x_of(middle), picture.row_of({Origin::predicted, s})->center().y()).toPoint();
    }
    SpanIndex first_of(SpanKind kind) {
        return static_cast<SpanIndex>(std::ranges::find(trace().spans, kind, &Span::kind) - trace().spans.begin());
    }
    void turn_wheel(QPoint at, int notches) {
        QWheelEvent turn(at, canvas().mapToGlobal(at), {}, {0, 120 * notches}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(&canvas(), &turn);
    }
    void drag(QPoint from, QPoint to, Qt::KeyboardModifiers keys = Qt::NoModifier) {
        QTest::mousePress(&canvas(), Qt::LeftButton, keys, from);
        for (int i = 1; i <= 4; ++i) {
            QMouseEvent move(QEvent::MouseMove, from + (to - from) * i / 4, canvas().mapToGlobal(from + (to - from) * i / 4), Qt::NoButton,
                             Qt::LeftButton, keys);
            QCoreApplication::sendEvent(&canvas(), &move);
        }
        QTest::mouseRelease(&canvas(), Qt::LeftButton, keys, to);
    }
};

TEST_F(TimelineFlows, TheStepIsPlayedWhenItIsLookedAtAndNotBefore) {
    open("gpt3-175b-1024xa100");
    EXPECT_FALSE(workbench.session()->simulated);
    show_view("timeline");
    ASSERT_TRUE(workbench.session()->simulated);
    EXPECT_EQ(aspect().from, Seconds{});
    EXPECT_EQ(aspect().to, trace().end) << "all of it";
    EXPECT_EQ(canvas().content()->ranks.size(), 8U) << "one for each stage";
}

TEST_F(TimelineFlows, TheWheelZoomsAboutThePointer) {
    show("gpt3-175b-1024xa100");
    const QPoint at(600, 60);
    const auto time_there = [&] { return TimelinePicture(*canvas().content(), aspect(), canvas().rect()).time_at(at.x()); };
    const Seconds before = time_there();
    turn_wheel(at, 3);
    EXPECT_NEAR((aspect().to - aspect().from) / trace().end, 1 / std::pow(1.25, 3), 1e-9);
    EXPECT_NEAR(time_there() / before, 1, 1e-9) << "what is under the pointer stays there";
    turn_wheel(at, -20);
    EXPECT_NEAR((aspect().to - aspect().from) / trace().end, 1, 1e-12) << "no farther than all of it";
}

TEST_F(TimelineFlows, KeysZoomAndMoveAndFit) {
    show("gpt3-175b-1024xa100");
    QTest::keyClick(&canvas(), Qt::Key_W);
    const Seconds length = aspect().to - aspect().from;
    EXPECT_NEAR(trace().end / length, 1.4, 1e-9);
    const Seconds from = aspect().from;
    QTest::keyClick(&canvas(), Qt::Key_D);
    EXPECT_NEAR((aspect().from - from) / length, 0.15, 1e-9);
    QTest::keyClick(&canvas(), Qt::Key_Home);
    EXPECT_EQ(aspect().from, Seconds{});
    QTest::keyClick(&canvas(), Qt::Key_End);
    EXPECT_NEAR(aspect().to / trace().end, 1, 1e-12);
    QTest::keyClick(&canvas(), Qt::Key_F);
    EXPECT_EQ(aspect().from, Seconds{});
    EXPECT_EQ(aspect().to, trace().end);
}

TEST_F(TimelineFlows, DraggingMovesAndWithShiftSelectsARangeForAllViews) {
    show("gpt3-175b-1024xa100");
    turn_wheel({600, 60}, 4);
    const Seconds from = aspect().from;
    drag({700, 60}, {600, 60});
    EXPECT_GT(aspect().from, from);
    drag({400, 60}, {600, 60}, Qt::ShiftModifier);
    const auto range = selection.now().range;
    ASSERT_TRUE(range);
    const TimelinePicture picture(*canvas().content(), aspect(), canvas().rect());
    EXPECT_NEAR(range->from / picture.time_at(400), 1, 1e-9);
    EXPECT_NEAR(range->to / picture.time_at(600), 1, 1e-9);
    settle();
    const auto details = [this] { return find<QLabel>("segment_details").text().toStdString(); };
    EXPECT_THAT(details(), HasSubstr("selected"));
    EXPECT_THAT(details(), HasSubstr("The critical path: backward"));
    QTest::keyClick(&canvas(), Qt::Key_F);
    EXPECT_NEAR(aspect().from / range->from, 1, 1e-9) << "F fits the range";
    QTest::keyClick(&canvas(), Qt::Key_Escape);
    EXPECT_FALSE(selection.now().range);
    settle();
    EXPECT_THAT(details(), HasSubstr("Click a segment"));
}

// Two ranks and one that stands for two: of 4 ranks one computes forward for 3 of the 4 seconds that are looked at, two for 2 of them,
// which is (3 + 2 * 2) / 4 = 1.75 s on average, 44 %; of backward 1.6 s, which is 0.4 s, 10 %. The path is the first rank's, whose second
// span began before the first had ended.
TEST(Shares, AreOfAllRanksOnAverageAndOfThePathOnce) {
    Trace trace;
    trace.ranks.resize(3);
    trace.ranks[1].multiplicity = 2;
    const auto span = [](GraphRank rank, SpanKind kind, double from, double to) {
        Span s;
        s.rank = rank;
        s.kind = kind;
        s.start = Seconds::from_si(from);
        s.end = Seconds::from_si(to);
        return s;
    };
    trace.spans = {span(0, SpanKind::forward, 0, 4), span(1, SpanKind::forward, 3, 9), span(0, SpanKind::backward, 3.4, 5)};
    const Seconds from = Seconds::from_si(1), to = Seconds::from_si(5);
    const auto words = [&](const TimeByKind& times) {
        return shares_text(times, to - from).replace(QChar(0xa0), QLatin1Char(' ')).toStdString();
    };
    EXPECT_EQ(words(kinds_within(trace, from, to)), "forward 44 %, backward 10 %");
    Timeline timeline;
    timeline.trace = std::make_shared<const Trace>(trace);
    timeline.path.spans = {0, 2};
    EXPECT_EQ(words(path_within(timeline, from, to)), "forward 75 %, backward 25 %");
    EXPECT_EQ(words({}), "nothing");
}

TEST_F(TimelineFlows, NamesEveryStreamThatItShows) {
    show("deepseek-v3-2048xh100");
    EXPECT_GE(0.64 * aspect().row_height, 8.5) << "as high as a small letter";
}

TEST_F(TimelineFlows, TellsTheTimeBelowThePointer) {
    show("default");
    QMouseEvent move(QEvent::MouseMove, QPointF(400, 60), canvas().mapToGlobal(QPointF(400, 60)), Qt::NoButton, Qt::NoButton, {});
    QCoreApplication::sendEvent(&canvas(), &move);
    EXPECT_EQ(aspect().pointer, 400.0);
    QEvent leave(QEvent::Leave);
    QCoreApplication::sendEvent(&canvas(), &leave);
    EXPECT_FALSE(aspect().pointer);
}

TEST_F(TimelineFlows, AClickTellsAllAboutASegment) {
    show("default");
    const SpanIndex exchange = first_of(SpanKind::data_exchange);
    QTest::mouseClick(&canvas(), Qt::LeftButton, {}, place_of(exchange));
    settle();
    ASSERT_EQ(aspect().chosen, (ChosenSpan{Origin::predicted, exchange}));
    EXPECT_EQ(selection.now().segment, trace().spans[exchange].segment);
    EXPECT_EQ(selection.now().rank, GraphRank{0});
    const std::string details = find<QLabel>("segment_details").text().toStdString();
    EXPECT_THAT(details, HasSubstr("all-reduce"));
    EXPECT_THAT(details, HasSubstr("passes on"));
    EXPECT_THAT(details, HasSubstr("Began when this ended: backward"));
    ASSERT_FALSE(aspect().ties.empty()) << "arrows";
    QTest::keyClick(&canvas(), Qt::Key_BracketLeft);
    EXPECT_EQ(aspect().chosen->span, trace().spans[exchange].cause) << "[ goes to the cause";
    QTest::keyClick(&canvas(), Qt::Key_Escape);
    EXPECT_FALSE(aspect().chosen);
    EXPECT_FALSE(selection.now().segment);
}

TEST_F(TimelineFlows, SearchGoesFromOneToTheNext) {
    show("gpt3-175b-1024xa100");
    auto& words = find<QLineEdit>("timeline_search");
    window.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
    QTest::keyClick(&window, Qt::Key_F, Qt::ControlModifier);
    EXPECT_TRUE(words.hasFocus());
    QTest::keyClicks(&words, QStringLiteral("optimizer"));
    settle();
    QTest::keyClick(&words, Qt::Key_Return);
    ASSERT_TRUE(aspect().chosen);
    EXPECT_THAT(title_of(trace(), trace().spans[aspect().chosen->span]).toStdString(), HasSubstr("optimizer"));
    const SpanIndex first = aspect().chosen->span;
    QTest::keyClick(&words, Qt::Key_Return);
    EXPECT_GT(aspect().chosen->span, first);
    QTest::keyClick(&window, Qt::Key_F3, Qt::ShiftModifier);
    wait_for([&] { return aspect().chosen->span == first; });
}

TEST_F(TimelineFlows, AnEditLeavesTheOldStepToBeSeenUntilTheNewOneIsPlayed) {
    show("gpt3-175b-1024xa100");
    const auto old = canvas().content();
    workbench.edit({{"plan.pp", "16"}});
    EXPECT_FALSE(workbench.session()->simulated);
    EXPECT_EQ(canvas().content(), old) << "what is there stays to be seen";
    settle();
    EXPECT_NE(canvas().content(), old);
    EXPECT_EQ(canvas().content()->ranks.size(), 16U);
    workbench.undo();
    settle();
    EXPECT_EQ(canvas().content()->ranks.size(), 8U);
}

TEST_F(TimelineFlows, OfManyQuickEditsTheLastIsPlayed) {
    show("gpt3-175b-1024xa100");
    for (int batch = 1; batch <= 20; ++batch) workbench.edit({{"plan.global_batch", std::to_string(16 * batch)}});
    settle();
    ASSERT_TRUE(workbench.session()->simulated);
    std::uint32_t micro_batches = 0;
    for (const Span& s : trace().spans) micro_batches = std::max(micro_batches, s.micro_batch + 1);
    EXPECT_EQ(micro_batches, 20U) << "320 over 16 replicas, one at a time";
}

// Those that were stopped would take the processor from the answer that comes next.
TEST_F(TimelineFlows, OneStepIsPlayedAtATime) {
    open("megatron-1t-3072xa100");
    Session question = *workbench.session();
    for (const double compute : {1.2, 1.4, 1.7, 2.0}) {
        question.what_if.compute = compute;
        emit workbench.simulation_wanted(std::make_shared<const Session>(question));
    }
    EXPECT_TRUE(simulator.is_running());
    EXPECT_EQ(QThreadPool::globalInstance()->activeThreadCount(), 1);
    workbench.stop_simulation();
    settle();
    EXPECT_FALSE(workbench.session()->simulated);
}

TEST_F(TimelineFlows, PlayingCanBeStoppedAndTakenUpAgain) {
    open("megatron-1t-3072xa100");
    window.show_view("timeline");
    EXPECT_TRUE(simulator.is_running());
    const auto& state = find<QLabel>("simulation_state");
    wait_for([&] { return state.isVisible(); });
    auto& button = *state.parentWidget()->findChild<QPushButton*>();
    button.click();
    EXPECT_FALSE(simulator.is_running());
    settle();
    EXPECT_FALSE(workbench.session()->simulated);
    EXPECT_TRUE(state.isVisible()) << "what is shown is not of this plan";
    button.click();
    settle();
    EXPECT_TRUE(workbench.session()->simulated);
    EXPECT_FALSE(state.isVisible());
}

TEST_F(TimelineFlows, AWhatIfIsPlayedAsItIsDragged) {
    show("gpt3-175b-1024xa100");
    const Seconds before = trace().end;
    for (const double compute : {1.2, 1.4, 1.7, 2.0}) workbench.set_what_if({.compute = compute});
    settle();
    const SimulationReport& faster = *workbench.session()->simulated->report;
    EXPECT_LT(trace().end, 0.8 * before);
    EXPECT_EQ(faster.predicted_step, step()) << "of the same question";
    workbench.set_what_if({});
    settle();
    EXPECT_EQ(trace().end, before);
}

TEST_F(TimelineFlows, ARunIsLaidBelowThePrediction) {
    show_scenario_of_run();
    open_run();
    std::vector<std::string> names;
    for (const RankRows& r : canvas().content()->ranks) names.push_back(r.name.toStdString());
    EXPECT_THAT(names, testing::ElementsAre("rank 0 \u00d72, predicted", "rank 0, measured", "rank 1, measured"));
    EXPECT_EQ(canvas().content()->end, max(trace().end, workbench.session()->measured->timeline.trace->end)) << "one scale for both";
    edit({{"plan.micro_batch", "1"}});
    EXPECT_TRUE(workbench.session()->measured) << "to compare other plans with";
    workbench.undo();
    EXPECT_TRUE(workbench.session()->measured);
}

TEST_F(TimelineFlows, ARunOfAnotherPlanIsCalledSo) {
    const auto headline = [this] { return find<QLabel>("timeline.headline").text().toStdString(); };
    show_scenario_of_run();
    open_run();
    EXPECT_THAT(headline(), HasSubstr("times the predicted"));
    edit({{"plan.micro_batch", "1"}});
    EXPECT_THAT(headline(), HasSubstr("of another plan"));
    EXPECT_THAT(headline(), Not(HasSubstr("times the predicted")));
    open("gpt3-175b-1024xa100");
    open_run();
    EXPECT_THAT(headline(), HasSubstr("the run has 2 ranks, this plan 1024"));
}

TEST_F(TimelineFlows, ARunWithoutItsScenarioIsRefusedInWords) {
    window.files().open(QStringLiteral(SEXTANT_SOURCE_DIR "/tests/io/runs/data_parallel.json"));
    wait_for([&] { return window.findChild<QWidget*>(QStringLiteral("refusal")) != nullptr; });
    EXPECT_FALSE(workbench.session());
}

TEST_F(TimelineFlows, ABrokenTraceIsToldAndNothingIsLost) {
    show("default");
    const auto before = workbench.session();
    window.files().open(write_file("broken.h5", "no HDF5 at all"));
    wait_for([&] { return window.findChild<QWidget*>(QStringLiteral("refusal")) != nullptr; });
    EXPECT_EQ(workbench.session(), before);
}

TEST_F(TimelineFlows, TheCriticalPathStandsOut) {
    show("gpt3-175b-1024xa100");
    const QImage before = canvas().grab().toImage();
    find<QCheckBox>("critical_path").click();
    EXPECT_TRUE(aspect().critical_path);
    EXPECT_NE(canvas().grab().toImage(), before);
}

}  // namespace
}  // namespace sextant::gui
