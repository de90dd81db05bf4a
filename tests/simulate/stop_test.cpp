// A simulation that takes long can be watched and stopped.
#include "model/sextant.hpp"
#include "tests/golden/bundled_scenarios.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

Scenario gpt3() { return bundled_scenario("gpt3-175b-1024xa100"); }

TEST(Stop, EndsASimulationAtTheFirstWordOfItsListener) {
    int asked = 0;
    const auto enough = [&](double played) {
        ++asked;
        return played == 0;  // before the first event
    };
    EXPECT_THROW(simulate(gpt3(), 1, enough), Stopped);
    EXPECT_EQ(asked, 2);
}

TEST(Stop, IsNotWhatAListenerDoesThatOnlyWatches) {
    std::vector<double> played;
    const auto watch = [&](double part) {
        played.push_back(part);
        return true;
    };
    const SimulationReport watched = simulate(gpt3(), 1, watch), alone = simulate(gpt3());
    EXPECT_EQ(watched.report.estimate.step, alone.report.estimate.step);
    EXPECT_GT(played.size(), 3U);
    EXPECT_TRUE(std::ranges::is_sorted(played));
    EXPECT_LE(played.back(), 1);
}

}  // namespace
}  // namespace sextant
