#include "model/report/memory_timeline.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace sextant {
namespace {

struct Extent {
    Seconds start, end;
};

// When each segment ran; one that computes ends at the latest when the next of its rank begins. None where a segment had nothing to run.
std::vector<std::optional<Extent>> extents_of(const Trace& trace, std::size_t segments) {
    std::vector<std::optional<Extent>> extents(segments);
    std::vector<std::optional<SegmentIndex>> computing(trace.ranks.size());
    for (const Span& s : trace.spans) {
        std::optional<Extent>& extent = extents[s.segment];
        const bool first = !extent;
        if (first) extent = {s.start, s.end};
        extent->end = max(extent->end, s.end);
        if (s.stream != Stream::compute) continue;
        if (first && computing[s.rank]) {
            Seconds& end = extents[*computing[s.rank]]->end;
            end = min(end, s.start);
        }
        computing[s.rank] = s.segment;
    }
    return extents;
}

struct HeldChange {
    Seconds at;
    SegmentIndex segment = 0;
    bool ends = false;
    Bytes by;
};

void follow(MemoryTimeline& timeline, std::vector<HeldChange>& changes) {
    std::ranges::sort(changes, {}, [](const HeldChange& c) { return std::tuple(c.at, c.segment, c.ends); });

    timeline.curve.push_back({});
    Bytes held;
    for (const HeldChange& c : changes) {
        held += c.by;
        if (held > timeline.highest) {
            timeline.highest = held;
            timeline.highest_at = c.at;
        }
        if (timeline.curve.back().at == c.at)
            timeline.curve.back().held = held;
        else
            timeline.curve.push_back({c.at, held});
    }
}

}  // namespace

std::vector<MemoryTimeline> memory_timelines(const Trace& trace, std::span<const Segment> segments, const CostTable& prices,
                                             std::span<const StageMemory> base) {
    std::vector<MemoryTimeline> timelines;
    std::vector<std::optional<std::size_t>> timeline_of(trace.ranks.size());
    for (std::size_t stage = 0; stage < base.size(); ++stage) {
        const auto first =
            std::ranges::find_if(trace.ranks, [&](const TraceRank& r) { return !r.server && r.stage == static_cast<int>(stage); });
        if (first == trace.ranks.end()) continue;
        const auto rank = static_cast<GraphRank>(first - trace.ranks.begin());
        MemoryTimeline t;
        t.stage = static_cast<int>(stage);
        t.rank = rank;
        t.base = base[stage];
        t.base[MemoryKind::activations] = t.base[MemoryKind::logits] = Bytes{};
        timeline_of[rank] = timelines.size();
        timelines.push_back(std::move(t));
    }
    // A rank with nothing to run was done with the segment before it: where a frozen embedding has no backward, when its weights had come.
    const std::vector<std::optional<Extent>> extents = extents_of(trace, segments.size());
    std::vector<Seconds> done(timelines.size());
    std::vector<std::vector<HeldChange>> changes(timelines.size());
    for (SegmentIndex s = 0; s < segments.size(); ++s) {
        const auto t = timeline_of[segments[s].rank];
        if (!t) continue;
        const auto [start, end] = extents[s].value_or(Extent{done[*t], done[*t]});
        done[*t] = end;
        const WorkPrice& price = prices.works[segments[s].work];
        const Bytes taken = price.allocates + price.working, given_back = price.releases + price.working;
        if (taken > Bytes{}) changes[*t].push_back({start, s, false, taken});
        if (given_back > Bytes{}) changes[*t].push_back({end, s, true, -given_back});
    }
    for (std::size_t t = 0; t < timelines.size(); ++t) follow(timelines[t], changes[t]);
    return timelines;
}

std::vector<Bytes> highest_by_interval(const MemoryTimeline& timeline, Seconds end, std::size_t intervals) {
    std::vector<Bytes> highest(intervals);
    if (intervals == 0 || end <= Seconds{}) return highest;
    const Seconds interval = end / static_cast<double>(intervals);
    Bytes held;
    auto point = timeline.curve.begin();
    for (std::size_t i = 0; i < intervals; ++i) {
        // What is held at its start counts, unless it changes at that very instant.
        const bool last = i + 1 == intervals;
        const Seconds start = static_cast<double>(i) * interval, stop = start + interval;
        if (point == timeline.curve.end() || point->at > start) highest[i] = held;
        for (; point != timeline.curve.end() && (last || point->at < stop); ++point) {
            held = point->held;
            highest[i] = max(highest[i], held);
        }
    }
    return highest;
}

}  // namespace sextant
