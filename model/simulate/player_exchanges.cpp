// Collectives and transfers: who has come, fixed time, bytes on links, what goes on behind.
#include "model/simulate/player.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant {
namespace {

constexpr Bandwidth unlimited = Bandwidth::from_si(std::numeric_limits<double>::infinity());

SpanKind kind_of(const Work& work, ParallelGroup inside) {
    if (const auto* transfer = std::get_if<TransferWork>(&work)) return span_kind(transfer->payload);
    if (const auto* collective = std::get_if<CollectiveWork>(&work)) return span_kind(collective->payload);
    return span_kind(inside);
}

}  // namespace

// A slot that has been in use keeps the memory of its lists.
Player::ExchangeIndex Player::take_exchange() {
    if (free_exchanges_.empty()) {
        exchanges_.emplace_back();
        return static_cast<ExchangeIndex>(exchanges_.size() - 1);
    }
    const ExchangeIndex e = free_exchanges_.back();
    free_exchanges_.pop_back();
    return e;
}

// A transfer is the sender's alone; to a collective all ranks must come.
void Player::come_to(LaneIndex l, const PricedExchange& price) {
    const Segment& segment = segment_of(lanes_[l]);
    const Work& work = graph_.works()[segment.work];
    const bool transfer = std::holds_alternative<TransferWork>(work), own = transfer || std::holds_alternative<CollectiveWork>(work);
    const auto& inside = graph_.ranks()[segment.rank].communicators[price.group];
    if (!own && !inside) {  // alone in the group
        ++lanes_[l].piece;
        return go_on(l);
    }
    const CommunicatorIndex c = own ? segment.communicator : *inside;
    const Communicator& communicator = graph_.communicators()[c];
    std::vector<LaneIndex>& here = meetings_[std::size_t{c} * stream_count + static_cast<std::size_t>(segment.stream)];
    here.push_back(l);
    if (!transfer && here.size() < communicator.members.size()) return;

    const ExchangeIndex e = take_exchange();
    Exchange& exchange = exchanges_[e];
    exchange.lanes.swap(here);
    exchange.communicator = c;
    exchange.receiver.reset();
    if (transfer && !communicator.with_server) exchange.receiver = communicator.members[1];
    exchange.price = &price;
    exchange.traffic = links_.traffic(c, pattern_of(price.price, communicator, work));
    exchange.kind = kind_of(work, price.group);
    exchange.part = 1 - price.hidden;
    exchange.behind = exchange.flows = false;
    exchange.fused = 0;
    exchange.bytes = exchange.part * price.price.bytes;
    exchange.efficiency = price.price.efficiency;
    exchange.cause = lanes_[l].cause;  // the last to come lets the others go on
    if (!by_cycle(l) || lanes_[l].piece > 0) return start_exchange(e);
    queue_.push(wakes(c), {EventKind::exchange_begins, e});
}

// When the thread that fuses exchanges wakes: once a cycle, but not before what it began has ended.
Seconds Player::wakes(CommunicatorIndex c) const {
    const Seconds cycle = table_.fusion->cycle, next = max(now_, wakes_[c]);
    if (!(next > wakes_[c] && cycle > Seconds{})) return next;
    return max(now_, wakes_[c] + std::ceil((now_ - wakes_[c]) / cycle) * cycle);
}

// The next segments of all its ranks, as long as they are the same kind of exchange, of one call, and have nothing to wait for.
void Player::fuse_what_is_ready(Exchange& exchange) const {
    const auto work_at = [&](LaneIndex l, std::uint32_t place) {
        const Segment& segment = graph_.segments()[order_[lanes_[l].at + place]];
        const auto* work = std::get_if<CollectiveWork>(&graph_.works()[segment.work]);
        return work && table_.works[segment.work].pieces.size() == 1 ? work : nullptr;
    };
    const auto buffer = [](const CollectiveWork& work) { return work.elements * size_of(work.type); };
    const LaneIndex one = exchange.lanes.front();
    const CollectiveWork* first = work_at(one, 0);
    if (!first) return;
    const auto joins = [&](LaneIndex l, std::uint32_t place) {
        if (lanes_[l].at + place >= lanes_[l].end) return false;
        const SegmentIndex s = order_[lanes_[l].at + place];
        const CollectiveWork* work = work_at(l, place);
        return waiting_[s] == 0 && graph_.segments()[s].communicator == exchange.communicator && work && work->kind == first->kind;
    };
    for (Bytes fused = buffer(*first);; ++exchange.fused) {
        const std::uint32_t place = exchange.fused + 1;
        if (!std::ranges::all_of(exchange.lanes, [&](LaneIndex l) { return joins(l, place); })) return;
        fused += buffer(*work_at(one, place));
        if (fused > table_.fusion->most) return;
        const Segment& next = graph_.segments()[order_[lanes_[one].at + place]];
        const CollectivePrice& joins_it = table_.works[next.work].pieces.front().exchange->price;
        const Bytes on_links = exchange.bytes / exchange.efficiency + joins_it.bytes / joins_it.efficiency;
        exchange.bytes += joins_it.bytes;
        if (on_links > Bytes{}) exchange.efficiency = exchange.bytes / on_links;
    }
}

