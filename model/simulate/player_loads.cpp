// What moves over links and through what loaders share; loads themselves, and kernels that share the cores with them.
#include "model/simulate/player.hpp"

namespace sextant {

// At less than full efficiency it keeps its links as busy as more bytes would.
FlowIndex Player::start_flow(const FlowState& of, Bytes bytes, Bandwidth limit, double efficiency) {
    const auto uses = links_.uses(of.traffic);
    uses_.assign(uses.begin(), uses.end());
    for (LinkUse& use : uses_) use.weight /= efficiency;
    const FlowIndex f = network_.start(now_, bytes, uses_, limit);
    if (flows_.size() <= f) flows_.resize(f + 1);
    const std::uint32_t version = flows_[f].version;
    flows_[f] = of;
    flows_[f].version = version;
    flows_[f].since = now_;
    links_changed_ = true;
    return f;
}

Bytes Player::stop_flow(FlowIndex f) {
    FlowState& flow = flows_[f];
    ++flow.version;
    if (flow.rate > Bandwidth{}) rates.push_back({flow.traffic, flow.since, now_, flow.rate});
    links_changed_ = true;
    return network_.stop(now_, f);
}

void Player::settle_links() {
    links_changed_ = false;
    for (const FluidNetwork::Finish& f : network_.settle(now_)) {
        FlowState& flow = flows_[f.flow];
        if (flow.rate > Bandwidth{}) rates.push_back({flow.traffic, flow.since, now_, flow.rate});
        flow.since = now_;
        flow.rate = network_.rate(f.flow);
        queue_.push(f.at, {EventKind::flow_done, f.flow, ++flow.version});
    }
}

void Player::flow_done(FlowIndex f) {
    const FlowState flow = flows_[f];
    switch (flow.of) {
        case FlowState::Of::exchange: return finish_exchange(flow.index);
        case FlowState::Of::load: stop_flow(f); return load_done(flow.index);
        case FlowState::Of::kernels:
            stop_flow(f);
            lanes_[flow.index].flow.reset();
            return kernel_done(flow.index);
    }
}

// Reading and decoding go on side by side, in one worker or another; they are drawn one after the other, each with its part of the time.
void Player::load(LaneIndex l, const Piece& piece) {
    Lane& lane = lanes_[l];
    lane.span = open_span(l, order_[lane.at], lane.cause, {SpanKind::read, piece.bytes, {}});
    open_span(l, order_[lane.at], lane.span, {SpanKind::decode, {}, {}});
    const TrafficIndex traffic = links_.traffic(segment_of(lane).communicator, TrafficPattern::load);
    start_flow({FlowState::Of::load, l, traffic}, piece.load->bytes, table_.loaders->pace);
}

void Player::load_done(LaneIndex l) {
    Lane& lane = lanes_[l];
    Span &read = spans[lane.span], &decode = spans[++lane.span];
    read.end = decode.start = read.start + piece_of(lane).load->reading * (now_ - read.start);
    close_span(lane);
    ++lane.piece;
    go_on(l);
}

bool Player::shares_cores(LaneIndex l) const {
    const auto& feed = graph_.ranks()[rank_of(l)].feed;
    if (!table_.loaders || !feed || stream_of(l) != Stream::compute || piece_of(lanes_[l]).kind == SpanKind::device_copy) return false;
    return !links_.uses(links_.traffic(*feed, TrafficPattern::kernels)).empty();
}

void Player::run_beside_loaders(LaneIndex l) {
    Lane& lane = lanes_[l];
    const TrafficIndex traffic = links_.traffic(*graph_.ranks()[rank_of(l)].feed, TrafficPattern::kernels);
    constexpr Bandwidth pace = LoaderLinks::kernel_pace;
    lane.flow = start_flow({FlowState::Of::kernels, l, traffic}, lane.left * pace, pace / lane.slowness);
}

}  // namespace sextant
