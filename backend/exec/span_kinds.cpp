#include "backend/exec/span_kinds.hpp"

#include <algorithm>

namespace sextant {

Bytes passed_on(ExchangeKind kind, int ranks, std::int64_t bytes) {
    const double once = static_cast<double>(bytes) * (ranks - 1) / ranks;
    return (kind == ExchangeKind::all_reduce ? 2 : 1) * once * units::B;
}

RecordedSpan exchange_span(const TaskGraph& graph, SegmentIndex segment, std::span<const Call> calls, Seconds start, Seconds end) {
    const Segment& s = graph.segments()[segment];
    RecordedSpan span;
    span.start = start;
    span.end = end;
    span.segment = segment;
    span.stream = s.stream;
    const auto* transfer = std::get_if<TransferWork>(&graph.works()[s.work]);
    const bool served = transfer != nullptr && graph.communicators()[s.communicator].with_server;
    span.kind = served ? SpanKind::data_exchange : SpanKind::pipeline_transfer;
    for (const Call& call : calls) {
        if (const auto* c = std::get_if<CollectiveCall>(&call)) {
            const Communicator& communicator = graph.communicators()[c->communicator];
            span.collective = true;
            span.communicator = c->communicator;
            const auto* work = std::get_if<CollectiveWork>(&graph.works()[s.work]);
            span.kind = work != nullptr ? span_kind(work->payload) : span_kind(communicator.group);
            // What experts get and what they make need not be as much; what a rank sends counts.
            const std::int64_t bytes = c->kind == ExchangeKind::all_to_all ? c->from.bytes() : std::max(c->from.bytes(), c->to.bytes());
            span.bytes += passed_on(c->kind, static_cast<int>(communicator.members.size()), bytes);
        } else if (const auto* m = std::get_if<MessageCall>(&call); m != nullptr && (served || !m->receives)) {
            span.bytes += static_cast<double>(m->data.bytes()) * units::B;
        }
        if (const auto* sum = std::get_if<SumCall>(&call)) {
            span.kind = SpanKind::data_exchange;
            span.bytes += passed_on(ExchangeKind::all_reduce, static_cast<int>(graph.ranks().size()), sum->sum.bytes());
        }
    }
    return span;
}

}  // namespace sextant
