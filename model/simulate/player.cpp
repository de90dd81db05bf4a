#include "model/simulate/player.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace sextant {

Player::Player(const TaskGraph& graph, const CostTable& table, const LinkMap& links, std::vector<double> slowness)
    : graph_(graph),
      table_(table),
      links_(links),
      network_(links.capacities()),
      slowness_(std::move(slowness)),
      communicating_(graph.ranks().size()),
      host_(graph.ranks().size()),
      released_by_(graph.segments().size(), nothing),
      meetings_(graph.communicators().size() * stream_count) {
    find_lanes();
    find_followers();
    spans.reserve(2 * graph.segments().size());
}

void Player::find_lanes() {
    lanes_.resize(graph_.ranks().size() * stream_count);
    const auto lane_of = [](const Segment& s) { return s.rank * stream_count + static_cast<std::size_t>(s.stream); };
    for (const Segment& s : graph_.segments()) ++lanes_[lane_of(s)].end;
    std::uint32_t begin = 0;
    for (Lane& lane : lanes_) {
        lane.at = begin;
        begin += lane.end;
        lane.end = lane.ready = lane.at;
    }
    order_.resize(graph_.segments().size());
    for (SegmentIndex s = 0; s < order_.size(); ++s) order_[lanes_[lane_of(graph_.segments()[s])].end++] = s;
}

void Player::find_followers() {
    const std::size_t n = graph_.segments().size();
    waiting_.resize(n);
    first_follower_.assign(n + 1, 0);
    for (SegmentIndex s = 0; s < n; ++s) {
        waiting_[s] = static_cast<std::uint32_t>(graph_.waits_for(s).size());
        for (const SegmentIndex d : graph_.waits_for(s)) ++first_follower_[d + 1];
    }
    for (std::size_t s = 0; s < n; ++s) first_follower_[s + 1] += first_follower_[s];
    followers_.resize(graph_.dependency_count());
    std::vector<std::uint32_t> place(first_follower_.begin(), first_follower_.end() - 1);
    for (SegmentIndex s = 0; s < n; ++s)
        for (const SegmentIndex d : graph_.waits_for(s)) followers_[place[d]++] = s;
}

// All events of one instant come before links are shared anew.
void Player::play() {
    for (LaneIndex l = 0; l < lanes_.size(); ++l) ready_.push_back(l);
    start_what_is_ready();
    for (;;) {
        if (links_changed_ && (queue_.empty() || queue_.top().at > now_)) settle_links();
        if (queue_.empty()) break;
        const auto event = queue_.pop();
        now_ = event.at;
        handle(event.payload);
        start_what_is_ready();
    }
    if (finished_ != order_.size()) std::abort();  // ranks came to a communicator in different orders
}

void Player::handle(const Event& event) {
    switch (event.kind) {
        case EventKind::kernel_done:
            if (lanes_[event.index].version == event.version) kernel_done(event.index);
            break;
        case EventKind::issued:
            kernel_issued(event.index);
            break;
        case EventKind::exchange_begins:
            fuse_what_is_ready(exchanges_[event.index]);
            start_exchange(event.index);
            break;
        case EventKind::fixed_done:
            fixed_done(event.index);
            break;
        case EventKind::flow_done:
            if (flows_[event.index].version == event.version) finish_exchange(flows_[event.index].exchange);
            break;
    }
}

void Player::start_what_is_ready() {
    while (!ready_.empty()) {
        const LaneIndex l = ready_.back();
        ready_.pop_back();
        Lane& lane = lanes_[l];
        if (lane.busy || lane.at == lane.end || waiting_[order_[lane.at]] > 0) continue;
        lane.busy = true;
        lane.piece = 0;
        // Whichever ended last: the segment before it in the stream, or one that it waited for.
        const SpanIndex released = released_by_[order_[lane.at]];
        lane.cause = lane.last;
        if (released != nothing && (lane.last == nothing || spans[released].end > spans[lane.last].end)) lane.cause = released;
        go_on(l);
    }
}

void Player::go_on(LaneIndex l) {
    Lane& lane = lanes_[l];
    const auto& pieces = table_.works[segment_of(lane).work].pieces;
    for (; lane.piece < pieces.size(); ++lane.piece) {
        const Piece& piece = pieces[lane.piece];
        if (piece.device > Seconds{} || piece.host > Seconds{}) return run_kernel(l, piece);
        if (piece.exchange) return come_to(l, *piece.exchange);
    }
    finish_segment(l);
}

