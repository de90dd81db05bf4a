#include "model/calibrate/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

// Time of a transfer: start + bytes / bandwidth, in microseconds and bytes per microsecond.
struct Transfers {
    std::vector<double> sizes{1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
    [[nodiscard]] std::vector<double> times(double start, double bandwidth) const {
        std::vector<double> list;
        for (const double s : sizes) list.push_back(start + s / bandwidth);
        return list;
    }
    [[nodiscard]] FitModel model() const {
        return [*this](const std::vector<double>& p) { return times(p[0], p[1]); };
    }
};

std::vector<FitPoint> points(const std::vector<double>& times, double noise = 0.02) {
    std::vector<FitPoint> list;
    for (const double t : times) list.push_back({t, noise});
    return list;
}

const std::vector<FitParameter> unknown{{"start", 1, 3, 1e-3, 1e3}, {"bandwidth", 10, 3, 1, 1e6}};

TEST(Fit, FindsWhatTheMeasurementsWereMadeWith) {
    const Transfers t;
    const Fit found = fit(unknown, points(t.times(7, 1200)), t.model());
    EXPECT_NEAR(found.parameters[0].value, 7, 0.01);
    EXPECT_NEAR(found.parameters[1].value, 1200, 2);
    EXPECT_FALSE(found.parameters[0].at_bound);
}

TEST(Fit, LeavesOutliersOut) {
    const Transfers t;
    std::vector<double> times = t.times(7, 1200);
    times[1] *= 4;
    times[5] *= 3;
    const Fit found = fit(unknown, points(times), t.model());
    EXPECT_NEAR(found.parameters[0].value, 7, 0.2);
    EXPECT_NEAR(found.parameters[1].value, 1200, 40);
    EXPECT_EQ(found.weights[1], 0);
    EXPECT_EQ(found.weights[5], 0);
    EXPECT_GT(found.weights[6], 0.9);
}

// Four are as measured with x = 3 e and with x = 3 / e, and two, which are less sure, with 3 e alone.
TEST(Fit, TakesTheBetterOfTwoPlacesToBeginAt) {
    const FitModel model = [](const std::vector<double>& p) {
        const double either = 1 + std::pow(std::log(p[0] / 3), 2);
        return std::vector<double>{either, either, either, either, p[0], p[0]};
    };
    const double wrong = 3 / std::exp(1), right = 3 * std::exp(1);
    const std::vector<FitPoint> measured{{2, 0.05}, {2, 0.05}, {2, 0.05}, {2, 0.05}, {right, 0.3}, {right, 0.3}};
    FitParameter x{"x", 1, 3, 0.1, 100};
    const Fit near = fit({x}, measured, model);
    EXPECT_NEAR(near.parameters[0].value, wrong, 0.05);
    x.other_begin = 20;
    const Fit better = fit({x}, measured, model);
    EXPECT_NEAR(better.parameters[0].value, right, 0.05);
    EXPECT_LT(better.sum, near.sum);
    x.begin = 20;
    x.other_begin = 1;
    EXPECT_NEAR(fit({x}, measured, model).parameters[0].value, right, 0.05) << "whichever comes first";
}

// Measured twice, 10 and 10.5, each with a noise of 10 %; thought to be 10 before, with a spread of 10 %. In logarithms, with l = ln 1.05,
// the three say 0, l and 0 with equal weight (but for 1 % that the biweight takes from the second): l / 3, and the spread is
// 0.1 / sqrt(3).
TEST(Fit, WeighsWhatWasKnownBefore) {
    const Fit found = fit({{"x", 10, 0.1, 1, 100}}, {{10, 0.1}, {10.5, 0.1}}, [](const std::vector<double>& p) {
        return std::vector<double>{p[0], p[0]};
    });
    EXPECT_NEAR(found.parameters[0].value, 10 * std::pow(1.05, 1.0 / 3), 0.005);
    EXPECT_GE(found.parameters[0].spread, 0.1 / std::sqrt(3.0) - 1e-3);
}

TEST(Fit, KeepsWhatNoMeasurementDependsOn) {
    const Transfers t;
    std::vector<FitParameter> parameters = unknown;
    parameters.push_back({"idle", 42, 0.5, 1, 1000});
    const Fit found = fit(parameters, points(t.times(7, 1200)), t.model());
    EXPECT_NEAR(found.parameters[2].value, 42, 1e-6);
    EXPECT_NEAR(found.parameters[2].spread, 0.5, 1e-6);
}

TEST(Fit, OfNoParameterSaysWhatIsPredicted) {
    const Fit found = fit({}, {{2, 0.1}, {4, 0.1}}, [](const std::vector<double>&) { return std::vector<double>{2, 5}; });
    EXPECT_TRUE(found.parameters.empty());
    EXPECT_NEAR(found.predicted.at(1), 5, 1e-12);
    EXPECT_NEAR(mean_error(found, {{2, 0.1}, {4, 0.1}}), 0.125, 1e-12);
}

TEST(Fit, StaysWithinBoundsAndSaysSo) {
    const Transfers t;
    const Fit found = fit({{"start", 1, 3, 1e-3, 5}, {"bandwidth", 10, 3, 1, 1e6}}, points(t.times(7, 1200)), t.model());
    EXPECT_DOUBLE_EQ(found.parameters[0].value, 5);
    EXPECT_TRUE(found.parameters[0].at_bound);
    EXPECT_FALSE(found.parameters[1].at_bound);
}

// The start is 1e-6 of the largest times and 7 of the smallest: both are found within their noise from measurements that have some.
TEST(Fit, StatesASpreadThatHoldsTheTruth) {
    const Transfers t;
    int held = 0;
    for (int seed = 1; seed <= 50; ++seed) {
        std::vector<double> times = t.times(7, 1200);
        unsigned state = static_cast<unsigned>(seed) * 2654435761U;
        for (double& x : times) {
            double normal = -6;
            for (int i = 0; i < 12; ++i) {
                state = state * 1664525U + 1013904223U;
                normal += state / 4294967296.0;
            }
            x *= std::exp(0.05 * normal);
        }
        const Fit found = fit(unknown, points(times, 0.05), t.model());
        const FittedParameter& bandwidth = found.parameters[1];
        held += std::abs(std::log(bandwidth.value / 1200)) < 2 * bandwidth.spread ? 1 : 0;
    }
    EXPECT_GE(held, 42);  // 95 % of 50 is 47
}

}  // namespace
}  // namespace sextant
