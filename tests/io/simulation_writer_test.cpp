#include "model/io/report/simulation_writer.hpp"

#include "model/io/format/heat_strip.hpp"
#include "tests/report/hand_made_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sextant::hand_made {
namespace {

using namespace units;
using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using enum Stream;
using enum SpanKind;

// Stage 0 computes 0 .. 10 ms and sends until 13, stage 1 computes until 23 and the step ends at 24.
SimulationReport a_simulation() {
    HandMadeTrace t({0, 1});
    const auto f = t.add(0, compute, forward, 0, 10);
    const auto x = t.add(0, send_next, pipeline_transfer, 10, 13, f);
    t.add(1, compute, forward, 13, 23, x);
    t.trace.end = 24 * ms;
    SimulationReport s;
    s.trace = t.trace;
    s.report.scenario = "two stages";
    s.report.estimate.step = t.trace.end;
    s.report.estimate.memory.resize(2);
    s.predicted_step = 20 * ms;
    s.critical_path = critical_path(s.trace);
    MemoryTimeline m;
    m.stage = 1, m.rank = 1;
    m.base[MemoryKind::weights] = 5 * GB;
    m.curve = {{0 * ms, 0 * GB}, {12 * ms, 2 * GB}, {24 * ms, 0 * GB}};
    m.highest = 2 * GB, m.highest_at = 12 * ms;
    s.memory = {m};
    s.devices = {{.name = "n0.gpu0", .count = 8, .busy = {1, 0.5, 0, 0}}};
    s.links = {{.name = "n0.nic0", .count = 1, .busy = {0, 0, 0.5, 0}}};
    s.events = 42;
    return s;
}

TEST(SimulationJson, HasTheKeysOfAPredictionAndWhatATimelineTells) {
    const Json json = Json::parse(simulation_to_json(a_simulation()));
    EXPECT_EQ(json["schema"], "simulation/1");
    EXPECT_EQ(json["scenario"], "two stages");
    EXPECT_EQ(json["step_time_s"], 0.024);
    EXPECT_EQ(json["predicted_step_time_s"], 0.02);
    EXPECT_EQ(json["seed"], 1);
    EXPECT_EQ(json["events"], 42);
    for (const char* key : {"terms", "overlapped", "memory_bytes", "fits", "mfu", "bottleneck", "inputs_estimated", "throughput"})
        EXPECT_TRUE(json.contains(key)) << key;
}

TEST(SimulationJson, CriticalPathIsGivenByKindAndRank) {
    const Json path = Json::parse(simulation_to_json(a_simulation()))["critical_path"];
    EXPECT_NEAR(path["seconds"].get<double>(), 0.023, 1e-12);
    EXPECT_NEAR(path["waiting_s"].get<double>(), 0.001, 1e-12);
    EXPECT_EQ(path["spans"], 3);
    ASSERT_THAT(path["by_kind"], SizeIs(2));
    EXPECT_EQ(path["by_kind"][0]["name"], "forward");
    EXPECT_NEAR(path["by_kind"][0]["seconds"].get<double>(), 0.020, 1e-12);
    ASSERT_THAT(path["by_rank"], SizeIs(2));
    EXPECT_NEAR(path["by_rank"][0]["seconds"].get<double>(), 0.013, 1e-12);
}

TEST(SimulationJson, MemoryAndUtilizationComeInEqualIntervals) {
    const Json json = Json::parse(simulation_to_json(a_simulation()));
    const Json& memory = json["memory_over_time"][0];
    EXPECT_EQ(memory["stage"], 1);
    EXPECT_EQ(memory["peak_bytes"], 7e9);
    EXPECT_EQ(memory["peak_at_s"], 0.012);
    EXPECT_EQ(memory["base_by_kind_bytes"], Json({{"weights", 5e9}}));
    EXPECT_NEAR(memory["interval_s"].get<double>() * static_cast<double>(memory["highest_above_base_bytes"].size()), 0.024, 1e-12);
    EXPECT_EQ(memory["highest_above_base_bytes"].front(), 0);
    EXPECT_EQ(memory["highest_above_base_bytes"].back(), 2e9);
    const Json& device = json["utilization_over_time"][0];
    EXPECT_EQ(device["name"], "n0.gpu0");
    EXPECT_EQ(device["of"], "device");
    EXPECT_EQ(device["count"], 8);
    EXPECT_EQ(device["interval_s"], 0.006);
    EXPECT_EQ(device["busy"], Json({1.0, 0.5, 0.0, 0.0}));
    EXPECT_EQ(json["utilization_over_time"][1]["of"], "link");
}

TEST(SimulationText, SaysHowFarPredictWasOffAndWhatTheStepWaitedFor) {
    const std::string text = simulation_to_text(a_simulation());
    EXPECT_THAT(text, HasSubstr("20.00 ms, simulated 24.00 ms: 20 % longer"));
    EXPECT_THAT(text, HasSubstr("Critical path: 23.0 ms in 3 spans, 1.00 ms of waiting between them"));
    EXPECT_THAT(text, HasSubstr("pipeline transfer  3.00 ms  13 %"));
    EXPECT_THAT(text, HasSubstr("54 % on rank 0 (stage 0), 42 % on rank 1 (stage 1)"));
    EXPECT_THAT(text, HasSubstr("stage 1  7.00 GB  at 12.0 ms  |" + std::string(25, ' ') + "█"));
    EXPECT_THAT(text, HasSubstr("n0.gpu0 and 7 alike  37.5 %  |█▄  |"));
    EXPECT_THAT(text, Not(HasSubstr("seed")));
}

TEST(SimulationText, NoiseComesWithItsSeedAndManyLinksWithTheirNumber) {
    SimulationReport s = a_simulation();
    s.jitter.noise = 0.02;
    s.jitter.seed = 77;
    for (int i = 0; i < 20; ++i) s.links.push_back({.name = "link" + std::to_string(i), .count = 4, .busy = {0.1}});
    const std::string text = simulation_to_text(s);
    EXPECT_THAT(text, HasSubstr("2.0 % of a rank's speed, seed 77"));
    EXPECT_THAT(text, HasSubstr("36 other links"));  // 21 series, 12 shown: 9 of 4 links each
    EXPECT_THAT(text, HasSubstr("n0.nic0"));
}

TEST(SimulationText, OfManyStagesSomeAreShownEvenlySpread) {
    SimulationReport s = a_simulation();
    s.memory.resize(1);
    for (int stage = 2; stage <= 23; ++stage) s.memory.push_back(s.memory[0]), s.memory.back().stage = stage;
    const std::string text = simulation_to_text(s);
    EXPECT_THAT(text, HasSubstr("\n  stage 1 "));
    EXPECT_THAT(text, Not(HasSubstr("\n  stage 2 ")));
    EXPECT_THAT(text, HasSubstr("\n  stage 3 "));
    EXPECT_THAT(text, HasSubstr("\n  stage 23 "));
    EXPECT_THAT(text, HasSubstr("11 other stages lie between these"));
}

TEST(HeatStrip, RisesInEighthsAndNeverHidesWhatIsThere) {
    EXPECT_EQ(heat_strip({0, 0.001, 0.5, 1, 7}), " ▁▄██");
    EXPECT_EQ(heat_strip({}), "");
}

TEST(HeatStrip, AveragesWhatDoesNotFit) {
    EXPECT_THAT(averaged({1, 0, 0.5, 0.5}, 2), ElementsAre(0.5, 0.5));
    // Columns of 1.5: 1 and half of 0; half of 0 and 1.
    EXPECT_THAT(averaged({1, 0, 1}, 2), ElementsAre(testing::DoubleNear(2.0 / 3, 1e-12), testing::DoubleNear(2.0 / 3, 1e-12)));
    EXPECT_THAT(averaged({0.3}, 5), ElementsAre(0.3));
}

}  // namespace
}  // namespace sextant::hand_made