// Kernels.

// Of what the lane runs. Waiting for the host or for a copy takes as long beside communication as without.
double Player::slowness(LaneIndex l) const {
    const bool beside = communicating_[rank_of(l)] > 0 && stream_of(l) == Stream::compute && runs_kernels(piece_of(lanes_[l]).kind);
    return beside ? table_.overlap_slowdown : 1.0;
}

void Player::run_kernel(LaneIndex l, const Piece& piece) {
    Lane& lane = lanes_[l];
    lane.in_kernel = true;
    lane.start = lane.since = now_;
    lane.left = piece.device * slowness_[rank_of(l)];
    lane.issued = host_[rank_of(l)] += piece.host;
    queue_.push(now_ + lane.left * slowness(l), {EventKind::kernel_done, l, ++lane.version});
}

// Another stream of the rank has begun or ended to communicate.
void Player::retime_kernel(GraphRank rank) {
    const LaneIndex l = rank * stream_count + static_cast<LaneIndex>(Stream::compute);
    Lane& lane = lanes_[l];
    if (!lane.in_kernel || !runs_kernels(piece_of(lane).kind) || table_.overlap_slowdown == 1) return;
    const double was = communicating_[rank] > 0 ? 1.0 : table_.overlap_slowdown;
    lane.left = max(Seconds{}, lane.left - (now_ - lane.since) / was);
    lane.since = now_;
    queue_.push(now_ + lane.left * slowness(l), {EventKind::kernel_done, l, ++lane.version});
}

void Player::kernel_done(LaneIndex l) {
    Lane& lane = lanes_[l];
    const Piece& piece = piece_of(lane);
    lane.in_kernel = false;
    if (piece.device > Seconds{}) record(l, piece.kind, piece.bytes, piece.flops);
    if (lane.issued <= now_) return after_kernel(l);
    lane.start = now_;
    queue_.push(lane.issued, {EventKind::issued, l});
}

void Player::kernel_issued(LaneIndex l) {
    record(l, SpanKind::launch, {}, {});
    after_kernel(l);
}

void Player::after_kernel(LaneIndex l) {
    Lane& lane = lanes_[l];
    if (const auto& exchange = piece_of(lane).exchange) return come_to(l, *exchange);
    ++lane.piece;
    go_on(l);
}

void Player::finish_segment(LaneIndex l) {
    Lane& lane = lanes_[l];
    const SegmentIndex done = order_[lane.at++];
    lane.busy = false;
    ++finished_;
    ready_.push_back(l);
    for (std::uint32_t i = first_follower_[done]; i < first_follower_[done + 1]; ++i) release(followers_[i], lane.last);
}

void Player::release(SegmentIndex s, SpanIndex by) {
    released_by_[s] = by;
    if (--waiting_[s] > 0) return;
    const Segment& segment = graph_.segments()[s];
    const LaneIndex l = segment.rank * stream_count + static_cast<LaneIndex>(segment.stream);
    ready_.push_back(l);
    if (segment.stream != Stream::server) return;
    // First come, first served.
    Lane& lane = lanes_[l];
    const auto begin = order_.begin() + lane.ready, end = order_.begin() + lane.end;
    std::rotate(begin, std::find(begin, end, s), std::find(begin, end, s) + 1);
    ++lane.ready;
}

// Exchanges.

namespace {

SpanKind kind_of(const Work& work, ParallelGroup group) {
    const auto of_activations = [](Payload p) { return p == Payload::activations || p == Payload::activation_gradients; };
    if (const auto* transfer = std::get_if<TransferWork>(&work))
        return of_activations(transfer->payload) ? SpanKind::pipeline_transfer : SpanKind::data_exchange;
    if (const auto* collective = std::get_if<CollectiveWork>(&work))
        return of_activations(collective->payload) ? SpanKind::pipeline_transfer : SpanKind::data_exchange;
    switch (group) {
        case ParallelGroup::context:
            return SpanKind::context_exchange;
        case ParallelGroup::expert:
            return SpanKind::expert_exchange;
        default:
            return SpanKind::tensor_exchange;
    }
}

}  // namespace

