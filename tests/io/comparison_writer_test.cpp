#include "model/io/report/comparison_writer.hpp"

#include "tests/report/hand_made_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <sstream>

namespace sextant {
namespace {

using namespace units;
using hand_made::HandMadeTrace;
using Json = nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

Terms terms(Seconds forward, Seconds backward, Seconds launch) {
    Terms t;
    t[Term::forward] = forward, t[Term::backward] = backward, t[Term::launch] = launch;
    return t;
}

// Forward 30 ms where 40 were predicted, backward 90 where 50 were, 10 ms of waiting for the host.
Comparison a_comparison() {
    Comparison c;
    c.prediction.scenario = "two layers";
    c.prediction.plan = "1 device";
    c.prediction.sample_word = "image";
    c.prediction.low = 60 * ms, c.prediction.high = 120 * ms;
    c.prediction.estimate.memory.resize(1);
    c.steps = {.count = 4, .median = 130 * ms, .fastest = 125 * ms, .slowest = 140 * ms, .first = 300 * ms};
    c.step = {90 * ms, 91 * ms, 130 * ms};
    c.samples_per_s = {100 * Hz, 99 * Hz, 69 * Hz};
    c.first_loss = 2.5, c.last_loss = 1.25;
    c.traced_step = 130 * ms;
    c.terms = {terms(40 * ms, 50 * ms, 0 * ms), terms(40 * ms, 51 * ms, 0 * ms), terms(30 * ms, 90 * ms, 10 * ms)};
    RankComparison r;
    r.host = "node7", r.processor = "abacus";
    r.simulated = {91 * ms, c.terms.simulated, {}};
    r.measured = {130 * ms, c.terms.measured, {}};
    r.predicted_memory = {200 * MB, 300 * MB};
    r.measured_memory = {210 * MB, 450 * MB};
    c.ranks = {r};
    c.kernels = {{SpanKind::backward, 50 * GFLOP / s, 25 * GFLOP / s}};
    c.exchanges = {{SpanKind::data_exchange, 21 * MB, 2 * GB / s, 1 * GB / s}};
    c.residual = {Term::backward, 40 * ms, 2.0 / 3, "rate of abacus", {}, 0.5};
    c.residual.input = InputUsed{"rate of abacus", "64 GFLOP/s", SourceKind::estimated, "a guess"};
    c.memory_residual = MemoryResidual{0, 150 * MB, 300 * MB, "libraries", {}};
    c.notes = {"mind the gap"};
    return c;
}

TEST(ComparisonText, ShowsEachTermThreeTimesWithItsRatioAndABarTowardsWhatWasMeasured) {
    // The largest difference, 40 ms, fills 16 marks: a mark is 2.5 ms.
    const std::string text = comparison_to_text(a_comparison());
    EXPECT_THAT(text, HasSubstr("a # is 2.5 ms"));
    EXPECT_THAT(text, HasSubstr("  forward     40.0 ms    40.0 ms   30.0 ms  0.750              ####|\n"));
    EXPECT_THAT(text, HasSubstr("  backward    50.0 ms    51.0 ms   90.0 ms   1.80                  |################\n"));
    EXPECT_THAT(text, HasSubstr("  launch                           10.0 ms                         |####\n"));
    EXPECT_THAT(text, HasSubstr("  sum         90.0 ms    91.0 ms    130 ms   1.44\n"));
}

TEST(ComparisonText, ShowsOperatorsWhereTheirTimesAreKnown) {
    EXPECT_THAT(comparison_to_text(a_comparison()), Not(HasSubstr("Operators")));
    Comparison c = a_comparison();
    c.operators = {{"layer", "fc1", SpanKind::backward, 4, 5 * ms, 9 * ms}, {"layer", "act", SpanKind::forward, 2, {}, 1 * ms}};
    const std::string text = comparison_to_text(c);
    // 4 calls of 4 ms more fill 16 marks: a mark is 1 ms.
    EXPECT_THAT(text, HasSubstr("  fc1 of layer  backward   4.00    5.00 ms   9.00 ms   1.80                  |################\n"));
    EXPECT_THAT(text, HasSubstr("  act of layer   forward   2.00              1.00 ms                         |##\n"));
    EXPECT_THAT(text, HasSubstr("  all 2                            20.0 ms   38.0 ms   1.90"));
    const Json json = Json::parse(comparison_to_json(c));
    EXPECT_NEAR(json["operators"][0]["ratio"].get<double>(), 1.8, 1e-12);
    EXPECT_TRUE(json["operators"][1]["ratio"].is_null());
}

TEST(ComparisonText, SaysWhatRanHowLongAndWhetherThatWasToBeExpected) {
    const std::string text = comparison_to_text(a_comparison());
    EXPECT_THAT(text, HasSubstr("4 steps on 1 rank, host node7, abacus"));
    EXPECT_THAT(text, HasSubstr("125 ms to 140 ms, the first, a warm-up, 300 ms"));
    EXPECT_THAT(text, HasSubstr("predicted 60.0 ms to 120 ms: the measurement lies outside"));
    EXPECT_THAT(text, HasSubstr("2.500 → 1.250"));
    EXPECT_THAT(text, HasSubstr("images/s"));
    EXPECT_THAT(text, Not(HasSubstr("communication hidden")));
    EXPECT_THAT(text, Not(HasSubstr("bubble")));
}

TEST(ComparisonText, ShowsRanksMemoryAndRates) {
    const std::string text = comparison_to_text(a_comparison());
    EXPECT_THAT(text, HasSubstr("rank 0, stage 0  91.0→130 ms  40.0→30.0 ms  51.0→90.0 ms  0→10.0 ms"));
    EXPECT_THAT(text, HasSubstr("rank 0, stage 0  200→210 MB  1.05   300→450 MB  1.50"));
    EXPECT_THAT(text, HasSubstr("50.0 GFLOP/s  25.0 GFLOP/s  0.500"));
    EXPECT_THAT(text, HasSubstr("0.500  21.0 MB in all"));
}

TEST(ComparisonText, PointsToAnInputWithItsSource) {
    const std::string text = comparison_to_text(a_comparison());
    EXPECT_THAT(text, HasSubstr("Largest difference between prediction and measurement: backward\n"
                                "  40.0 ms more than predicted, 66.7 % of all differences between terms\n"
                                "  points to rate of abacus: 64 GFLOP/s, estimated (a guess)\n"
                                "  at 0.500 times this value the prediction would match\n"
                                "  memory of rank 0: 150 MB more than predicted; points to libraries\n"
                                "  note: mind the gap\n"));
    Comparison c = a_comparison();
    c.residual.explained_at.reset();
    EXPECT_THAT(comparison_to_text(c), HasSubstr("no value of it alone"));
    c.memory_residual->bytes = 1 * MB;
    EXPECT_THAT(comparison_to_text(c), Not(HasSubstr("memory of rank")));
}

TEST(ComparisonText, SaysThatALossDiverged) {
    Comparison c = a_comparison();
    c.last_loss = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THAT(comparison_to_text(c), HasSubstr("2.500 → no number, it diverged"));
}

TEST(ComparisonText, OfManyRanksSomeAreShown) {
    Comparison c = a_comparison();
    for (int r = 1; r < 40; ++r) c.ranks.push_back(c.ranks[0]), c.ranks.back().rank = r;
    EXPECT_THAT(comparison_to_text(c), AllOf(HasSubstr("rank 15,"), Not(HasSubstr("rank 16,")), HasSubstr("and 24 ranks more")));
}

TEST(ComparisonJson, HasTheDocumentedKeys) {
    const Json json = Json::parse(comparison_to_json(a_comparison()));
    EXPECT_EQ(json["schema"], "comparison/1");
    EXPECT_EQ(json["scenario"], "two layers");
    EXPECT_EQ(json["step_time_s"]["predicted"], 0.09);
    EXPECT_EQ(json["step_time_s"]["measured"], 0.13);
    EXPECT_NEAR(json["step_time_s"]["ratio"].get<double>(), 1.444444, 1e-6);
    EXPECT_EQ(json["steps"]["count"], 4);
    EXPECT_EQ(json["loss"]["last"], 1.25);
    ASSERT_THAT(json["terms"], SizeIs(3));
    EXPECT_EQ(json["terms"][1]["name"], "backward");
    EXPECT_EQ(json["terms"][1]["measured_s"], 0.09);
    EXPECT_EQ(json["terms"][2]["ratio"], nullptr);  // nothing was predicted
    EXPECT_EQ(json["ranks"][0]["measured"]["terms_s"]["launch"], 0.01);
    EXPECT_EQ(json["ranks"][0]["measured"]["memory"]["process_bytes"], 450e6);
    EXPECT_EQ(json["ranks"][0]["predicted_memory"]["arrays_bytes"], 200e6);
    EXPECT_EQ(json["rates"][0]["measured_flop_per_s"], 25e9);
    EXPECT_EQ(json["rates"][1]["bytes"], 21e6);
    EXPECT_EQ(json["largest_residual"]["term"], "backward");
    EXPECT_EQ(json["largest_residual"]["input"]["kind"], "estimated");
    EXPECT_EQ(json["largest_residual"]["explained_at_multiple"], 0.5);
    EXPECT_EQ(json["memory_residual"]["input"], nullptr);
    EXPECT_EQ(json["notes"][0], "mind the gap");
}

TEST(ComparisonJson, ALossThatIsNoNumberIsNull) {
    Comparison c = a_comparison();
    c.last_loss = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(Json::parse(comparison_to_json(c))["loss"]["last"], nullptr);
}

TEST(ComparisonTrace, HasThePredictedRanksAboveTheMeasuredOnes) {
    HandMadeTrace predicted({0, 1}), measured({0, 1});
    const auto f = predicted.add(0, Stream::compute, SpanKind::forward, 0, 10);
    predicted.add(1, Stream::compute, SpanKind::forward, 10, 20, f);
    const auto g = measured.add(0, Stream::compute, SpanKind::forward, 0, 12);
    measured.add(1, Stream::compute, SpanKind::forward, 12, 25, g);
    Comparison c = a_comparison();
    c.simulation.trace = predicted.trace;
    std::ostringstream out;
    write_comparison_trace(out, c, measured.trace);
    std::vector<std::string> names;
    std::vector<int> order, slices, arrows;
    const Json json = Json::parse(out.str());
    for (const Json& e : json["traceEvents"]) {
        if (e["name"] == "process_name") names.push_back(e["args"]["name"]), order.push_back(e["pid"]);
        if (e["ph"] == "X") slices.push_back(e["pid"]);
        if (e["ph"] == "s") arrows.push_back(e["id"]);
    }
    EXPECT_THAT(names, ElementsAre("predicted rank 0 (stage 0)", "predicted rank 1 (stage 1)", "measured rank 0 (stage 0)",
                                   "measured rank 1 (stage 1)"));
    EXPECT_TRUE(std::ranges::is_sorted(order));
    EXPECT_THAT(slices, ElementsAre(order[0], order[1], order[2], order[3]));
    ASSERT_THAT(arrows, SizeIs(2));
    EXPECT_NE(arrows[0], arrows[1]);
}

}  // namespace
}  // namespace sextant
