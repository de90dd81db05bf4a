// Steps as execution traces: what is written is what is read, and played again on the same machine it takes as long.
#include "model/sextant_trace_export.hpp"

#include "model/io/chakra/chakra_reader.hpp"
#include "model/sextant_replay.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/properties/few_ranks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>

#include <unistd.h>

namespace sextant {
namespace {

using namespace units;
namespace fs = std::filesystem;
using Kind = RecordedNode::Kind;

// Without what a trace cannot say or replay does not play: kernels that are slower beside communication, collectives of one rank at once,
// fusion by time, what a framework spends on pieces, samples on their way.
Scenario as_replay_plays(Scenario s) {
    s.framework.overlap_slowdown.value = 1;
    s.framework.tensor_overlap_fraction.value = s.framework.expert_overlap_fraction.value = 0;
    const bool exchanges_in_blocks = s.plan.tp > 1 || s.plan.cp > 1 || s.plan.ep > 1;
    if (exchanges_in_blocks) s.plan.gradient_overlap = s.plan.gather_overlap = false;
    s.framework.reduction_cycle.reset();
    s.framework.list_of_pieces.value = {};
    s.data = {};
    return s;
}

Scenario small(const std::string& name) {
    constexpr int few_ranks = 32;
    constexpr std::int64_t few_micro_batches = 8;
    return as_replay_plays(with_few_ranks(bundled_scenario(name), few_ranks, few_micro_batches));
}

ExecutionTrace written_and_read(const Prepared& job) {
    const fs::path folder = fs::temp_directory_path() / ("sextant_trace_export_" + std::to_string(getpid()));
    fs::create_directories(folder);
    export_chakra(job, folder / "job");
    ExecutionTrace trace = load_chakra({folder / "job"}, folder / "job.groups.json", folder / "job.nodes.json");
    fs::remove_all(folder);
    return trace;
}

TEST_P(EveryScenario, TakesAsLongAsAnExecutionTraceOnTheSameMachine) {
    const Scenario s = small(GetParam());
    if (s.plan.has_servers()) GTEST_SKIP() << "a trace has no servers";
    if (s.use_ethernet) GTEST_SKIP() << "replay takes the fastest network";
    const Prepared job = prepare(s);
    const Seconds replayed = replay(written_and_read(job), s.cluster, s.library).step;
    const Estimate simulated = simulate(job).report.estimate;
    // Where the device waits for its launches, these take turns with what the framework does on the host; in a simulation they do not.
    const double most = simulated.terms[Term::launch] > 0.05 * simulated.step ? 0.1 : 0.015;
    const double ratio = replayed / simulated.step;
    RecordProperty("ratio", std::to_string(ratio));
    EXPECT_NEAR(ratio, 1, most);
}

// Tensor groups that cross the network instead of staying in a node: who replays them without knowing takes them for faster.
TEST(TraceExport, SaysWhereScatteredRanksStand) {
    Scenario s = small("gpt3-175b-1024xa100");
    s.plan.scattered = true;
    const Prepared job = prepare(s);
    ExecutionTrace trace = written_and_read(job);
    const Seconds simulated = simulate(job).report.estimate.step;
    EXPECT_NEAR(replay(trace, s.cluster, s.library).step / simulated, 1, 0.015);
    trace.node_of.clear();
    EXPECT_LT(replay(trace, s.cluster, s.library).step / simulated, 0.9);
}

// All but the times to the last bit, these to half a microsecond each way.
TEST_P(EveryScenario, IsReadFromExecutionTracesAsItWasWritten) {
    const Scenario s = small(GetParam());
    if (s.plan.has_servers()) GTEST_SKIP() << "a trace has no servers";
    const Prepared job = prepare(s);
    const ExecutionTrace was = execution_trace(job), is = written_and_read(job);
    EXPECT_EQ(is.groups, was.groups);
    ASSERT_EQ(is.ranks.size(), was.ranks.size());
    for (std::size_t r = 0; r < was.ranks.size(); ++r) {
        ASSERT_EQ(is.ranks[r].nodes.size(), was.ranks[r].nodes.size());
        std::map<Kind, Seconds> longer;
        std::size_t unlike = 0;
        for (std::size_t i = 0; i < was.ranks[r].nodes.size(); ++i) {
            const RecordedNode &a = was.ranks[r].nodes[i], &b = is.ranks[r].nodes[i];
            const bool alike = a.id == b.id && a.kind == b.kind && a.name == b.name && a.group == b.group && a.collective == b.collective &&
                               a.peer == b.peer && a.tag == b.tag && a.waits_for == b.waits_for;
            const bool is_said = b.duration > Seconds{} || a.kind != Kind::kernel;
            const bool same_size = !is_said || (std::fabs((a.bytes - b.bytes) / B) <= 0.5 && std::fabs((a.flops - b.flops) / FLOP) <= 0.5);
            longer[a.kind] += b.duration - a.duration;
            unlike += alike && same_size && std::fabs(longer[a.kind] / us) <= 0.5 + 1e-6 ? 0 : 1;
        }
        EXPECT_EQ(unlike, 0U) << "rank " << r;
    }
}

}  // namespace
}  // namespace sextant