Player::ExchangeIndex Player::add_exchange(Exchange exchange) {
    if (free_exchanges_.empty()) {
        exchanges_.push_back(std::move(exchange));
        return static_cast<ExchangeIndex>(exchanges_.size() - 1);
    }
    const ExchangeIndex e = free_exchanges_.back();
    free_exchanges_.pop_back();
    exchanges_[e] = std::move(exchange);
    return e;
}

// A transfer is the sender's alone; to a collective all ranks must come.
void Player::come_to(LaneIndex l, const PricedExchange& price) {
    const Segment& segment = segment_of(lanes_[l]);
    const Work& work = graph_.works()[segment.work];
    const bool transfer = std::holds_alternative<TransferWork>(work), collective = std::holds_alternative<CollectiveWork>(work);
    const auto& inside = graph_.ranks()[segment.rank].communicators[static_cast<std::size_t>(price.group)];
    if (!transfer && !collective && !inside) {  // alone in the group
        ++lanes_[l].piece;
        return go_on(l);
    }
    const CommunicatorIndex c = transfer || collective ? segment.communicator : *inside;
    const Communicator& communicator = graph_.communicators()[c];
    Exchange exchange;
    if (transfer) {
        exchange.lanes = {l};
        if (!communicator.with_server) exchange.receiver = communicator.members[1];
    } else {
        std::vector<LaneIndex>& here = meetings_[c * stream_count + static_cast<std::size_t>(segment.stream)];
        here.push_back(l);
        if (here.size() < communicator.members.size()) return;
        exchange.lanes.swap(here);
    }
    for (const LaneIndex lane : exchange.lanes) exchange.segments.push_back(order_[lanes_[lane].at]);
    exchange.price = &price;
    exchange.traffic = links_.traffic(c, route_of(price.price, communicator, work));
    exchange.kind = kind_of(work, price.group);
    exchange.part = 1 - price.hidden;
    exchange.bytes = exchange.part * price.price.bytes;
    exchange.cause = lanes_[l].cause;  // the last to come lets the others go on
    const ExchangeIndex e = add_exchange(std::move(exchange));
    if (!table_.fusion || segment.stream != Stream::communication) return start_exchange(e);
    const Seconds cycle = table_.fusion->cycle;
    queue_.push(max(now_, std::ceil(now_ / cycle) * cycle), {EventKind::exchange_begins, e});
}

namespace {

// Of one call, as the framework counts it.
Bytes payload_of(const CollectiveWork& work) { return work.elements * size_of(work.type) / work.calls; }

}  // namespace

// The next segments of all its ranks, as long as they are the same kind of exchange and have nothing to wait for. What takes several calls
// fills a bucket with each but the last.
void Player::fuse_what_is_ready(Exchange& exchange) const {
    const Lane& lane = lanes_[exchange.lanes.front()];
    const auto& work = std::get<CollectiveWork>(graph_.works()[segment_of(lane).work]);
    if (static_cast<int>(lane.piece) + 1 < work.calls) return;
    const auto joins = [&](LaneIndex l, std::uint32_t place) {
        if (lanes_[l].at + place >= lanes_[l].end) return false;
        const SegmentIndex s = order_[lanes_[l].at + place];
        const Segment& next = graph_.segments()[s];
        const auto* other = std::get_if<CollectiveWork>(&graph_.works()[next.work]);
        return waiting_[s] == 0 && next.communicator == segment_of(lanes_[l]).communicator && other && other->kind == work.kind &&
               other->calls == 1;
    };
    for (Bytes payload = payload_of(work);;) {
        const std::uint32_t place = exchange.fused + 1;
        if (!std::all_of(exchange.lanes.begin(), exchange.lanes.end(), [&](LaneIndex l) { return joins(l, place); })) return;
        const WorkIndex next = graph_.segments()[order_[lane.at + place]].work;
        payload += payload_of(std::get<CollectiveWork>(graph_.works()[next]));
        if (payload > table_.fusion->most) return;
        exchange.bytes += table_.works[next].pieces.front().exchange->price.bytes;
        exchange.fused = place;
    }
}

void Player::start_exchange(ExchangeIndex e) {
    Exchange& exchange = exchanges_[e];
    exchange.start = now_;
    count_communication(exchange, 1);
    queue_.push(now_ + exchange.part * exchange.price->price.fixed, {EventKind::fixed_done, e});
}

