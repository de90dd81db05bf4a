#include "model/plan/plan_features.hpp"

#include "tests/cost/round_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

// Nodes of four devices.
TEST(PlanFeatures, AWayFromNodeToNodeIsNeededWhereRanksOrServersStandOnSeveral) {
    const Cluster cluster = round_machine::cluster(4);
    const auto needs = [&](const Plan& p) { return needed_features(p, cluster); };
    Plan p;
    p.dp = 4;
    EXPECT_THAT(needs(p), Not(Contains(PlanFeature::several_nodes)));
    p.dp = 5;
    EXPECT_THAT(needs(p), ElementsAre(PlanFeature::several_nodes));
    p.dp = 4;
    p.scattered = true;
    EXPECT_THAT(needs(p), Contains(PlanFeature::several_nodes));
    p.scattered = false;
    p.devices_per_node = 2;
    EXPECT_THAT(needs(p), Contains(PlanFeature::several_nodes));
    p.devices_per_node.reset();
    p.data_parallel = DataParallel::parameter_server;
    EXPECT_THAT(needs(p), Contains(PlanFeature::several_nodes));
    p.servers_on_workers = true;
    EXPECT_THAT(needs(p), Not(Contains(PlanFeature::several_nodes)));
    Framework one_node;
    one_node.lacks = {PlanFeature::several_nodes};
    p.dp = 8;
    EXPECT_THAT(missing_features(p, one_node, cluster), ElementsAre(PlanFeature::several_nodes));
}

}  // namespace
}  // namespace sextant
