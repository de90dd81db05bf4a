// Utilization over time is what went over the links and what ran on the devices, spread over the step.
#include "model/simulate/utilization.hpp"
#include "tests/simulate/hand_made_job.hpp"

namespace sextant {
namespace {

using namespace units;
using hand_made::HandMadeJob;

// Time in use, of the whole step.
double busy_ms(const UtilizationSeries& series, const Simulation& played) {
    const double mean = std::accumulate(series.busy.begin(), series.busy.end(), 0.0) / static_cast<double>(series.busy.size());
    return mean * (played.trace.end / ms);
}

TEST(Utilization, OfADeviceIsTheTimeOfItsKernels) {
    // Rank 0 computes from 0 to 3 and from 5 to 6, rank 1 from 3 to 5.
    HandMadeJob job(2);
    const auto a = job.kernel(0, 3), b = job.kernel(1, 2, {a});
    job.kernel(0, 1, {b});
    const Simulation played = job.play();
    ASSERT_EQ(played.devices.size(), 2u);
    EXPECT_EQ(played.devices[1].name, "rank 1");
    EXPECT_NEAR(busy_ms(played.devices[0], played), 4, 1e-9);
    EXPECT_NEAR(busy_ms(played.devices[1], played), 2, 1e-9);
    // 200 intervals of 0.03 ms: the hundred-and-first begins at 3 ms.
    EXPECT_NEAR(played.devices[0].busy.at(99), 1, 1e-9);
    EXPECT_NEAR(played.devices[0].busy.at(101), 0, 1e-9);
    EXPECT_NEAR(played.devices[1].busy.at(101), 1, 1e-9);
}

TEST(Utilization, NamesAServerAsWhatItIs) {
    // The first worker and the first server are both number 0.
    TraceRank worker, server;
    server.server = true;
    const std::vector<UtilizationSeries> series = device_utilization({{worker, server}, {}, {}, 1 * ms});
    ASSERT_EQ(series.size(), 2u);
    EXPECT_EQ(series[0].name, "rank 0");
    EXPECT_EQ(series[1].name, "server 0");
}

TEST(Utilization, DoesNotCountWaitingAndCommunicatingAsComputing) {
    HandMadeJob job(2);
    job.kernel(0, 1, {}, 4);
    job.send(0, 1, 100 * MB, {}, 0, Stream::compute);
    const Simulation played = job.play();
    EXPECT_NEAR(busy_ms(played.devices[0], played), 1, 1e-9);
}

TEST(Utilization, OfALinkIsItsBytesOverItsCapacity) {
    // 300 MB leave rank 0 for 1 and 100 MB for 2, in 4 ms: its port is busy all the time; that of 1 for 3 ms' worth, that of 2 for 1.
    HandMadeJob job(3);
    job.send(0, 1, 300 * MB);
    job.send(0, 2, 100 * MB, {}, 0, Stream::send_previous);
    const Simulation played = job.play();
    ASSERT_EQ(played.links.size(), 3u);
    EXPECT_NEAR(busy_ms(played.links[0], played), 4, 1e-9);
    EXPECT_NEAR(busy_ms(played.links[1], played), 3, 1e-9);
    EXPECT_NEAR(busy_ms(played.links[2], played), 1, 1e-9);
    // Shared in halves for 2 ms.
    EXPECT_NEAR(played.links[1].busy.at(50), 0.5, 1e-9);
    EXPECT_NEAR(played.links[1].busy.at(150), 1, 1e-9);
}

TEST(Utilization, NamesALinkForAllThatAreUsedAlike) {
    // A ring of four: every port out and every port in.
    HandMadeJob job(4);
    const auto c = job.group(ParallelGroup::data, {0, 1, 2, 3});
    for (GraphRank r = 0; r < 4; ++r) job.all_reduce(r, c, 100 * MB);
    const Simulation played = job.play();
    ASSERT_EQ(played.links.size(), 1u);
    EXPECT_EQ(played.links[0].count, 8);
    EXPECT_NEAR(busy_ms(played.links[0], played), 1, 1e-9);
}

}  // namespace
}  // namespace sextant
