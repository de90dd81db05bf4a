// What the links of the round machine leave a worker on its way to parameter servers: 20 GB/s between a device and its host, four NICs of
// 10 GB/s on each node, one beside each device.
#include "model/predict/server_path.hpp"

#include "model/plan/partition.hpp"
#include "tests/predict/mlp_job.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

using namespace units;

ServerPath path_of(const Scenario& job) { return server_path(job, Topology::build(job.cluster, used_nodes(job))); }

Scenario workers(int count, int nodes) {
    Scenario job = mlp_job(4);
    job.cluster = round_machine::cluster(nodes);
    job.plan.dp = count;
    job.plan.data_parallel = DataParallel::parameter_server;
    return job;
}

TEST(ServerPath, InsideANodeIsEachDevicesLinkToItsHost) {
    Scenario job = workers(4, 1);
    job.plan.servers_on_workers = true;
    const ServerPath path = path_of(job);
    EXPECT_NEAR(path.host / (GB / s), 20, 1e-9);
    EXPECT_TRUE(std::isinf(path.network.si()));
}

TEST(ServerPath, ToAnotherHostIsTheNicBesideEachDevice) {
    const ServerPath path = path_of(workers(4, 2));
    EXPECT_NEAR(path.network / (GB / s), 10, 1e-9);
    EXPECT_NEAR(path.host / (GB / s), 20, 1e-9);
    // Eight workers on two nodes: each NIC of the server's host has what two of them send.
    EXPECT_NEAR(path_of(workers(8, 3)).network / (GB / s), 5, 1e-9);
    // Two servers halve that.
    Scenario two = workers(8, 4);
    two.plan.parameter_servers = 2;
    EXPECT_NEAR(path_of(two).network / (GB / s), 10, 1e-9);
    EXPECT_EQ(path_of(two).on_a_host, 1);
}

TEST(ServerPath, OfServersOnTheWorkersIsTheNetworkForOtherNodesAlone) {
    // Half of everything to the server beside it, half over its own NIC.
    Scenario job = workers(8, 2);
    job.plan.servers_on_workers = true;
    EXPECT_NEAR(path_of(job).network / (GB / s), 20, 1e-9);
    EXPECT_NEAR(path_of(job).host / (GB / s), 20, 1e-9);
    EXPECT_EQ(path_of(job).servers, 2);
    // One sum of the four workers leaves each host.
    job.framework.sums_on_host = true;
    EXPECT_NEAR(path_of(job).network / (GB / s), 80, 1e-9);
    // Three servers: two thirds of everything go to the first node, whose host they share.
    job.framework.sums_on_host = false;
    job.plan.parameter_servers = 3;
    EXPECT_NEAR(path_of(job).network / (GB / s), 15, 1e-9);
    EXPECT_EQ(path_of(job).on_a_host, 2);
}

}  // namespace
}  // namespace sextant
