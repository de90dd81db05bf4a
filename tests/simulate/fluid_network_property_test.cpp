// Any network: the fast solver against a slow one, the certificate of max-min fairness, and times of completion against small steps.
#include "model/simulate/fluid_network.hpp"
#include "tests/simulate/reference_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>

namespace sextant {
namespace {

using namespace units;

class RandomNetwork {
public:
    explicit RandomNetwork(std::uint32_t seed) : random_(seed) {
        const int links = 1 + pick(8);
        // Few distinct sizes, so that ties are common: equal levels are where solvers go wrong.
        for (int l = 0; l < links; ++l) capacities.push_back(1 + pick(4));
    }

    int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

    // Sometimes all weights are 1, sometimes not; sometimes no link at all.
    reference::Flow flow() {
        reference::Flow f;
        f.limit = pick(3) == 0 ? 0.25 * (1 + pick(8)) : std::numeric_limits<double>::infinity();
        const bool plain = pick(2) == 0;
        for (std::uint32_t l = 0; l < capacities.size(); ++l)
            if (pick(3) == 0) f.uses.push_back({l, plain ? 1.0 : 0.1 * (1 + pick(30))});
        if (f.uses.empty() && f.limit > 1e9) f.limit = 1.5;
        return f;
    }

    [[nodiscard]] FluidNetwork build() const {
        std::vector<Bandwidth> c;
        for (const double capacity : capacities) c.push_back(capacity * B / s);
        return FluidNetwork(std::move(c));
    }

    std::vector<double> capacities;

private:
    std::mt19937 random_;
};

// Flows come and go, some of them several at one instant; all that are there, by their index.
struct Crowd {
    RandomNetwork plan;
    FluidNetwork network;
    std::map<FlowIndex, reference::Flow> flows;

    explicit Crowd(std::uint32_t seed) : plan(seed), network(plan.build()) {}

