#include "model/report/condition.hpp"

#include "model/base/diagnostics.hpp"
#include "tests/base/refusal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

Report half_a_second() {
    Report r;
    r.estimate.step = 500 * ms;
    r.estimate.terms[Term::forward] = 400 * ms;
    r.estimate.terms[Term::bubble] = 100 * ms;
    r.estimate.peak_memory = 70 * GiB;
    r.mfu = 0.4;
    r.devices = 8;
    return r;
}

bool holds(std::string_view text, const Report& report = half_a_second()) { return holds(parse_condition(text), report); }

// What the user is told, in words and as a hint; empty when nothing is wrong.
std::string complaint(std::string_view text) {
    const auto held = [&] { return holds(text); };
    EXPECT_LE(problems_found_by(held).size(), 1U);
    return refusal_by(held);
}

TEST(Condition, ComparesInAnyUnitOfTheQuantity) {
    EXPECT_TRUE(holds("step_time > 499 ms"));
    EXPECT_FALSE(holds("step_time > 0.5 s"));
    EXPECT_TRUE(holds("step_time >= 500000 us"));
    EXPECT_TRUE(holds("memory<75.2 GB"));  // 70 GiB are 75.16 GB
    EXPECT_FALSE(holds("memory < 75.1 GB"));
    EXPECT_TRUE(holds("memory == 70 GiB"));
    EXPECT_FALSE(holds("memory != 70 GiB"));
}

TEST(Condition, TakesTheNamesOfJsonWhichHaveTheUnitInThem) {
    EXPECT_TRUE(holds("step_time_s > 0.49"));
    EXPECT_FALSE(holds("step_time_s > 0.5"));
    EXPECT_TRUE(holds("memory_bytes < 7.6e10"));
    EXPECT_THAT(complaint("step_time_s > 500 ms"), HasSubstr("is not a number"));
    Report r = half_a_second();
    r.samples_per_s = 10 / s;
    EXPECT_TRUE(holds("throughput.samples_per_s < 11", r));
}

TEST(Condition, ReachesTheKindsOfMemoryOfTheFullestRank) {
    Report r = half_a_second();
    r.estimate.memory.resize(2);
    r.estimate.memory[1][MemoryKind::activations] = 3 * GB;
    EXPECT_TRUE(holds("memory.activations == 3 GB", r));
    EXPECT_TRUE(holds("memory.weights == 0 B", r));
    r.batch.effective_batch = 64;
    EXPECT_TRUE(holds("effective_batch == 64", r));
}

TEST(Condition, TakesFractionsAsNumbersOrPercent) {
    EXPECT_TRUE(holds("mfu < 0.41"));
    EXPECT_FALSE(holds("mfu < 40 %"));
    EXPECT_TRUE(holds("mfu <= 40%"));
    EXPECT_TRUE(holds("devices == 8"));
}

TEST(Condition, ReachesTermsInSecondsAndAsSharesOfTheStep) {
    EXPECT_TRUE(holds("terms.bubble > 99 ms"));
    EXPECT_FALSE(holds("terms.optimizer > 0 s"));
    EXPECT_TRUE(holds("share.bubble > 19.9 %"));  // 100 of 500 ms
    EXPECT_FALSE(holds("share.bubble > 20.1 %"));
}

TEST(Condition, IsReadIntoQuantitySignAndValue) {
    const Condition c = parse_condition("  step_time>=  1.5 s ");
    EXPECT_EQ(c.quantity, "step_time");
    EXPECT_EQ(c.relation, Relation::greater_equal);
    EXPECT_EQ(c.value, "1.5 s");
}

TEST(Condition, ThatIsNoComparisonIsRefused) {
    for (const auto* text : {"", "step_time", "step_time 5 s", "> 5 s", "step_time >", "step_time = 5 s"})
        EXPECT_THROW(parse_condition(text), InputError) << text;
}

TEST(Condition, WithTheWrongUnitOrNoneIsRefused) {
    EXPECT_THAT(complaint("step_time > 500"), HasSubstr("unit missing"));
    EXPECT_THAT(complaint("step_time > 5 GB"), HasSubstr("\"GB\" is not a unit of time"));
    EXPECT_THAT(complaint("memory > 10 %"), HasSubstr("\"%\" is not a unit of size"));
    EXPECT_THAT(complaint("mfu < 0.4 s"), HasSubstr("is not a number"));
    EXPECT_THAT(complaint("mfu < much"), HasSubstr("is not a number"));
    EXPECT_THAT(complaint("mfu < nan"), HasSubstr("is not a number"));  // it would never hold
    EXPECT_THAT(complaint("step_time > soon"), HasSubstr("no number"));
}

TEST(Condition, BeyondAnyNumberIsRefused) {
    // 1e308 days of 86400 s are more than a double holds, and no step would ever take longer.
    EXPECT_THROW(static_cast<void>(holds(parse_condition("step_time > 1e308 d"), Report{})), InputError);
}

