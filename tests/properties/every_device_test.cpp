// What must hold on any device: no wider type is faster where a narrower one is allowed, and no unit does more than its peak.
#include "model/io/profile/profile_reader.hpp"
#include "tests/golden/bundled_scenarios.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

std::vector<Device> bundled_devices() {
    Library library = open_library(std::filesystem::path(SEXTANT_SOURCE_DIR) / "hardware_profiles");
    Diagnostics problems;
    std::vector<Device> devices;
    for (const NamesOfKind& kind : all_names(library.catalog))
        if (kind.kind == "devices")
            for (const std::string& name : kind.names) devices.push_back(*find_device(library.catalog, name, problems));
    problems.throw_if_any();
    return devices;
}

struct Job {
    const char* network;
    DataType type;
    std::int64_t batch = 64;
};

// Of one step on one device.
struct Answer {
    Seconds step;
    double mfu;
    const PeakRate* peak;
};
Answer answer_on(const Device& device, const Job& job) {
    static const Scenario one_device = bundled_scenario("resnet50-snellius-4xa100", {"plan.dp=1", "run=null", "framework=\"pytorch-ddp\""});
    Scenario s = one_device;
    s.cluster.node.device = device;
    s.workload = *find_workload(job.network);
    s.plan.precision = precision_policy(job.type);
    s.plan.micro_batch = s.plan.global_batch = job.batch;
    const PeakRate* peak = matrix_path(device, s.plan.precision.compute, s.plan.precision.tf32).peak;
    const Estimate e = estimate(prepare(s));
    return {e.step, e.model_flops / (e.step * peak->rate.value), peak};
}

constexpr const char* few_networks[] = {"vgg16", "resnet50", "inception_v3", "gpt2"};

TEST(EveryDevice, IsNoSlowerWhereFp32MayBeCastToTf32) {
    for (const Device& d : bundled_devices())
        for (const char* network : few_networks) {
            const Seconds cast = answer_on(d, {network, DataType::tf32}).step;
            EXPECT_LE(cast / answer_on(d, {network, DataType::fp32}).step, 1 + 1e-9) << d.name << ", " << network;
        }
}

// Casts of weights and copies of layouts take a little. Gaudi 3 has as much TF32 as FP16.
TEST(EveryDevice, IsNoSlowerInBf16WhereItsTensorUnitsMultiplyThatFaster) {
    for (const Device& d : bundled_devices()) {
        const PeakRate* bf16 = d.peak(DataType::bf16, ComputeUnit::tensor);
        if (!bf16 || d.kind != DeviceKind::gpu) continue;
        for (const char* network : few_networks)
            EXPECT_LT(answer_on(d, {network, DataType::bf16}).step / answer_on(d, {network, DataType::tf32}).step, 1.02)
                << d.name << ", " << network;
    }
}

TEST(EveryDevice, TakesNoLongerForASampleOfALargerBatch) {
    for (const Device& d : bundled_devices())
        for (const char* network : few_networks) {
            const Seconds small = answer_on(d, {network, DataType::fp32, 16}).step;
            EXPECT_LT(answer_on(d, {network, DataType::fp32, 64}).step / (4 * small), 1.02) << d.name << ", " << network;
        }
}

// Winograd's F(2 x 2, 3 x 3) multiplies 16 times for 36 (Lavin and Gray, arXiv 1509.09308): 2.25 of what is counted.
TEST(EveryDevice, MultipliesNoFasterThanItsPeakAndLessOftenOnlyInWinogradsDomain) {
    for (const Device& d : bundled_devices())
        for (const char* network : few_networks)
            for (const DataType type : {DataType::fp64, DataType::fp32, DataType::tf32, DataType::bf16, DataType::fp16}) {
                const auto [step, mfu, peak] = answer_on(d, {network, type});
                const bool convolves = std::string_view(network) != "gpt2";
                const bool multiplies_less = convolves && type != DataType::fp64 && d.peak(DataType::fp32, ComputeUnit::vector) &&
                                             (peak->unit == ComputeUnit::vector || type == DataType::tf32);
                const double clock = d.clock_alone.value;  // which may be above the boost clock that makers print
                EXPECT_LE(mfu, clock * (multiplies_less ? 2.25 : 1.0)) << d.name << ", " << network << " in " << to_text(type);
            }
}

}  // namespace
}  // namespace sextant