    void start(Seconds now, Bytes bytes) {
        const auto flow = plan.flow();
        flows[network.start(now, bytes, flow.uses, flow.limit * B / s)] = flow;
    }
    FlowIndex stop_one(Seconds now) {
        const FlowIndex f = std::next(flows.begin(), plan.pick(static_cast<int>(flows.size())))->first;
        network.stop(now, f);
        flows.erase(f);
        return f;
    }
    [[nodiscard]] std::map<FlowIndex, double> reference_rates() const {
        std::vector<reference::Flow> list;
        for (const auto& [index, flow] : flows) list.push_back(flow);
        const auto rates = reference::fair_rates(plan.capacities, list);
        std::map<FlowIndex, double> out;
        for (auto rate = rates.begin(); const auto& [index, flow] : flows) out[index] = *rate++;
        return out;
    }
};

TEST(AnyFluidNetwork, HasTheRatesOfATextbookSolverAfterEveryChange) {
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        Crowd crowd(seed);
        for (int instant = 0; instant < 40; ++instant) {
            const Seconds now = instant * s;
            for (int changes = 1 + crowd.plan.pick(3); changes > 0; --changes)
                if (crowd.flows.empty() || crowd.plan.pick(5) < 3)
                    crowd.start(now, 1e9 * B);
                else
                    crowd.stop_one(now);
            crowd.network.settle(now);
            for (const auto& [f, rate] : crowd.reference_rates())
                ASSERT_NEAR(crowd.network.rate(f).si(), rate, 1e-8 * rate) << "seed " << seed << ", instant " << instant << ", flow " << f;
        }
    }
}

// The definition itself, without any solver: no link carries more than it has, and each flow is at its limit or crosses a full link
// on which nobody is faster.
TEST(AnyFluidNetwork, IsFairByTheCertificate) {
    constexpr double close = 1e-8;
    for (std::uint32_t seed = 1000; seed < 1300; ++seed) {
        Crowd crowd(seed);
        const int n = 1 + crowd.plan.pick(30);
        for (int i = 0; i < n; ++i) crowd.start(Seconds(), 1e9 * B);
        crowd.network.settle(Seconds());
        std::vector<double> fastest(crowd.plan.capacities.size(), 0);
        for (const auto& [f, flow] : crowd.flows)
            for (const LinkUse& use : flow.uses) fastest[use.link] = std::max(fastest[use.link], crowd.network.rate(f).si());
        const auto full = [&](std::uint32_t l) { return crowd.network.used(l).si() >= crowd.plan.capacities[l] * (1 - close); };
        for (std::uint32_t l = 0; l < fastest.size(); ++l)
            ASSERT_LE(crowd.network.used(l).si(), crowd.plan.capacities[l] * (1 + close)) << "seed " << seed;
        for (const auto& [f, flow] : crowd.flows) {
            const double rate = crowd.network.rate(f).si();
            const bool held = rate >= flow.limit * (1 - close) || std::ranges::any_of(flow.uses, [&](const LinkUse& use) {
                                  return full(use.link) && rate >= fastest[use.link] * (1 - close);
                              });
            ASSERT_TRUE(held) << "seed " << seed << ", flow " << f << " could go faster";
        }
    }
}

// Bytes are what rates add up to: every flow is played to its end, and the rates of the slow solver, between the instants at which
// anything changes, carry exactly its bytes.
TEST(AnyFluidNetwork, CarriesEveryFlowsBytesByTheTimeItNames) {
    for (std::uint32_t seed = 2000; seed < 2150; ++seed) {
        Crowd crowd(seed);
        std::map<FlowIndex, double> finish, left;
        double now = 0;
        for (int to_come = 12; to_come > 0 || !finish.empty();) {
            const auto first = std::ranges::min_element(finish, {}, &std::pair<const FlowIndex, double>::second);
            const double arrival = to_come > 0 ? now + 0.5 * crowd.plan.pick(4) : std::numeric_limits<double>::infinity();
            const double next = std::min(first == finish.end() ? arrival : first->second, arrival);
            for (const auto& [f, rate] : crowd.reference_rates()) left[f] -= rate * (next - now);
            now = next;
            if (first != finish.end() && next == first->second) {
                ASSERT_NEAR(left[first->first], 0, 1e-6) << "seed " << seed;
                ASSERT_NEAR(crowd.network.stop(now * s, first->first).si(), 0, 1e-6);
                crowd.flows.erase(first->first);
                left.erase(first->first);
                finish.erase(first);
            } else {
                const double bytes = crowd.plan.pick(20);
                const auto flow = crowd.plan.flow();
                const FlowIndex f = crowd.network.start(now * s, bytes * B, flow.uses, flow.limit * B / s);
                crowd.flows[f] = flow;
                left[f] = bytes;
                --to_come;
            }
            for (const auto& told : crowd.network.settle(now * s)) finish[told.flow] = told.at / s;
        }
    }
}

// The order in which flows started must not matter to what each gets.
TEST(AnyFluidNetwork, IsTheSameInWhateverOrderFlowsCame) {
    for (std::uint32_t seed = 3000; seed < 3100; ++seed) {
        RandomNetwork plan(seed);
        std::vector<reference::Flow> flows;
        for (int i = 0; i < 12; ++i) flows.push_back(plan.flow());
        FluidNetwork one = plan.build(), other = plan.build();
        std::vector<FlowIndex> in_one(flows.size()), in_other(flows.size());
        for (std::size_t i = 0; i < flows.size(); ++i) in_one[i] = one.start(Seconds(), 1 * B, flows[i].uses, flows[i].limit * B / s);
        for (std::size_t i = flows.size(); i-- > 0;) {
            in_other[i] = other.start(Seconds(), 1 * B, flows[i].uses, flows[i].limit * B / s);
            other.settle(Seconds());
        }
        one.settle(Seconds());
        for (std::size_t i = 0; i < flows.size(); ++i)
            ASSERT_NEAR(one.rate(in_one[i]).si(), other.rate(in_other[i]).si(), 1e-8 * one.rate(in_one[i]).si()) << "seed " << seed;
    }
}

}  // namespace
}  // namespace sextant
