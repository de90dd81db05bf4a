#include "model/simulate/recorded_step.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace sextant {
namespace {

using Kind = RecordedNode::Kind;
using NodeId = std::uint64_t;

bool is_transfer(const Work& work) { return std::holds_alternative<TransferWork>(work); }

std::string name_of(CommunicatorIndex c) { return std::to_string(c + 1); }

// "recompute: backward, blocks 0-3"; "forward, block 2".
std::string name_of(SpanKind kind, const std::string& what) {
    const std::string_view of_kind = to_text(kind);
    return what.starts_with(of_kind) ? what : std::string(of_kind) + ": " + what;
}

RecordedCollective recorded(Collective c) {
    switch (c) {
        case Collective::all_gather: return RecordedCollective::all_gather;
        case Collective::reduce_scatter: return RecordedCollective::reduce_scatter;
        case Collective::all_to_all: return RecordedCollective::all_to_all;
        case Collective::broadcast: return RecordedCollective::broadcast;
        case Collective::reduce: return RecordedCollective::reduce;
        case Collective::all_reduce:
        case Collective::send: break;
    }
    return RecordedCollective::all_reduce;
}

// The nodes that have to end before another may begin.
class Dependencies {
public:
    Dependencies() = default;
    Dependencies(NodeId id) : ids_{id} {}
    void add(NodeId id) { ids_.push_back(id); }
    void add(const Dependencies& other) { ids_.insert(ids_.end(), other.ids_.begin(), other.ids_.end()); }
    [[nodiscard]] std::vector<NodeId> once_each() const {
        std::vector<NodeId> ids = ids_;
        std::ranges::sort(ids);
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
        return ids;
    }

private:
    std::vector<NodeId> ids_;
};

}  // namespace

class RecordedStep::RankRecorder {
public:
    RankRecorder(const RecordedStep& step, GraphRank rank) : step_(step), rank_(rank) {}

    RecordedRank record() && {
        for (const SegmentIndex s : step_.segments_[rank_]) ends_.emplace(s, record(s));
        return std::move(recorded_);
    }

private:
    // What ends the segment.
    Dependencies record(SegmentIndex index) {
        const Segment& segment = step_.graph_.segments()[index];
        const Work& work = step_.work_of(segment);
        if (brings_samples(work)) return {};
        Dependencies& stream = streams_[segment.stream];
        Dependencies before = stream;
        for (const SegmentIndex other : step_.graph_.waits_for(index)) {
            if (step_.comes_from_elsewhere(index, other))
                before.add(receive(other, stream));
            else if (const auto end = ends_.find(other); end != ends_.end())
                before.add(end->second);
        }
        const std::string what = describe(work);
        issued_from_ = step_.table_.hosts_wait && segment.stream == Stream::compute ? before : Dependencies();
        for (const Piece& piece : step_.table_.works[segment.work].pieces) {
            before = kernels(piece, what, before);
            if (piece.exchange && is_transfer(work))
                before = send(index, piece.exchange->size, what, before);
            else if (piece.exchange)
                before = exchange(segment, *piece.exchange, what, before);
        }
        return stream = before;
    }

    Dependencies kernels(const Piece& piece, const std::string& what, Dependencies before) {
        if (piece.device > Seconds{}) {
            RecordedNode n = node(piece.kind == SpanKind::overhead ? Kind::host : Kind::kernel, before);
            n.name = name_of(piece.kind, what);
            n.duration = device_time(piece, step_.slowness_[rank_]);
            n.flops = piece.flops;
            n.bytes = piece.bytes;
            before = add(std::move(n));
        }
        if (piece.host > Seconds{}) {
            Dependencies ready = launched_;
            ready.add(issued_from_);
            RecordedNode n = node(Kind::host, ready);
            n.name = "launch: " + what;
            n.duration = piece.host;
            launched_ = add(std::move(n));
            before.add(launched_);
        }
        return before;
    }

    Dependencies exchange(const Segment& segment, const PricedExchange& e, const std::string& what, const Dependencies& before) {
        const auto communicator = step_.communicator_of(segment, e);
        if (!communicator) return before;
        RecordedNode n = node(Kind::collective, before);
        n.name = std::string(to_text(e.what)) + " (" + std::string(to_text(e.group)) + "): " + what;
        n.collective = recorded(e.what);
        n.group = name_of(*communicator);
        // A trace counts what each rank gives to an all-gather, the price what each has in the end.
        const std::size_t members = step_.graph_.communicators()[*communicator].members.size();
        const Bytes size = e.what == Collective::all_gather ? e.size / static_cast<double>(members) : e.size;
        n.bytes = (1 - e.hidden) * size;
        RecordedNode behind = n;
        Dependencies end = before;
        if (e.hidden < 1) end = add(std::move(n));
        if (!(e.hidden > 0)) return end;
        behind.id = ++last_;
        behind.bytes = e.hidden * size;
        behind.waits_for = end.once_each();
        add(std::move(behind));
        return end;
    }

