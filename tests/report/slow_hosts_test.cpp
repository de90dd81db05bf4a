#include "model/report/slow_hosts.hpp"

#include "tests/report/hand_made_trace.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using hand_made::HandMadeTrace;

// Four ranks of one stage, one on each host; each computes, then exchanges 1 MB, in so many milliseconds.
Trace trace_of(std::initializer_list<double> computing, std::initializer_list<double> exchanging) {
    HandMadeTrace t({0, 0, 0, 0});
    for (GraphRank r = 0; r < 4; ++r) {
        const double compute = computing.begin()[r], exchange = exchanging.begin()[r];
        const SpanIndex backward = t.add(r, Stream::compute, SpanKind::backward, 0, compute);
        const SpanIndex sent = t.add(r, Stream::communication, SpanKind::data_exchange, compute, compute + exchange, backward);
        t.trace.spans[sent].bytes = 1 * MB;
        t.trace.ranks[r].host = "host" + std::to_string(r + 1);
    }
    return t.trace;
}

const Trace simulated = trace_of({10, 10, 10, 10}, {5, 5, 5, 5});

TEST(SlowHosts, AreNamedWhereTheyComputeSlowlyThoughTheOthersWaitInTheExchange) {
    // 20 ms where the others take 11, who wait for it in the exchange.
    const auto slow = find_slow_host(simulated, trace_of({11, 11, 20, 11}, {14, 14, 5, 14}));
    ASSERT_TRUE(slow);
    EXPECT_EQ(slow->host, "host3");
    EXPECT_TRUE(slow->computes);
    EXPECT_NEAR(slow->times, 20.0 / 11, 1e-12);
}

TEST(SlowHosts, AreNamedWhereTheyExchangeSlowly) {
    const auto slow = find_slow_host(simulated, trace_of({10, 11, 10, 10}, {6, 30, 6, 6}));
    ASSERT_TRUE(slow);
    EXPECT_EQ(slow->host, "host2");
    EXPECT_FALSE(slow->computes);
    EXPECT_NEAR(slow->times, 5, 1e-12);
}

TEST(SlowHosts, AreNotNamedForAnUnevenMomentOfComputingBesideLongExchanges) {
    // 0.1 ms more than the others, who take 0.2 ms, in a step of 30.
    const auto slow = find_slow_host(simulated, trace_of({0.2, 0.2, 0.3, 0.2}, {6, 30, 6, 6}));
    ASSERT_TRUE(slow);
    EXPECT_EQ(slow->host, "host2");
    EXPECT_FALSE(slow->computes);
}

TEST(SlowHosts, AreNoneWhereAllAreEquallyFarFromTheSimulation) {
    EXPECT_FALSE(find_slow_host(simulated, trace_of({30, 30, 31, 30}, {50, 50, 50, 52})));
    EXPECT_FALSE(find_slow_host(simulated, simulated));
}

TEST(SlowHosts, NeedOthersToBeSlowerThan) {
    Trace alone = trace_of({10, 10, 40, 10}, {5, 5, 5, 5});
    for (TraceRank& r : alone.ranks) r.host = "here";
    EXPECT_FALSE(find_slow_host(simulated, alone));
}

}  // namespace
}  // namespace sextant