TEST(Condition, OnWhetherItFitsIsWrittenAsTrueOrFalse) {
    Report r = half_a_second();
    r.estimate.device_memory = 80 * GiB;
    ASSERT_TRUE(r.estimate.fits());
    EXPECT_TRUE(holds("fits == true", r));
    EXPECT_FALSE(holds("fits == false", r));
    EXPECT_TRUE(holds("fits != false", r));
    EXPECT_TRUE(holds("fits == 1", r));
    EXPECT_THAT(complaint("fits == maybe"), HasSubstr("true or false, as in 'fits == false'"));
    EXPECT_THAT(complaint("mfu < true"), HasSubstr("is not a number"));
}

TEST(Condition, OnTheBottleneckComparesWords) {
    Report r = half_a_second();
    r.bottleneck.kind = BottleneckKind::io;
    EXPECT_TRUE(holds("bottleneck == I/O", r));
    EXPECT_TRUE(holds("bottleneck.kind != compute", r));
    EXPECT_FALSE(holds("bottleneck == communication (latency)", r));
    EXPECT_THAT(complaint("bottleneck == storage"), HasSubstr("is never \"storage\""));
    EXPECT_THAT(complaint("bottleneck == bandwidth"), HasSubstr("memory bandwidth"));
    EXPECT_THAT(complaint("bottleneck > compute"), HasSubstr("== or !="));
}

TEST(Condition, KnowsQuantitiesByTheirShortNames) {
    Report r = half_a_second();
    r.run.emplace().goodput = 0.75;
    r.checkpoints = CheckpointEstimate{5 * GB, 4 * s, 3 * s, 2 * s, 100};
    EXPECT_TRUE(holds("goodput < 80 %", r));
    EXPECT_TRUE(holds("checkpoint.size == 5 GB", r));
    EXPECT_TRUE(holds("checkpoints.bytes == 5e9", r));
    EXPECT_TRUE(holds("checkpoint.wait == 3 s", r));
    EXPECT_TRUE(holds("checkpoints.wait_s == 3", r));
}

TEST(Condition, OnWhatIsNotReportedNamesTheNearestThatIs) {
    EXPECT_THAT(complaint("MFU < 0.4"), HasSubstr("did you mean \"mfu\"?"));
    EXPECT_THAT(complaint("forward > 1 s"), HasSubstr("did you mean \"terms.forward\"?"));
    EXPECT_THAT(complaint("steptime > 1 s"), HasSubstr("did you mean \"step_time\"?"));
    EXPECT_THAT(complaint("steptime > 1 s"), Not(HasSubstr("one of")));  // a long list
}

// Asked what a job costs, it says what would make such a quantity, and not which are spelled alike.
TEST(Condition, OnWhatIsReportedOfOthersSaysWhatTheyState) {
    EXPECT_THAT(complaint("run.cost > 10 USD"), HasSubstr("it needs, for example, \"run\": {\"tokens\": 300e9}"));
    EXPECT_THAT(complaint("cost_per_sample > 1 USD"), HasSubstr("it needs, for example, \"run\": {\"price\": \"2.50 USD/h\"}"));
    EXPECT_THAT(complaint("input.wait > 1 s"), HasSubstr("\"data\": {\"storage\": \"local\"}"));
}

TEST(Condition, KnowsWhichValueIsNearerToWhatItAsks) {
    const Condition less = parse_condition("step_time < 1 ms"), more = parse_condition("mfu >= 0.5"),
                    just = parse_condition("devices == 8");
    EXPECT_EQ(nearer(less, {}, {}), std::nullopt);
    EXPECT_EQ(nearer(less, 3.0, {}), 3.0);
    EXPECT_EQ(nearer(less, 3.0, 2.0), 2.0);
    EXPECT_EQ(nearer(more, 0.3, 0.4), 0.4);
    EXPECT_EQ(nearer(just, 4.0, 16.0), std::nullopt);
}

TEST(Condition, OnWhatIsNotReportedListsWhatIs) {
    EXPECT_THAT(complaint("happiness > 5"), HasSubstr("\"happiness\" is not reported"));
    EXPECT_THAT(complaint("happiness > 5"), HasSubstr("step_time"));
    // An image network has no tokens, and a scenario without a length no cost.
    EXPECT_THAT(complaint("tokens_per_s < 10"), HasSubstr("not reported"));
    EXPECT_THAT(complaint("run.cost > 10 USD"), HasSubstr("not reported"));
    Report r = half_a_second();
    r.tokens_per_s = 9 * Hz;
    r.run = RunCost{.steps = 1, .time = 2 * hour, .device_time = 16 * hour, .cost = 32 * USD, .energy = 5 * kWh, .failing = {}};
    EXPECT_TRUE(holds("tokens_per_s < 10", r));
    EXPECT_TRUE(holds("run.cost > 10 USD", r));
    EXPECT_TRUE(holds("run.time <= 2 h", r));
    EXPECT_TRUE(holds("run.energy < 6 kWh", r));
    EXPECT_TRUE(holds("run.device_hours == 16", r));
}

TEST(Condition, CanAskForEveryTermByName) {
    for (const Term t : all_terms) EXPECT_EQ(complaint("terms." + std::string(to_text(t)) + " < 1 s"), "");
}

}  // namespace
}  // namespace sextant