    Dependencies send(SegmentIndex index, Bytes bytes, const std::string& what, const Dependencies& before) {
        RecordedNode n = node(Kind::send, before);
        n.name = "send: " + what;
        n.bytes = bytes;
        n.tag = step_.tags_[index];
        n.peer = static_cast<int>(communicator_of(index).members[1]);
        return add(std::move(n));
    }

    // Once, however many wait for it.
    NodeId receive(SegmentIndex sent, const Dependencies& before) {
        const auto [known, is_new] = received_.emplace(sent, 0);
        if (!is_new) return known->second;
        const Segment& segment = step_.graph_.segments()[sent];
        RecordedNode n = node(Kind::receive, before);
        n.name = "receive: " + describe(step_.work_of(segment));
        n.bytes = step_.table_.works[segment.work].pieces.front().exchange->size;
        n.tag = step_.tags_[sent];
        n.peer = static_cast<int>(segment.rank);
        return known->second = add(std::move(n));
    }

    [[nodiscard]] const Communicator& communicator_of(SegmentIndex s) const {
        return step_.graph_.communicators()[step_.graph_.segments()[s].communicator];
    }
    RecordedNode node(Kind kind, const Dependencies& before) {
        RecordedNode n;
        n.id = ++last_;
        n.kind = kind;
        n.waits_for = before.once_each();
        return n;
    }
    NodeId add(RecordedNode n) {
        recorded_.nodes.push_back(std::move(n));
        return recorded_.nodes.back().id;
    }

    const RecordedStep& step_;
    GraphRank rank_;
    RecordedRank recorded_;
    NodeId last_ = 0;
    EnumArray<Stream, Dependencies, stream_count> streams_;  // what their last segments end with
    Dependencies launched_, issued_from_;                    // the last launch; where hosts wait, what the segment at hand waits for
    std::unordered_map<SegmentIndex, Dependencies> ends_;
    std::unordered_map<SegmentIndex, NodeId> received_;
};

RecordedStep::RecordedStep(const TaskGraph& graph, const CostTable& table, std::vector<double> slowness)
    : graph_(graph), table_(table), slowness_(std::move(slowness)), segments_(graph.ranks().size()), tags_(graph.segments().size()) {
    std::vector<std::uint32_t> sent(graph.ranks().size());
    for (SegmentIndex s = 0; s < graph.segments().size(); ++s) {
        const Segment& segment = graph.segments()[s];
        segments_[segment.rank].push_back(s);
        if (is_transfer(work_of(segment))) tags_[s] = sent[segment.rank]++;
        count(s);
    }
}

void RecordedStep::count(SegmentIndex s) {
    const Segment& segment = graph_.segments()[s];
    if (brings_samples(work_of(segment))) return;
    for (const SegmentIndex other : graph_.waits_for(s)) nodes_ += comes_from_elsewhere(s, other) ? 1 : 0;
    for (const Piece& piece : table_.works[segment.work].pieces) {
        nodes_ += (piece.device > Seconds{} ? 1 : 0) + (piece.host > Seconds{} ? 1 : 0);
        if (!piece.exchange) continue;
        const auto communicator = communicator_of(segment, *piece.exchange);
        if (!communicator) continue;
        nodes_ += piece.exchange->hidden > 0 && piece.exchange->hidden < 1 ? 2 : 1;
        if (!is_transfer(work_of(segment))) groups_.try_emplace(name_of(*communicator), graph_.communicators()[*communicator].sets.front());
    }
}

std::optional<CommunicatorIndex> RecordedStep::communicator_of(const Segment& s, const PricedExchange& e) const {
    const Work& work = work_of(s);
    if (is_transfer(work) || std::holds_alternative<CollectiveWork>(work)) return s.communicator;
    return graph_.ranks()[s.rank].communicators[e.group];
}

bool RecordedStep::comes_from_elsewhere(SegmentIndex waiting, SegmentIndex for_this) const {
    const Segment& other = graph_.segments()[for_this];
    return other.rank != graph_.segments()[waiting].rank && is_transfer(work_of(other));
}

RecordedRank RecordedStep::rank(GraphRank r) const { return RankRecorder(*this, r).record(); }

}  // namespace sextant
