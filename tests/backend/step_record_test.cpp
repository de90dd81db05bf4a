#include "backend/exec/step_record.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sextant {
namespace {

// 1000 steps in 256 places: every fourth, from the first on.
TEST(StepRecords, KeepDetailsOfAFewStepsHoweverManyThereAre) {
    std::vector<StepRecord> steps;
    for (int i = 0; i < 1000; ++i) {
        steps.emplace_back().details.emplace();
        thin_out(steps);
        const auto detailed = std::ranges::count_if(steps, [](const StepRecord& s) { return s.details.has_value(); });
        ASSERT_LE(detailed, std::ssize(steps) <= 256 ? std::ssize(steps) : 256);
        ASSERT_GE(detailed, std::min(std::ssize(steps), std::ptrdiff_t{128}));
    }
    for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(steps[i].details.has_value(), i % 4 == 0) << i;
}

}  // namespace
}  // namespace sextant
