#include "model/report/critical_path.hpp"

#include <algorithm>

namespace sextant {

CriticalPath critical_path(const Trace& trace) {
    CriticalPath path;
    path.by_rank.resize(trace.ranks.size());
    path.waiting = trace.end;
    if (trace.spans.empty()) return path;

    const auto ends_last = std::ranges::max_element(trace.spans, {}, &Span::end);
    auto index = static_cast<SpanIndex>(ends_last - trace.spans.begin());
    Seconds now = min(ends_last->end, trace.end);
    // A chain of causes is never longer than the trace, unless the trace contradicts itself.
    while (path.spans.size() < trace.spans.size()) {
        const Span& s = trace.spans[index];
        path.spans.push_back(index);
        now = min(now, s.end);
        const Seconds part = max(Seconds{}, now - max(s.start, Seconds{}));
        path.seconds += part;
        path.by_kind[s.kind] += part;
        path.by_rank[s.rank] += part;
        now = min(now, s.start);
        if (s.cause == index) break;
        index = s.cause;
    }
    constexpr double rounding = 1e-9;
    path.waiting = trace.end - path.seconds > rounding * trace.end ? trace.end - path.seconds : Seconds{};
    std::ranges::reverse(path.spans);
    return path;
}

}  // namespace sextant
