#include "model/report/memory_timeline.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace sextant {
namespace {

struct Extent {
    Seconds start, end;
};

// When the segments of a rank ran, in the order of the graph; those that compute until the next does.
std::map<SegmentIndex, Extent> extents_of(const std::vector<const Span*>& spans) {
    std::map<SegmentIndex, Extent> extents;
    std::optional<SegmentIndex> computing;
    for (const Span* s : spans) {
        const auto [at, first] = extents.try_emplace(s->segment, Extent{s->start, s->end});
        if (!first) at->second.end = max(at->second.end, s->end);
        if (s->stream != Stream::compute) continue;
        if (first && computing) {
            Seconds& end = extents.at(*computing).end;
            end = min(end, s->start);
        }
        computing = s->segment;
    }
    return extents;
}

struct HeldChange {
    Seconds at;
    SegmentIndex segment = 0;
    bool ends = false;
    Bytes by;
};

// Of one rank: what ran, and the segments that hold or give back memory although there was nothing to run.
struct RankSegments {
    std::vector<const Span*> spans;
    std::vector<SegmentIndex> idle;
};

// Who had nothing to run was done when the segment before it was: where a frozen embedding has no backward, when its weights were gathered.
std::map<SegmentIndex, Extent> extents_of(const RankSegments& rank) {
    std::map<SegmentIndex, Extent> extents = extents_of(rank.spans);
    for (const SegmentIndex segment : rank.idle) {
        const auto next = extents.lower_bound(segment);
        const Seconds at = next == extents.begin() ? Seconds{} : std::prev(next)->second.end;
        extents.emplace_hint(next, segment, Extent{at, at});
    }
    return extents;
}

void follow(MemoryTimeline& timeline, const RankSegments& rank, std::span<const Segment> segments, const CostTable& prices) {
    std::vector<HeldChange> changes;
    for (const auto& [segment, extent] : extents_of(rank)) {
        const WorkPrice& price = prices.works[segments[segment].work];
        const Bytes taken = price.allocates + price.working, given_back = price.releases + price.working;
        if (taken > Bytes{}) changes.push_back({extent.start, segment, false, taken});
        if (given_back > Bytes{}) changes.push_back({extent.end, segment, true, -given_back});
    }
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
    std::vector<RankSegments> ranks(timelines.size());
    for (const Span& s : trace.spans)
        if (const auto t = timeline_of[s.rank]) ranks[*t].spans.push_back(&s);
    for (SegmentIndex s = 0; s < segments.size(); ++s) {
        const WorkPrice& price = prices.works[segments[s].work];
        if (!price.pieces.empty() || !(price.allocates > Bytes{} || price.releases > Bytes{})) continue;
        if (const auto t = timeline_of[segments[s].rank]) ranks[*t].idle.push_back(s);
    }
    for (std::size_t t = 0; t < timelines.size(); ++t) follow(timelines[t], ranks[t], segments, prices);
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
