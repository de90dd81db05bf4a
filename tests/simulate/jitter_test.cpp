// Noise and slow devices: what makes ranks differ.
#include "tests/simulate/hand_made_job.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

using namespace units;
using hand_made::end_ms;
using hand_made::HandMadeJob;

// The time of a kernel of 1 ms on each rank.
std::vector<double> kernel_times(int ranks, const Jitter& jitter) {
    HandMadeJob job(ranks);
    for (int r = 0; r < ranks; ++r) job.kernel(static_cast<GraphRank>(r), 1);
    const Simulation played = job.play(jitter);
    std::vector<double> times(static_cast<std::size_t>(ranks));
    for (const Span& span : played.trace.spans) times[span.rank] = (span.end - span.start) / ms;
    return times;
}

TEST(Jitter, OfNothingLeavesAllAlike) {
    for (const double t : kernel_times(4, {})) EXPECT_EQ(t, 1);
}

TEST(Jitter, GivesTheSameTimesForTheSameSeedAndOthersForAnother) {
    const Jitter jitter{.noise = 0.05, .seed = 7};
    EXPECT_EQ(kernel_times(100, jitter), kernel_times(100, jitter));
    Jitter other = jitter;
    other.seed = 8;
    const auto a = kernel_times(100, jitter), b = kernel_times(100, other);
    int same = 0;
    for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i] ? 1 : 0;
    EXPECT_EQ(same, 0);
}

TEST(Jitter, OfARankDoesNotDependOnHowManyOthersThereAre) {
    const Jitter jitter{.noise = 0.05, .seed = 7};
    const auto few = kernel_times(10, jitter), many = kernel_times(100, jitter);
    EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
}

TEST(Jitter, SpreadsNormallyAsWideAsItSays) {
    // Of 2,000 draws the mean lies within 4 of its standard errors, 0.05 / sqrt(2000), the standard deviation within 4 of its own,
    // 0.05 / sqrt(2 x 2000), and 68.3 % of them, give or take 4 x sqrt(0.683 x 0.317 / 2000) = 4.2 %, within one deviation.
    const auto times = kernel_times(2000, {.noise = 0.05, .seed = 1});
    const double n = static_cast<double>(times.size());
    const double mean = std::accumulate(times.begin(), times.end(), 0.0) / n;
    double squares = 0, within = 0;
    for (const double t : times) {
        squares += (t - mean) * (t - mean);
        within += std::abs(t - 1) < 0.05 ? 1 : 0;
    }
    EXPECT_NEAR(mean, 1, 4 * 0.05 / std::sqrt(n));
    EXPECT_NEAR(std::sqrt(squares / n), 0.05, 4 * 0.05 / std::sqrt(2 * n));
    EXPECT_NEAR(within / n, 0.683, 0.042);
}

TEST(Jitter, NeighbouringSeedsAndRanksAreNotRelated) {
    // The correlation of 2,000 pairs of independent draws has a standard error of 1 / sqrt(2000) = 0.022.
    const auto a = kernel_times(2001, {.noise = 0.05, .seed = 1}), b = kernel_times(2001, {.noise = 0.05, .seed = 2});
    double seeds = 0, ranks = 0;
    for (std::size_t i = 0; i < 2000; ++i) {
        seeds += (a[i] - 1) * (b[i] - 1);
        ranks += (a[i] - 1) * (a[i + 1] - 1);
    }
    EXPECT_NEAR(seeds / 2000 / (0.05 * 0.05), 0, 4 * 0.0224);
    EXPECT_NEAR(ranks / 2000 / (0.05 * 0.05), 0, 4 * 0.0224);
}

TEST(Jitter, SlowsTheFirstDevicesOfTheJob) {
    const auto times = kernel_times(4, {.slow_devices = 2, .slow_speed = 0.5});
    EXPECT_EQ(times, (std::vector<double>{2, 2, 1, 1}));
}

TEST(Jitter, NeverMakesAKernelTakeNoTime) {
    for (const double t : kernel_times(500, {.noise = 10, .seed = 1})) EXPECT_GE(t, 0.1);
}

TEST(Jitter, LeavesCopiesAndHostsAlone) {
    HandMadeJob job(1);
    const auto copies = job.add(0, Stream::compute, OffloadWork{}, {{SpanKind::offload, 1 * ms, {}, {}, {}, {}}});
    const auto host = job.add(0, Stream::compute, OverheadWork{}, {{SpanKind::overhead, 1 * ms, {}, {}, {}, {}}}, 0, {copies});
    const auto kernel = job.kernel(0, 1, {host});
    const Simulation played = job.play({.slow_devices = 1, .slow_speed = 0.5});
    EXPECT_NEAR(end_ms(played, copies), 1, 1e-9);
    EXPECT_NEAR(end_ms(played, host), 2, 1e-9);
    EXPECT_NEAR(end_ms(played, kernel), 4, 1e-9);
}

TEST(Jitter, LeavesExchangesAndServersAlone) {
    HandMadeJob job(2);
    job.builder.rank(1).server = true;
    const auto x = job.send(0, 1, 100 * MB, {}, 1);
    const auto served = job.add(1, Stream::server, ServeWork{1, false}, {{SpanKind::serve, 1 * ms, {}, {}, {}, {}}}, 0, {x});
    const Simulation played = job.play({.noise = 0.2, .seed = 3, .slow_devices = 2, .slow_speed = 0.5});
    EXPECT_NEAR(end_ms(played, x), 2, 1e-9);
    EXPECT_NEAR(end_ms(played, served), 3, 1e-9);
}

}  // namespace
}  // namespace sextant