void Player::fixed_done(ExchangeIndex e) {
    Exchange& exchange = exchanges_[e];
    const CollectivePrice& price = exchange.price->price;
    const auto uses = links_.uses(exchange.traffic);
    if (uses.empty() || !(exchange.bytes > Bytes{})) return finish_exchange(e);
    // At less than full efficiency it keeps its links as busy as more bytes would.
    uses_.assign(uses.begin(), uses.end());
    for (LinkUse& use : uses_) use.weight /= price.efficiency;
    exchange.flow = network_.start(now_, exchange.bytes, uses_, Bandwidth::from_si(std::numeric_limits<double>::infinity()));
    exchange.flows = true;
    if (flows_.size() <= exchange.flow) flows_.resize(exchange.flow + 1);
    FlowState& flow = flows_[exchange.flow];
    flow.exchange = e;
    flow.since = now_;
    flow.rate = {};
    links_changed_ = true;
}

void Player::settle_links() {
    links_changed_ = false;
    for (const FluidNetwork::Finish& f : network_.settle(now_)) {
        FlowState& flow = flows_[f.flow];
        if (flow.rate > Bandwidth{}) rates.push_back({exchanges_[flow.exchange].traffic, flow.since, now_, flow.rate});
        flow.since = now_;
        flow.rate = network_.rate(f.flow);
        queue_.push(f.at, {EventKind::flow_done, f.flow, ++flow.version});
    }
}

void Player::finish_exchange(ExchangeIndex e) {
    if (exchanges_[e].flows) {
        FlowState& flow = flows_[exchanges_[e].flow];
        ++flow.version;
        if (flow.rate > Bandwidth{}) rates.push_back({exchanges_[e].traffic, flow.since, now_, flow.rate});
        network_.stop(now_, exchanges_[e].flow);
        links_changed_ = true;
    }
    count_communication(exchanges_[e], -1);
    Exchange done = std::move(exchanges_[e]);
    free_exchanges_.push_back(e);
    if (done.behind) {
        for (std::size_t i = 0; i < done.lanes.size(); ++i) {
            const LaneIndex lane = rank_of(done.lanes[i]) * stream_count + static_cast<LaneIndex>(Stream::communication);
            add_span(lane, done.segments[i], done.start, done.cause, done.kind, done.bytes, {});
        }
        return;
    }
    for (const LaneIndex l : done.lanes) {
        Lane& lane = lanes_[l];
        lane.start = done.start;
        lane.cause = done.cause;
        record(l, done.kind, done.bytes, {});
    }
    const std::vector<LaneIndex> lanes = done.lanes;
    const std::uint32_t fused = done.fused;
    if (done.price->hidden > 0) {
        done.part = done.price->hidden;
        done.bytes = done.part * done.price->price.bytes;
        done.behind = true;
        done.flows = false;
        done.cause = lanes_[lanes.front()].last;
        start_exchange(add_exchange(std::move(done)));
    }
    for (const LaneIndex l : lanes) {
        ++lanes_[l].piece;
        go_on(l);
        for (std::uint32_t i = 0; i < fused; ++i) finish_segment(l);
    }
}

// Kernels run slower beside an exchange that they do not wait for.
void Player::count_communication(const Exchange& exchange, int change) {
    if (exchange.behind) return;
    const auto count = [&](GraphRank rank) {
        const bool was = communicating_[rank] > 0;
        communicating_[rank] += change;
        if (was != (communicating_[rank] > 0)) retime_kernel(rank);
    };
    for (const LaneIndex l : exchange.lanes)
        if (stream_of(l) != Stream::compute) count(rank_of(l));
    if (exchange.receiver && stream_of(exchange.lanes.front()) != Stream::compute) count(*exchange.receiver);
}

// Spans.

void Player::record(LaneIndex l, SpanKind kind, Bytes bytes, Flops flops) {
    Lane& lane = lanes_[l];
    lane.last = lane.cause = add_span(l, order_[lane.at], lane.start, lane.cause, kind, bytes, flops);
}

SpanIndex Player::add_span(LaneIndex l, SegmentIndex s, Seconds start, SpanIndex cause, SpanKind kind, Bytes bytes, Flops flops) {
    const Segment& segment = graph_.segments()[s];
    const auto index = static_cast<SpanIndex>(spans.size());
    spans.push_back({start, now_, bytes, flops, s, cause == nothing ? index : cause, rank_of(l), segment.micro_batch, segment.work,
                     segment.chunk, stream_of(l), kind});
    return index;
}

}  // namespace sextant