void Player::start_exchange(ExchangeIndex e) {
    Exchange& exchange = exchanges_[e];
    const SpanContent content{exchange.kind, exchange.bytes, {}};
    for (const LaneIndex l : exchange.lanes) {
        Lane& lane = lanes_[l];
        if (exchange.behind) {
            const LaneIndex beside = lane_of(rank_of(l), Stream::communication);
            exchange.spans.push_back(open_span(beside, order_[lane.at], exchange.cause, content));
        } else {
            lane.span = open_span(l, order_[lane.at], exchange.cause, content);
        }
    }
    count_communication(exchange, 1);
    queue_.push(now_ + exchange.part * exchange.price->price.fixed, {EventKind::fixed_done, e});
}

void Player::fixed_done(ExchangeIndex e) {
    Exchange& exchange = exchanges_[e];
    if (links_.uses(exchange.traffic).empty() || !(exchange.bytes > Bytes{})) return finish_exchange(e);
    exchange.flow = start_flow({FlowState::Of::exchange, e, exchange.traffic}, exchange.bytes, unlimited, exchange.efficiency);
    exchange.flows = true;
}

void Player::finish_exchange(ExchangeIndex e) {
    Exchange& exchange = exchanges_[e];
    if (exchange.flows) stop_flow(exchange.flow);
    count_communication(exchange, -1);
    if (by_cycle(exchange.lanes.front())) {
        Seconds& wake = wakes_[exchange.communicator];
        wake = max(wake, now_);
    }
    if (exchange.behind) {
        for (const SpanIndex span : exchange.spans) spans[span].end = now_;
        return free_exchange(e);
    }
    for (const LaneIndex l : exchange.lanes) close_span(lanes_[l]);
    if (exchange.price->hidden > 0) go_on_behind(e);
    for (const LaneIndex l : exchange.lanes) {
        ++lanes_[l].piece;
        go_on(l);
        for (std::uint32_t i = 0; i < exchange.fused; ++i) finish_segment(l);
    }
    if (!exchange.behind) free_exchange(e);
}

// With the part that its lanes do not wait for.
void Player::go_on_behind(ExchangeIndex e) {
    Exchange& exchange = exchanges_[e];
    exchange.part = exchange.price->hidden;
    exchange.bytes = exchange.part * exchange.price->price.bytes;
    exchange.behind = true;
    exchange.flows = false;
    exchange.cause = lanes_[exchange.lanes.front()].last;
    start_exchange(e);
}

void Player::free_exchange(ExchangeIndex e) {
    exchanges_[e].lanes.clear();
    exchanges_[e].spans.clear();
    free_exchanges_.push_back(e);
}

// Kernels run slower beside an exchange that they do not wait for.
void Player::count_communication(const Exchange& exchange, int change) {
    if (exchange.behind) return;
    const auto count = [&](GraphRank rank) {
        const bool was = communicating_[rank] > 0;
        communicating_[rank] += change;
        if (was != (communicating_[rank] > 0)) retime(lane_of(rank, Stream::compute));
    };
    for (const LaneIndex l : exchange.lanes)
        if (stream_of(l) != Stream::compute) count(rank_of(l));
    if (exchange.receiver && stream_of(exchange.lanes.front()) != Stream::compute) count(*exchange.receiver);
}

}  // namespace sextant
