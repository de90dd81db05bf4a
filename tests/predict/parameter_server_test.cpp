#include "model/predict/parameter_servers.hpp"
#include "tests/predict/data_parallel_state.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;

// A way of 20 GB/s to one server: each of ten blocks of 0.2 GB goes there in 10 ms, and its four gradients are added up in 4 ms of host
// memory.
Prepared::State served(DataParallel how = DataParallel::parameter_server) {
    Prepared::State job = replicated(how);
    job.groups.to_servers.host = 20 * GB / s;
    return job;
}

TEST(DataParallel, OfAParameterServerIsTheWayThereTheUpdateAndTheWayBack) {
    // 100 ms, 4 ms for the last block's sum, 2 x 2 GB / (200 GB/s) for the update, 100 ms.
    EXPECT_NEAR(price_ms(served(), {}, {}).exposed, 224, 1e-9);
    // Over the network all four may send no more than 5 GB/s each: 400 ms each way.
    Prepared::State job = served();
    job.groups.to_servers.network = 5 * GB / s;
    EXPECT_NEAR(price_ms(job, {}, {}).exposed, 824, 1e-9);
}

TEST(DataParallel, OfAParameterServerFetchesThoseWeightsThatAreStored) {
    Prepared::State job = served();
    job.scenario.plan.pruned_fraction = 0.75;
    EXPECT_NEAR(price_ms(job, {}, {}).exposed, 100 + 4 + 20 + 25, 1e-9);
}

TEST(DataParallel, OfAParameterServerHidesBehindBackwardAllButTheLastBlock) {
    // A block is ready every 20 ms, and is there and added up before the next one is.
    Prepared::State job = served();
    job.scenario.plan.gradient_overlap = true;
    const PriceMs p = price_ms(job, {}, 200 * ms);
    EXPECT_NEAR(p.exposed, 10 + 4 + 20 + 100, 1e-9);
    EXPECT_NEAR(p.hidden, 90, 1e-9);
}

TEST(DataParallel, OfAParameterServerThatIsSlowerThanTheWayWaitsForItsSums) {
    // The first block is there after 1 ms, and ten sums of 4 ms follow; the way back takes 10 ms.
    Prepared::State job = served();
    job.groups.to_servers.host = 200 * GB / s;
    EXPECT_NEAR(price_ms(job, {}, {}).exposed, 1 + 10 * 4 + 20 + 10, 1e-9);
}

TEST(DataParallel, OfServersOnOneHostShareItsMemory) {
    // Two with half of everything each: both are done when one with everything would be. On hosts of their own they take half as long.
    Prepared::State job = served();
    job.groups.to_servers.servers = job.groups.to_servers.on_a_host = 2;
    EXPECT_NEAR(price_ms(job, {}, {}).exposed, 224, 1e-9);
    job.groups.to_servers.on_a_host = 1;
    EXPECT_NEAR(price_ms(job, {}, {}).exposed, 100 + 2 + 10 + 100, 1e-9);
}

TEST(DataParallel, OfAServerOnACoreUpdatesWithTheMemoryToItselfWhileWorkersWait) {
    const auto update = [](DataParallel how, double alone) {
        Prepared::State job = served(how);
        Device& core = job.scenario.cluster.node.device;
        core.kind = DeviceKind::cpu;
        core.bandwidth_alone = round_machine::given(alone);
        job.nodes.cores = job.nodes.devices = 4;
        job.nodes.host_copy = 1e9 * GB / s;
        return server_update_time(job, 1 * GB);
    };
    EXPECT_NEAR(update(DataParallel::parameter_server, 1) / update(DataParallel::parameter_server, 1.5), 1.5, 1e-9);
    EXPECT_EQ(update(DataParallel::async_parameter_server, 1), update(DataParallel::async_parameter_server, 1.5));
}

TEST(DataParallel, OfAsynchronousServersUpdatesWithWhatEachWorkerSends) {
    // Four updates of 2 ms for each block instead of four sums of 1 ms, and none at the end.
    EXPECT_NEAR(price_ms(served(DataParallel::async_parameter_server), {}, {}).exposed, 100 + 8 + 100, 1e-9);
}

TEST(DataParallel, OfParameterServersLeavesNothingToUpdate) {
    Prepared::State job = served();
    job.scenario.plan.offload = Offload::optimizer;
    EXPECT_EQ(price_ms(job, {}, {}).offload, 0);
}

}  // namespace
}  // namespace sextant
