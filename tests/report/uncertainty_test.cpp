#include "tests/report/reported_jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

using testing::HasSubstr;

// Standard deviation of ln T that the interval of 80 % stands for.
double sigma(const Report& r) {
    EXPECT_NEAR(std::log(r.high / r.estimate.step), std::log(r.estimate.step / r.low), 1e-9);  // alike to both sides in ln T
    return std::log(r.high / r.estimate.step) / 1.2816;
}

TEST(Interval, AddsTheSpreadOfTheInputsToThatOfTheModelInSquares) {
    // The one input that matters is the compute rate, from a data sheet: 10 %, ln 1.1. Estimated it would be 30 %, ln 1.3.
    // Whatever the model's own spread: sigma'^2 - sigma^2 = (ln 1.3)^2 - (ln 1.1)^2 = 0.06883 - 0.00908
    Scenario job = products_job(4);
    const Report sure = report_of(job);
    EXPECT_NEAR(sure.inputs.at(0).effect, std::log(1.1), 1e-9);
    EXPECT_THAT(sure.inputs.at(0).name, HasSubstr("bf16 rate"));
    EXPECT_GT(sigma(sure), std::log(1.1));
    for (PeakRate& p : job.cluster.node.device.peaks) p.achievable.kind = SourceKind::estimated;
    EXPECT_NEAR(std::pow(sigma(report_of(job)), 2) - std::pow(sigma(sure), 2), 0.05975, 1e-5);
}

TEST(Interval, CountsTheNetworkWhereverRanksAreOnSeveralNodes) {
    Scenario job = products_job(4);
    job.plan.dp = 4;
    job.plan.global_batch = 4096;
    const auto networks = [&job] {
        const Report r = report_of(job);
        return std::ranges::count_if(r.inputs, [](const InputUsed& i) { return i.resource == &Resources::network_bandwidth; });
    };
    EXPECT_EQ(networks(), 0);
    job.cluster.nodes = 4;
    job.plan.devices_per_node = 1;
    EXPECT_EQ(networks(), 1);
}

}  // namespace
}  // namespace sextant
