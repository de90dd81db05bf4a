#include "backend/exec/trace_assembly.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace sextant {
namespace {

class Assembler {
public:
    Assembler(const TaskGraph& graph, std::vector<RankRecord> ranks) : graph_(graph), ranks_(std::move(ranks)) {
        trace_.end = Seconds{};
        Seconds begin = ranks_.front().begin;
        for (const RankRecord& r : ranks_) begin = min(begin, r.begin);
        for (GraphRank r = 0; r < ranks_.size(); ++r) collect(r, begin);
        for (const Work& work : graph.works()) trace_.names.push_back(describe(work));
    }

    Trace assemble() {
        end_transfers();
        start_pulls();
        find_predecessors();
        meet();
        write();
        return std::move(trace_);
    }

private:
    struct Entry {
        RecordedSpan span;
        GraphRank rank = 0;
        std::size_t before = none;  // the entry whose end let this one begin
    };
    static constexpr auto none = static_cast<std::size_t>(-1);

    void collect(GraphRank rank, Seconds begin) {
        const auto first = static_cast<std::ptrdiff_t>(entries_.size());
        RankRecord& record = ranks_[rank];
        const RankInfo& info = graph_.ranks()[rank];
        trace_.ranks.push_back({info.rank, info.stage, info.multiplicity, info.server, record.host});
        for (RecordedSpan span : record.spans) {
            span.start -= begin;
            span.end -= begin;
            entries_.push_back({span, rank});
            trace_.end = max(trace_.end, span.end);
        }
        for (const RecordedArrival& a : record.arrivals) arrived_[a.segment] = a.at - begin;
        trace_.end = max(trace_.end, record.end - begin);
        std::stable_sort(entries_.begin() + first, entries_.end(),
                         [](const Entry& a, const Entry& b) { return a.span.start < b.span.start; });
    }

    // An eager send is over for its sender before it arrives; spans of one stream stay apart.
    void end_transfers() {
        std::map<std::pair<GraphRank, Stream>, std::size_t> next;
        for (std::size_t i = entries_.size(); i-- > 0;) {
            Entry& e = entries_[i];
            const auto behind = next.find({e.rank, e.span.stream});
            const auto arrived = arrived_.find(e.span.segment);
            if (arrived != arrived_.end() && !e.span.collective) {
                Seconds end = max(e.span.end, arrived->second);
                if (behind != next.end()) end = min(end, entries_[behind->second].span.start);
                e.span.end = max(e.span.end, end);
            }
            next[{e.rank, e.span.stream}] = i;
        }
    }

    // A worker waits for new weights from when it has asked; they are on their way from when the server has made them.
    void start_pulls() {
        std::map<SegmentIndex, Seconds> served;
        for (const Entry& e : entries_)
            if (e.span.kind == SpanKind::serve) served[e.span.segment] = e.span.end;
        std::map<GraphRank, Seconds> before;  // end of what the compute stream did
        for (Entry& e : entries_) {
            if (e.span.stream != Stream::compute) continue;
            const auto* transfer = std::get_if<TransferWork>(&graph_.works()[graph_.segments()[e.span.segment].work]);
            if (transfer != nullptr && transfer->payload == Payload::weights) {
                Seconds start;
                for (const SegmentIndex s : graph_.waits_for(e.span.segment))
                    if (const auto made = served.find(s); made != served.end()) start = max(start, made->second);
                e.span.start = min(max(start, before[e.rank]), e.span.end);
            }
            before[e.rank] = e.span.end;
        }
    }

    void find_predecessors() {
        std::map<std::pair<GraphRank, Stream>, std::size_t> previous;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            Entry& e = entries_[i];
            last_of_[e.span.segment] = i;
            const auto in_stream = previous.find({e.rank, e.span.stream});
            if (in_stream != previous.end()) e.before = in_stream->second;
            previous[{e.rank, e.span.stream}] = i;
        }
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            Entry& e = entries_[i];
            if (e.before != none && entries_[e.before].span.segment == e.span.segment) continue;
            for (const SegmentIndex s : graph_.waits_for(e.span.segment))
                if (const auto last = last_of_.find(s); last != last_of_.end()) later(e.before, last->second, e.span.start);
        }
    }
    void later(std::size_t& before, std::size_t other, Seconds start) const {
        const RecordedSpan& candidate = entries_[other].span;
        if (candidate.start > start) return;
        if (before == none || entries_[before].span.end < candidate.end) before = other;
    }

    // The n-th call on a communicator in one of its two lanes is the same on all its ranks.
    void meet() {
        std::map<std::tuple<GraphRank, CommunicatorIndex, bool>, int> counts;
        std::map<std::tuple<CommunicatorIndex, bool, int>, std::vector<std::size_t>> meetings;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            const RecordedSpan& s = entries_[i].span;
            if (!s.collective) continue;
            const bool beside = s.stream != Stream::compute;
            meetings[{s.communicator, beside, counts[{entries_[i].rank, s.communicator, beside}]++}].push_back(i);
        }
        for (const auto& [call, members] : meetings) {
            const std::size_t last = *std::ranges::max_element(members, {}, [&](std::size_t i) { return entries_[i].span.start; });
            for (const std::size_t i : members) {
                entries_[i].span.start = entries_[last].span.start;
                entries_[i].span.end = max(entries_[i].span.end, entries_[i].span.start);
                entries_[i].before = entries_[last].before;
            }
        }
    }

    void write() {
        std::vector<std::size_t> order(entries_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, {}, [&](std::size_t i) {
            const Entry& e = entries_[i];
            return std::tuple(e.span.start.si(), e.rank, e.span.stream);
        });
        std::vector<SpanIndex> now_at(entries_.size());
        for (std::size_t i = 0; i < order.size(); ++i) now_at[order[i]] = static_cast<SpanIndex>(i);
        for (const std::size_t i : order) {
            const Entry& e = entries_[i];
            const Segment& segment = graph_.segments()[e.span.segment];
            const bool caused = e.before != none && entries_[e.before].span.start <= e.span.start;
            Span span;
            span.start = e.span.start;
            span.end = min(e.span.end, trace_.end);
            span.bytes = e.span.bytes;
            span.flops = e.span.flops;
            span.segment = e.span.segment;
            span.cause = now_at[caused ? e.before : i];
            span.rank = e.rank;
            span.micro_batch = segment.micro_batch;
            span.name = segment.work;
            span.chunk = segment.chunk;
            span.stream = e.span.stream;
            span.kind = e.span.kind;
            trace_.spans.push_back(span);
        }
    }

    const TaskGraph& graph_;
    std::vector<RankRecord> ranks_;
    std::vector<Entry> entries_;  // of each rank in order of start
    std::map<SegmentIndex, Seconds> arrived_;
    std::map<SegmentIndex, std::size_t> last_of_;
    Trace trace_;
};

}  // namespace

Trace assemble_trace(const TaskGraph& graph, std::vector<RankRecord> ranks) { return Assembler(graph, std::move(ranks)).assemble(); }

}  // namespace sextant
