// Devices' and frameworks' parameters from training runs that are made up: predicted with known values, which must come out again.
#include "model/calibrate/training_fit.hpp"
#include "model/io/measurement/measurement_split.hpp"
#include "model/sextant.hpp"
#include "tests/golden/bundled_scenarios.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace sextant {
namespace {

TEST(TrainingFit, TellsAClockFromAFrameworksKernels) {
    // A100 and V100 under two frameworks: a clock of 0.8 on the A100, elementwise kernels at 0.6 in the first framework.
    std::vector<TrainingRun> runs;
    const auto add = [&](const std::string& device, const std::string& framework, std::int64_t hidden, double clock, double streaming) {
        Scenario s = bundled_scenario("gpt3-175b-1024xa100",
                                      {"hardware.device=" + device, "framework=" + framework, "workload=gpt2-xl", "plan.tp=1", "plan.pp=1",
                                       "plan.dp=1", "plan.micro_batch=" + std::to_string(hidden),
                                       "plan.global_batch=" + std::to_string(hidden), "hardware.nodes=1", "plan.recompute=none"});
        s.cluster.node.device.sustained_clock.value = clock;
        s.framework.streaming_efficiency.value = streaming;
        s.framework.bytes_in_flight.value = 20 * units::KB;
        s.framework.native_build.value = 0.97;
        const Seconds step = estimate(prepare(s)).step;
        runs.push_back({device + framework + std::to_string(hidden), std::move(s), step});
    };
    for (const std::int64_t batch : {1, 2, 4, 8}) {
        add("A100 SXM4 80GB", "megatron-core", batch, 0.8, 0.6);
        add("A100 SXM4 80GB", "pytorch-ddp", batch, 0.8, 0.9);
        add("V100 SXM2 32GB", "megatron-core", batch, 0.95, 0.6);
        add("V100 SXM2 32GB", "pytorch-ddp", batch, 0.95, 0.9);
    }
    int passes = 0;
    const TrainingFit found = fit_to_training(runs, [&] { ++passes; });
    EXPECT_GT(passes, 5);
    EXPECT_LT(found.mean_error, 0.02);
    std::set<std::string> seen;
    for (const TrainedParameter& p : found.parameters) {
        const double truth = p.parameter.name == "sustained_clock"        ? (p.of == "A100 SXM4 80GB" ? 0.8 : 0.95)
                             : p.parameter.name == "bytes_in_flight"      ? 2e4
                             : p.parameter.name == "streaming_efficiency" ? (p.of == "megatron-core" ? 0.6 : 0.9)
                                                                          : 0.97;
        // Two devices tell little of what limits a framework's kernels: what is usual draws the one down that pushes the other up.
        const double sure = p.parameter.name == "bytes_in_flight" ? 0.3 : p.parameter.name == "streaming_efficiency" ? 0.1 : 0.08;
        EXPECT_NEAR(p.value / truth, 1, sure) << p.of << ' ' << p.parameter.name;
        EXPECT_GE(p.runs, 4);
        seen.insert(p.of + " " + p.parameter.name);
    }
    EXPECT_TRUE(seen.contains("A100 SXM4 80GB sustained_clock"));
    EXPECT_TRUE(seen.contains("megatron-core streaming_efficiency"));
}

TEST(TrainingFit, DecidesNothingWhereRunsShowNothing) {
    // Gradients over 100 Mbit/s take minutes, beside which no kernel and no launch is seen.
    Scenario s = bundled_scenario("gpt3-175b-1024xa100", {"framework=megatron-core", "workload=gpt2-xl", "plan.tp=1", "plan.pp=1",
                                                          "plan.dp=16", "plan.micro_batch=1", "plan.global_batch=16", "hardware.nodes=2",
                                                          "plan.recompute=none", "hardware.network_bandwidth=\"100 Mbit/s\""});
    const Seconds step = estimate(prepare(s)).step;
    const TrainingFit found = fit_to_training({{"slow", std::move(s), step}}, [] {});
    EXPECT_TRUE(found.parameters.empty());
    EXPECT_LT(found.mean_error, 1e-6);
}

// BERT-large on one and on eight cards, in batches of 4 to 32, with a context of 1.1 GB, buffers of 2 GB and a quarter reserved in vain.
TEST(TrainingFit, FindsWhatAProcessHoldsBesideItsTensors) {
    std::vector<TrainingRun> runs;
    for (const int devices : {1, 8})
        for (const int batch : {4, 8, 16, 32}) {
            const std::string dp = std::to_string(devices);
            Scenario s = bundled_scenario(
                "gpt3-175b-1024xa100", {"framework=pytorch-ddp", "workload=bert-large", "plan.tp=1", "plan.pp=1", "plan.dp=" + dp,
                                        "plan.micro_batch=" + std::to_string(batch), "plan.global_batch=" + std::to_string(batch * devices),
                                        "hardware.nodes=1", "plan.recompute=none", "plan.data_parallel=all_reduce"});
            s.framework.context.value = 1.1 * units::GB;
            s.framework.communication_buffers.value = 2 * units::GB;
            s.framework.fragmentation.value = 0.25;
            const Estimate e = estimate(prepare(s));
            runs.push_back({dp + " " + std::to_string(batch), std::move(s), e.step, e.peak_memory});
        }
    const TrainingFit found = fit_to_training(runs, [] {});
    EXPECT_LT(found.memory_error, 0.02);
    std::map<std::string, double> values;
    for (const TrainedParameter& p : found.parameters) values[p.parameter.name] = p.value;
    // Four runs of each kind leave these two with a part of what was thought of them before: 0.7 and 0.6 GB.
    EXPECT_NEAR(values.at("context") / 1.1e9, 1, 0.25);
    EXPECT_NEAR(values.at("communication_buffers") / 2e9, 1, 0.2);
    EXPECT_NEAR(values.at("fragmentation") / 0.25, 1, 0.1);
}

MeasurementFile file_of(const std::vector<std::pair<std::string, std::string>>& models_and_machines) {
    MeasurementFile file;
    for (const auto& [model, machine] : models_and_machines) {
        TrainingRow row;
        row.model.name = model;
        row.hardware.gpu = machine;
        file.rows.emplace_back(row);
    }
    return file;
}

TEST(FittingHalf, HasNoModelOnBothSides) {
    const std::vector<bool> half = fitting_half(file_of({{"a", "x"}, {"b", "x"}, {"a", "y"}, {"c", "y"}, {"d", "x"}, {"b", "y"}}));
    EXPECT_EQ(half[0], half[2]);
    EXPECT_EQ(half[1], half[5]);
    EXPECT_EQ(int{half[0]} + int{half[1]} + int{half[3]} + int{half[4]}, 2);
}

TEST(FittingHalf, SplitsOneModelByMachineAndOneOfEachNotAtAll) {
    const std::vector<bool> half = fitting_half(file_of({{"a", "x"}, {"a", "y"}, {"a", "x"}}));
    EXPECT_EQ(half[0], half[2]);
    EXPECT_NE(half[0], half[1]);
    EXPECT_EQ(fitting_half(file_of({{"a", "x"}, {"a", "x"}})), (std::vector<bool>{false, false}));
}

TEST(FittingHalf, LeavesEveryBundledSourceWithRowsThatJudge) {
    Library library = open_library();
    int both = 0;
    for (const auto& path : bundled_measurements(library)) {
        Diagnostics problems;
        const std::vector<bool> half = fitting_half(load_measurements(path, problems));
        const auto fitted = std::count(half.begin(), half.end(), true);
        EXPECT_LT(fitted, std::ssize(half)) << path;
        both += fitted > 0 ? 1 : 0;
    }
    EXPECT_GT(both, 15);
}

}  // namespace
}  // namespace sextant
