#include "backend/exec/loader_spans.hpp"

#include <map>

namespace sextant {
namespace {

// By the micro-batch that it brings.
std::map<std::uint32_t, SegmentIndex> loads_of(const TaskGraph& graph, GraphRank rank) {
    std::map<std::uint32_t, SegmentIndex> loads;
    for (SegmentIndex s = 0; s < graph.segments().size(); ++s) {
        const Segment& segment = graph.segments()[s];
        if (segment.rank == rank && std::holds_alternative<LoadWork>(graph.works()[segment.work])) loads[segment.micro_batch] = s;
    }
    return loads;
}

}  // namespace

std::vector<RecordedSpan> loader_spans(const TaskGraph& graph, GraphRank rank, std::span<const BatchLoad> loads, Seconds begin,
                                       Seconds end) {
    const std::map<std::uint32_t, SegmentIndex> segments = loads_of(graph, rank);
    std::vector<RecordedSpan> spans;
    if (segments.empty()) return spans;
    Seconds done;  // of the batch before
    for (const BatchLoad& load : loads) {
        const Seconds start = max(done, load.start);
        done = max(done, load.end);
        const Seconds work = load.reading + load.decoding;
        if (done <= start || !(work > Seconds{})) continue;
        const Seconds turns = start + load.reading / work * (done - start);
        const auto add = [&](SpanKind kind, Seconds from, Seconds to, Bytes bytes) {
            from = max(from, begin);
            to = min(to, end);
            if (to <= from) return;
            RecordedSpan span;
            span.start = from;
            span.end = to;
            span.bytes = bytes;
            span.segment = segments.at(static_cast<std::uint32_t>(load.sequence % static_cast<std::int64_t>(segments.size())));
            span.stream = Stream::loader;
            span.kind = kind;
            spans.push_back(span);
        };
        add(SpanKind::read, start, turns, load.read);
        add(SpanKind::decode, turns, done, {});
    }
    return spans;
}

}  // namespace sextant
