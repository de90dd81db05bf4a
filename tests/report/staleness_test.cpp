#include "model/report/staleness.hpp"

#include "tests/golden/bundled_scenarios.hpp"

namespace sextant {
namespace {

TEST(Staleness, IsOneLessThanTheWorkersOnAverage) {
    EXPECT_EQ(expected_staleness(32), 31);
    EXPECT_EQ(predict(bundled_scenario("parameter-server-async")).staleness, 31);
    EXPECT_FALSE(predict(bundled_scenario("parameter-server-sync")).staleness);  // all wait for all
}

}  // namespace
}  // namespace sextant
