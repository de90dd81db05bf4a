#include "backend/exec/poll_backoff.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

// Nothing for 100 us: a quarter is less than the shortest rest. For 4 ms: 1 ms. Then something comes, and 2 ms later the wait for the
// next has lasted 2 ms.
TEST(PollBackoff, RestsTheLongerTheLongerNothingHasCome) {
    PollBackoff backoff;
    backoff.begin(10 * ms);
    EXPECT_EQ(backoff.rest(10.1 * ms, 200 * us), 200 * us);
    EXPECT_NEAR(backoff.rest(14 * ms, 200 * us) / ms, 1, 1e-9);
    backoff.begin(14 * ms);
    EXPECT_NEAR(backoff.rest(16 * ms, 200 * us) / ms, 0.5, 1e-9);
}

}  // namespace
}  // namespace sextant
