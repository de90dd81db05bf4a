// Traces written down span by span.
#pragma once

#include "model/graph/trace.hpp"

#include <algorithm>
#include <initializer_list>

namespace sextant::hand_made {

// One rank for each of `stages`, in milliseconds:
//
//     HandMadeTrace t({0, 1});
//     const auto f = t.add(0, Stream::compute, SpanKind::forward, 0, 10);
//     const auto x = t.add(0, Stream::send_next, SpanKind::pipeline_transfer, 10, 12, f);
//     t.add(1, Stream::compute, SpanKind::forward, 12, 22, x);
class HandMadeTrace {
public:
    HandMadeTrace(std::initializer_list<int> stages) {
        for (const int stage : stages) trace.ranks.push_back({.rank = static_cast<int>(trace.ranks.size()), .stage = stage, .host = {}});
    }
    // Without a cause: nothing let it begin.
    SpanIndex add(GraphRank rank, Stream stream, SpanKind kind, double start_ms, double end_ms) {
        return add(rank, stream, kind, start_ms, end_ms, static_cast<SpanIndex>(trace.spans.size()));
    }
    SpanIndex add(GraphRank rank, Stream stream, SpanKind kind, double start_ms, double end_ms, SpanIndex cause) {
        using namespace units;
        const auto index = static_cast<SpanIndex>(trace.spans.size());
        Span s;
        s.start = start_ms * ms, s.end = end_ms * ms;
        s.segment = index;
        s.cause = cause;
        s.rank = rank, s.stream = stream, s.kind = kind;
        const std::string name(to_text(kind));
        const auto known = std::find(trace.names.begin(), trace.names.end(), name);
        s.name = static_cast<std::uint32_t>(known - trace.names.begin());
        if (known == trace.names.end()) trace.names.push_back(name);
        trace.spans.push_back(s);
        trace.end = max(trace.end, s.end);
        return index;
    }

    Trace trace;
};

}  // namespace sextant::hand_made
