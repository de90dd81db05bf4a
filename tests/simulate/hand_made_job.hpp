// Task graphs and prices written down segment by segment, in milliseconds and megabytes, on the round machine: 100 MB/ms between the four
// devices of a node, 10 MB/ms at each NIC.
#pragma once

#include "model/simulate/simulate.hpp"
#include "tests/cost/round_machine.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace sextant::hand_made {

using namespace units;

inline constexpr double exact = 1e-9;  // ms

//     HandMadeJob job(2);
//     const auto f = job.kernel(0, 10);
//     const auto x = job.send(0, 1, 100 * MB, {f});
//     job.kernel(1, 10, {x});
//     const Simulation played = job.play();
class HandMadeJob {
public:
    using After = std::initializer_list<SegmentIndex>;

    explicit HandMadeJob(int ranks, int nodes = 1) : topology(Topology::build(round_machine::cluster(nodes), nodes)), builder({}, {}) {
        for (int r = 0; r < ranks; ++r) {
            builder.add(RankInfo{r, 0, 1, false, {}});
            placement.device_of.push_back(r);
        }
    }

    // Kernels of `device_ms` that the host issues in `host_ms`.
    SegmentIndex kernel(GraphRank rank, double device_ms, After after = {}, double host_ms = 0) {
        return add(rank, Stream::compute, ComputeWork{Phase::forward, next_block_++, 1},
                   {{SpanKind::forward, device_ms * ms, host_ms * ms, {}, {}, {}}}, 0, after);
    }
    // Kernels of `first_ms`, an exchange over the group inside the block, kernels of `second_ms`.
    SegmentIndex block(GraphRank rank, double first_ms, const PricedExchange& exchange, double second_ms, After after = {}) {
        return add(rank, Stream::compute, ComputeWork{Phase::forward, next_block_, 1},
                   {{SpanKind::forward, first_ms * ms, {}, {}, {}, exchange}, {SpanKind::forward, second_ms * ms, {}, {}, {}, {}}}, 0,
                   after);
    }
    // Takes no time at all.
    SegmentIndex nothing(GraphRank rank, After after = {}) { return add(rank, Stream::compute, OverheadWork{}, {}, 0, after); }
    // A group of all these ranks.
    CommunicatorIndex group(ParallelGroup group, const std::vector<GraphRank>& ranks) {
        const CommunicatorIndex c = builder.add(Communicator{group, ranks, {std::vector<int>(ranks.begin(), ranks.end())}});
        for (const GraphRank r : ranks) builder.rank(r).communicators[group] = c;
        return c;
    }
    // A rank's part in an all-reduce of so much to pass on, after `fixed_ms`, in `calls` calls.
    SegmentIndex all_reduce(GraphRank rank, CommunicatorIndex c, Bytes bytes, After after = {}, double fixed_ms = 0,
                            Stream stream = Stream::communication, int calls = 1) {
        CollectiveWork work;
        work.elements = bytes / B;
        work.type = DataType::int8;
        work.calls = calls;
        work.first_block = static_cast<int>(fixed_ms);  // other works where the prices differ
        Piece piece;
        piece.exchange = PricedExchange{ParallelGroup::data, {fixed_ms * ms, bytes / calls, Pattern::ring, 1}, 0};
        return add(rank, stream, work, std::vector<Piece>(static_cast<std::size_t>(calls), piece), c, after);
    }
    SegmentIndex send(GraphRank from, GraphRank to, Bytes bytes, After after = {}, double fixed_ms = 0, Stream stream = Stream::send_next) {
        const CommunicatorIndex c =
            builder.add(Communicator{ParallelGroup::pipeline, {from, to}, {{static_cast<int>(from), static_cast<int>(to)}}});
        return add(from, stream, TransferWork{Payload::activations, bytes / B + fixed_ms, DataType::int8},
                   {exchange_of(ParallelGroup::pipeline, bytes, fixed_ms)}, c, after);
    }
    SegmentIndex add(GraphRank rank, Stream stream, const Work& work, std::vector<Piece> pieces, CommunicatorIndex c = 0,
                     After after = {}) {
        const WorkIndex index = builder.work(work);
        if (table.works.size() <= index) table.works.resize(index + 1);
        table.works[index].pieces = std::move(pieces);
        Segment segment{index, rank, c};
        segment.stream = stream;
        const SegmentIndex s = builder.add(segment);
        for (const SegmentIndex before : after) builder.wait(s, before);
        return s;
    }
    static Piece exchange_of(ParallelGroup group, Bytes bytes, double fixed_ms) {
        Piece piece;
        piece.exchange = PricedExchange{group, {fixed_ms * ms, bytes, Pattern::path, 1}, 0};
        return piece;
    }

    Simulation play(const Jitter& jitter = {}) { return simulate(std::move(builder).build(), table, topology, placement, jitter); }

    Topology topology;
    Placement placement;
    TaskGraphBuilder builder;
    CostTable table;

private:
    int next_block_ = 0;
};

// The span of a segment; the n-th where it has several.
inline const Span& span_of(const Simulation& played, SegmentIndex s, int n = 0) {
    for (const Span& span : played.trace.spans)
        if (span.segment == s && n-- == 0) return span;
    ADD_FAILURE() << "segment " << s << " has no such span";
    return played.trace.spans.front();
}

inline double start_ms(const Simulation& played, SegmentIndex s, int n = 0) { return span_of(played, s, n).start / ms; }
inline double end_ms(const Simulation& played, SegmentIndex s, int n = 0) { return span_of(played, s, n).end / ms; }

}  // namespace sextant::hand_made
