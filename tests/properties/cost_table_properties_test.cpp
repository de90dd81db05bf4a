// A pass over a stage costs the same in the graph as in the closed form, on every scenario.
#include "model/lower/lower.hpp"
#include "model/predict/block_price.hpp"
#include "model/predict/cost_table.hpp"
#include "model/predict/state.hpp"
#include "tests/golden/bundled_scenarios.hpp"

namespace sextant {
namespace {

// What the pieces of all passes of one micro-batch over a stage add up to.
struct PassSums {
    Seconds device, host, exposed, hidden;
    PassSums& operator+=(const PassSums& o) {
        device += o.device;
        host += o.host;
        exposed += o.exposed;
        hidden += o.hidden;
        return *this;
    }
};

PassSums sums_of(const JobGroups& groups, const std::vector<Piece>& pieces, SpanKind kind) {
    PassSums sums;
    for (const Piece& piece : pieces) {
        if ((piece.kind == SpanKind::weight_gradient ? SpanKind::backward : piece.kind) != kind) continue;
        sums += {piece.device, piece.host, {}, {}};
        if (!piece.exchange) continue;
        const Seconds alone = time_alone(piece.exchange->price, groups[piece.exchange->group]);
        sums += {{}, {}, (1 - piece.exchange->hidden) * alone, piece.exchange->hidden * alone};
    }
    return sums;
}

// The same from the closed form, of the blocks that the stage's rank runs.
PassSums closed_form(const Prepared::State& job, std::size_t stage, SpanKind kind) {
    PassSums sums;
    const StageBlocks& blocks = job.stages[stage];
    for (std::size_t t = 0; t < job.templates.size(); ++t) {
        const SegmentPrice block = price_block(job.templates[t], kernel_times(job.templates[t], job, {}), job, job.groups[stage], {});
        const PhasePrice& one = kind == SpanKind::forward ? block.forward : kind == SpanKind::backward ? block.backward : block.recompute;
        const double n = kind == SpanKind::recompute ? recomputed_blocks(job.chunks[stage], blocks, t) : blocks.count[t];
        sums += {n * one.device, n * one.host, n * one.exchange.sum(), n * one.behind_kernels()};
    }
    return sums;
}

TEST_P(EveryScenario, PricesThePassesOfItsGraphAsTheClosedFormDoes) {
    const Scenario scenario = bundled_scenario(GetParam());
    const Prepared prepared = prepare(scenario);
    const Prepared::State& job = prepared.state();
    const TaskGraph graph = lower(scenario, Fold::alike);
    const CostTable table = cost_table(prepared, graph);
    const auto in_the_middle = static_cast<std::uint32_t>(job.micro_batches / 2);  // whose backward no schedule cuts only at its ends
    for (GraphRank rank = 0; rank < graph.ranks().size(); ++rank) {
        if (graph.ranks()[rank].server) continue;
        const auto stage = static_cast<std::size_t>(graph.ranks()[rank].stage);
        for (const SpanKind kind : {SpanKind::forward, SpanKind::backward, SpanKind::recompute}) {
            PassSums sums;
            for (const Segment& s : graph.segments())
                if (s.rank == rank && s.micro_batch == in_the_middle && std::holds_alternative<ComputeWork>(graph.works()[s.work]))
                    sums += sums_of(job.groups[stage], table.works[s.work].pieces, kind);
            const PassSums expected = closed_form(job, stage, kind);
            const auto near = [](Seconds a, Seconds b) { EXPECT_NEAR(a.si(), b.si(), 1e-9 * b.si()); };
            near(sums.device, expected.device);
            near(sums.host, expected.host);
            near(sums.exposed, expected.exposed);
            near(sums.hidden, expected.hidden);
        }
    }
}

}  // namespace
}  // namespace sextant
