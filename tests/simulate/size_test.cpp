// Steps that would take minutes to play are refused at once.
#include "model/sextant.hpp"
#include "tests/base/refusal.hpp"
#include "tests/golden/bundled_scenarios.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

// A server on the host of every worker.
Scenario served(const std::string& name, int workers, std::vector<std::string> changes = {}) {
    const std::string count = std::to_string(workers);
    for (const char* field : {"hardware.nodes=", "plan.dp="}) changes.push_back(field + count);
    changes.emplace_back("plan.servers_on_workers=true");
    return bundled_scenario(name, changes);
}

std::string refusal(const Scenario& scenario) {
    return refusal_by([&] { return simulate(scenario); });
}

TEST(Size, OfWorkersThatAllChangeEachOthersRatesCountsEveryChange) {
    using testing::HasSubstr;
    EXPECT_EQ(refusal(served("parameter-server-async", 64)), "");
    // Played, this takes four minutes: each of 165,000 pushes and pulls shares 1,024 links with those of 1,023 others.
    const std::string why = refusal(served("parameter-server-async", 1024));
    EXPECT_THAT(why, HasSubstr("too many to be played one by one"));
    EXPECT_THAT(why, HasSubstr("fewer workers"));
}

TEST(Size, OfWorkersThatDoTheSameIsThatOfOne) { EXPECT_EQ(refusal(served("parameter-server-sync", 512)), ""); }

// Before the graph is made: it would have 100 million ways between workers and servers.
TEST(Size, OfAGraphCountsStepsBlocksAndServers) {
    EXPECT_THAT(refusal(served("parameter-server-async", 4096, {"hardware.cluster_nodes=10000"})), testing::HasSubstr("4096 devices"));
}

}  // namespace
}  // namespace sextant
