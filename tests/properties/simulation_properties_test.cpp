// What must hold of any simulation, tried on every scenario.
#include "model/report/memory_timeline.hpp"
#include "model/report/trace_terms.hpp"
#include "model/simulate/link_map.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/predict/mlp_job.hpp"
#include "tests/properties/few_ranks.hpp"
#include "tests/properties/played_scenario.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

namespace sextant {
namespace {

constexpr double fold_rounding = 2e-9;  // relative

// Folding.

TEST_P(EveryScenario, TakesAsLongFoldedAsRankByRank) {
    const Scenario s = with_few_ranks(bundled_scenario(GetParam()));
    if (s.plan.data_parallel == DataParallel::async_parameter_server) GTEST_SKIP() << "nobody waits for the others: never folded";
    const Simulation folded = PlayableScenario(s, Fold::alike).play(), each = PlayableScenario(s, Fold::nothing).play();
    EXPECT_TRUE(folded.folded_alike);
    EXPECT_NEAR(each.trace.end / folded.trace.end, 1, fold_rounding);
    const Terms a = terms_of(folded.trace, last_rank(folded.trace)), b = terms_of(each.trace, last_rank(each.trace));
    for (const Term t : all_terms) {
        EXPECT_NEAR((a[t] - b[t]) / folded.trace.end, 0, fold_rounding) << to_text(t);
    }
}

// Two pipelines of three stages, on nodes of four devices: the first stands on one node, the second across two.
TEST(Folding, IsRefusedWhereTheRanksOfAStageSeeLinksDifferently) {
    Scenario job = mlp_job(6);
    job.plan.pp = 3;
    job.plan.dp = 2;
    job.plan.global_batch = 4 * job.plan.micro_batch;
    job.plan.placement = {PlanDimension::tensor, PlanDimension::context, PlanDimension::pipeline, PlanDimension::data};
    EXPECT_FALSE(PlayableScenario(job, Fold::alike).play().folded_alike);
    EXPECT_EQ(simulate(job).trace.ranks.size(), 6u);
    job.plan.placement = {PlanDimension::tensor, PlanDimension::context, PlanDimension::data, PlanDimension::pipeline};
    job.plan.dp = 4;
    job.plan.global_batch = 8 * job.plan.micro_batch;
    job.cluster.nodes = 3;
    EXPECT_EQ(simulate(job).trace.ranks.size(), 3u);
}

// Rank by rank, what each does on each communicator must be the same: an executor would wait for ever, or add up what does not belong
// together.
TEST_P(EveryScenario, CallsTheSameCollectivesInTheSameOrderOnAllRanksOfAGroup) {
    const Scenario s = with_few_ranks(bundled_scenario(GetParam()));
    const TaskGraph graph = lower(s, Fold::nothing);
    std::map<CommunicatorIndex, std::map<GraphRank, std::vector<std::pair<WorkIndex, Stream>>>> calls;
    for (CommunicatorIndex c = 0; c < graph.communicators().size(); ++c)
        if (graph.communicators()[c].group != ParallelGroup::pipeline && !graph.communicators()[c].with_server)
            for (const GraphRank r : graph.communicators()[c].members) calls[c][r];
    for (const Segment& segment : graph.segments()) {
        if (std::holds_alternative<CollectiveWork>(graph.works()[segment.work]))
            calls.at(segment.communicator).at(segment.rank).emplace_back(segment.work, segment.stream);
        if (!std::holds_alternative<ComputeWork>(graph.works()[segment.work])) continue;
        // Exchanges inside its blocks, over whichever groups the rank is in.
        for (const auto& c : graph.ranks()[segment.rank].communicators)
            if (c) calls.at(*c).at(segment.rank).emplace_back(segment.work, segment.stream);
    }
    for (const auto& [c, of_rank] : calls) {
        ASSERT_EQ(of_rank.size(), graph.communicators()[c].sets.front().size());
        // Ranks of one group are of one stage, so that the works inside are the same too.
        for (const auto& [rank, list] : of_rank) EXPECT_EQ(list, of_rank.begin()->second) << "communicator " << c << ", rank " << rank;
    }
}

TEST_P(EveryScenario, PutsEveryRankOfTheJobIntoOneSetOfEachOfItsGroups) {
    const Scenario s = bundled_scenario(GetParam());
    const TaskGraph graph = lower(s, possible_fold(s));
    int ranks = 0;
    for (const RankInfo& rank : graph.ranks()) ranks += rank.server ? 0 : rank.multiplicity;
    EXPECT_EQ(ranks, s.plan.devices());
    for (const Communicator& c : graph.communicators()) {
        if (c.with_server) continue;
        int stood_for = 0, in_sets = 0;
        for (const GraphRank r : c.members) stood_for += graph.ranks()[r].multiplicity;
        std::vector<int> all;
        for (const std::vector<int>& set : c.sets) all.insert(all.end(), set.begin(), set.end());
        in_sets = static_cast<int>(all.size());
        std::ranges::sort(all);
        EXPECT_EQ(in_sets, stood_for);
        EXPECT_TRUE(std::ranges::adjacent_find(all) == all.end());
    }
}

// Time.

// The longest way through the graph, each piece as fast as it can be: kernels beside no communication, exchanges alone on their links.
Seconds longest_way(const PlayableScenario& played) {
    const TaskGraph& graph = played.graph;
    const LinkMap links(graph, played.table, *played.machine.topology, played.machine.placement);
    const std::vector<Bandwidth> capacities = links.capacities();
    const auto alone = [&](const Segment& s, const Work& work, const PricedExchange& exchange) {
        const bool own = !std::holds_alternative<ComputeWork>(work);
        const auto& inside = graph.ranks()[s.rank].communicators[exchange.group];
        if (!own && !inside) return Seconds{};
        const CommunicatorIndex c = own ? s.communicator : *inside;
        Seconds bytes{};
        for (const LinkUse& use : links.uses(links.traffic(c, pattern_of(exchange.price, graph.communicators()[c], work))))
            bytes = max(bytes, exchange.price.bytes * use.weight / exchange.price.efficiency / capacities[use.link]);
        return (1 - exchange.hidden) * (exchange.price.fixed + bytes);
    };
    std::vector<Seconds> ends(graph.segments().size());
    std::vector<SegmentIndex> before(graph.segments().size(), UINT32_MAX);
    std::map<std::pair<GraphRank, Stream>, SegmentIndex> last;
    for (SegmentIndex s = 0; s < ends.size(); ++s) {
        const Segment& segment = graph.segments()[s];
        const auto [entry, is_first] = last.try_emplace({segment.rank, segment.stream}, s);
        // Fused exchanges take the time of one; a server's segments have no order.
        const bool in_order = segment.stream != Stream::server && !(played.table.fusion && segment.stream == Stream::communication);
        if (!is_first && in_order) before[s] = entry->second;
        entry->second = s;
    }
    const auto length = [&](SegmentIndex s) {
        const Segment& segment = graph.segments()[s];
        Seconds sum{};
        for (const Piece& piece : played.table.works[segment.work].pieces) {
            sum += piece.device;
            if (piece.exchange) sum += alone(segment, graph.works()[segment.work], *piece.exchange);
        }
        return sum;
    };
    // Waits may point ahead in the graph: depth first, with a stack of its own.
    std::vector<char> done(ends.size(), 0);
    std::vector<SegmentIndex> stack;
    Seconds longest{};
    for (SegmentIndex root = 0; root < ends.size(); ++root) {
        stack.push_back(root);
        while (!stack.empty()) {
            const SegmentIndex s = stack.back();
            if (done[s]) {
                stack.pop_back();
                continue;
            }
            Seconds start{};
            bool ready = true;
            const auto after = [&](SegmentIndex d) {
                if (!done[d]) stack.push_back(d), ready = false;
                start = max(start, ends[d]);
            };
            if (before[s] != UINT32_MAX) after(before[s]);
            for (const SegmentIndex d : graph.waits_for(s)) after(d);
            if (!ready) continue;
            ends[s] = start + length(s);
            longest = max(longest, ends[s]);
            done[s] = 1;
            stack.pop_back();
        }
    }
    return longest;
}

TEST_P(EveryScenario, IsNeverShorterThanTheLongestWayThroughItsGraph) {
    const Scenario s = bundled_scenario(GetParam());
    const PlayableScenario played(s, Fold::alike);
    const Seconds longest = longest_way(played), step = played.play().trace.end;
    EXPECT_GT(longest, Seconds{});
    EXPECT_GE(step / longest, 1 - fold_rounding);
}

TEST_P(EveryScenario, IsAsLongAsItsCriticalPathAndWhatThatWaitsFor) {
    const SimulationReport r = simulate(bundled_scenario(GetParam()));
    EXPECT_GT(r.critical_path.seconds, Seconds{});
    EXPECT_LE(r.critical_path.seconds / r.trace.end, 1 + fold_rounding);
    // All the way back to the start: its first span waited for nothing, and so it began at once.
    EXPECT_EQ(r.trace.spans[r.critical_path.spans.front()].start, Seconds{});
    EXPECT_EQ(r.trace.spans[r.critical_path.spans.back()].end, r.trace.end);
}

// No theorem where a thread fuses reductions by time: over faster links it finds others waiting when it wakes, and fuses them otherwise.
TEST_P(EveryScenario, IsNotSlowerOverLinksOfTwiceTheBandwidth) {
    Scenario s = bundled_scenario(GetParam());
    const double slower = s.framework.reduction_cycle ? 0.002 : fold_rounding;
    const Seconds before = PlayableScenario(s, Fold::alike).play().trace.end;
    NodeSpec& node = s.cluster.node;
    for (LinkType* link : {&node.peers.link, &node.host_link, &node.host.socket_link, &node.nic_link})
        link->bandwidth.value = 2 * link->bandwidth.value;
    if (node.ethernet) node.ethernet->bandwidth.value = 2 * node.ethernet->bandwidth.value;
    EXPECT_LE(PlayableScenario(s, Fold::alike).play().trace.end / before, 1 + slower);
}

TEST_P(EveryScenario, CommunicatesForFreeWhenOneRankIsSimulated) {
    Scenario s = on_one_device(bundled_scenario(GetParam()));
    s.data.synthetic = true;
    const Simulation played = PlayableScenario(s, Fold::nothing).play();
    EXPECT_TRUE(played.links.empty());
    for (const Span& span : played.trace.spans) EXPECT_EQ(span.stream, Stream::compute);
}

// What ran.

// Works whose reductions are fused into another's exchange have no span of their own.
TEST_P(EveryScenario, RunsEverySegmentAfterWhatItWaitsFor) {
    const Scenario s = bundled_scenario(GetParam());
    const PlayableScenario job(s, possible_fold(s));
    const Simulation played = job.play();
    const TaskGraph& graph = job.graph;
    struct Times {
        Seconds start, end;
        int spans = 0;
    };
    std::vector<Times> times(graph.segments().size());
    for (const Span& span : played.trace.spans) {
        const Segment& segment = graph.segments()[span.segment];
        EXPECT_EQ(segment.rank, span.rank);
        if (span.stream != segment.stream) continue;  // the hidden part of an exchange
        Times& t = times[span.segment];
        t.start = t.spans == 0 ? span.start : min(t.start, span.start);
        t.end = max(t.end, span.end);
        ++t.spans;
    }
    std::vector<SegmentIndex> last(graph.ranks().size() * stream_count, UINT32_MAX);
    for (SegmentIndex s2 = 0; s2 < times.size(); ++s2) {
        const Segment& segment = graph.segments()[s2];
        const std::vector<Piece>& pieces = job.table.works[segment.work].pieces;
        const bool takes_time = std::ranges::any_of(pieces, [](const Piece& p) { return p.device > Seconds{} || p.exchange; });
        const bool may_be_fused = job.table.fusion && segment.stream == Stream::communication;
        ASSERT_TRUE(times[s2].spans > 0 || !takes_time || may_be_fused) << describe(graph.works()[segment.work]);
        if (times[s2].spans == 0) continue;
        for (const SegmentIndex d : graph.waits_for(s2)) ASSERT_LE(times[d].end, times[s2].start) << describe(graph.works()[segment.work]);
        SegmentIndex& before = last[segment.rank * stream_count + static_cast<std::size_t>(segment.stream)];
        ASSERT_TRUE(before == UINT32_MAX || segment.stream == Stream::server || times[before].end <= times[s2].start);
        before = s2;
    }
}

TEST_P(EveryScenario, HasSimulatedTermsThatSumToTheStep) {
    const SimulationReport r = simulate(bundled_scenario(GetParam()));
    EXPECT_NEAR(r.report.estimate.terms.total() / r.report.estimate.step, 1, fold_rounding);
    for (GraphRank rank = 0; rank < std::min<std::size_t>(r.trace.ranks.size(), 8); ++rank)
        EXPECT_NEAR(terms_of(r.trace, rank).total() / r.trace.end, 1, fold_rounding) << "rank " << rank;
}

TEST_P(EveryScenario, HasGivenBackAtTheEndAllMemoryThatItTook) {
    const SimulationReport r = simulate(bundled_scenario(GetParam()));
    ASSERT_FALSE(r.memory.empty());
    for (const MemoryTimeline& m : r.memory) {
        ASSERT_FALSE(m.curve.empty());
        EXPECT_NEAR(m.curve.back().held / max(m.highest, Bytes::from_si(1)), 0, fold_rounding) << "stage " << m.stage;
    }
}

// On the fullest stage; less where blocks come and go one by one.
TEST_P(EveryScenario, HoldsAtMostWhatTheClosedFormSays) {
    const Scenario s = bundled_scenario(GetParam());
    const Estimate formula = predict(s).estimate, played = simulate(s).report.estimate;
    constexpr double of_uneven_chunks = 1e-4;
    EXPECT_LE(played.peak_memory / formula.peak_memory, 1 + of_uneven_chunks);
    if (!s.plan.shards_parameters()) {
        EXPECT_GE(played.peak_memory / formula.peak_memory, 1 - of_uneven_chunks);
    }
    EXPECT_EQ(played.fits(), formula.fits());
}

// As the closed form: a job that fits by what is given back fits as it is played, too.
TEST(PlayedMemory, IsWithoutWhatAnAllocatorGivesBackWhereThereIsNoRoom) {
    Scenario s = bundled_scenario("gpt3-175b-1024xa100");
    const StageMemory fullest = predict(s).estimate.memory.front();
    Device& device = s.cluster.node.device;
    device.usable_memory.reset();
    device.memory.value = fullest.total() - 0.5 * fullest[MemoryKind::fragmentation];
    EXPECT_TRUE(predict(s).estimate.fits());
    const Estimate played = simulate(s).report.estimate;
    EXPECT_TRUE(played.fits());
    EXPECT_NEAR(played.peak_memory / device.memory.value, 1, 1e-6);
}

TEST_P(EveryScenario, UsesNoLinkAndNoDeviceMoreThanItCan) {
    const SimulationReport r = simulate(bundled_scenario(GetParam()));
    ASSERT_FALSE(r.devices.empty());
    for (const auto* list : {&r.devices, &r.links})
        for (const UtilizationSeries& series : *list)
            for (const double busy : series.busy) ASSERT_LE(busy, 1 + 1e-6) << series.name;
}

// Spans without padding, byte by byte.
void expect_same(const Trace& a, const Trace& b) {
    ASSERT_EQ(a.spans.size(), b.spans.size());
    EXPECT_EQ(a.names, b.names);
    const auto bits = [](Seconds t) { return std::bit_cast<std::uint64_t>(t.si()); };
    for (std::size_t i = 0; i < a.spans.size(); ++i) {
        const Span &x = a.spans[i], &y = b.spans[i];
        ASSERT_EQ(bits(x.start), bits(y.start));
        ASSERT_EQ(bits(x.end), bits(y.end));
        ASSERT_EQ(std::tie(x.bytes, x.flops, x.segment, x.cause, x.rank, x.micro_batch, x.name, x.chunk, x.stream, x.kind),
                  std::tie(y.bytes, y.flops, y.segment, y.cause, y.rank, y.micro_batch, y.name, y.chunk, y.stream, y.kind));
    }
}

TEST_P(EveryScenario, PlaysTheSameTraceAgain) {
    const Scenario s = bundled_scenario(GetParam());
    expect_same(PlayableScenario(s, possible_fold(s)).play().trace, PlayableScenario(s, possible_fold(s)).play().trace);
    const PlayableScenario few(with_few_ranks(s), Fold::nothing);
    const Jitter jitter{.noise = 0.05, .seed = 7};
    expect_same(few.play(jitter).trace, few.play(jitter).trace);
}

}  // namespace
}  // namespace sextant
