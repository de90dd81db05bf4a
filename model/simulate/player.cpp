#include "model/simulate/player.hpp"

#include "model/base/failure.hpp"

#include <algorithm>
#include <utility>

namespace sextant {

Player::Player(const TaskGraph& graph, const CostTable& table, const LinkMap& links, std::vector<double> slowness, Order order)
    : graph_(graph),
      table_(table),
      links_(links),
      order_of_streams_(order),
      network_(links.capacities()),
      slowness_(std::move(slowness)),
      communicating_(graph.ranks().size()),
      host_(graph.ranks().size()),
      released_by_(graph.segments().size(), nothing),
      meetings_(graph.communicators().size() * stream_count),
      wakes_(graph.communicators().size()) {
    for (const RankInfo& rank : graph.ranks()) workers_ += rank.server ? 0 : rank.multiplicity;
    find_lanes();
    find_followers();
    begin_with_what_is_ready();
    reserve_spans();
}

void Player::find_lanes() {
    lanes_.resize(graph_.ranks().size() * stream_count);
    for (const Segment& s : graph_.segments()) ++lanes_[lane_of(s.rank, s.stream)].end;
    std::uint32_t begin = 0;
    for (Lane& lane : lanes_) {
        lane.at = begin;
        begin += lane.end;
        lane.end = lane.ready = lane.at;
    }
    order_.resize(graph_.segments().size());
    for (SegmentIndex s = 0; s < order_.size(); ++s) {
        const Segment& segment = graph_.segments()[s];
        order_[lanes_[lane_of(segment.rank, segment.stream)].end++] = s;
    }
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

// Whether segments of the stream are first come, first served.
bool Player::is_queue(Stream stream) const {
    if (stream == Stream::server) return true;
    const bool alone = stream == Stream::compute || stream == Stream::copy || stream == Stream::loader;
    return alone && order_of_streams_ == Order::as_ready;
}

// A queue holds what waits for nothing, and behind that all others in no order.
void Player::begin_with_what_is_ready() {
    for (LaneIndex l = 0; l < lanes_.size(); ++l) {
        if (!is_queue(stream_of(l))) continue;
        const auto first = order_.begin() + lanes_[l].at, last = order_.begin() + lanes_[l].end;
        const auto later = std::stable_partition(first, last, [&](SegmentIndex s) { return waiting_[s] == 0; });
        lanes_[l].ready = static_cast<std::uint32_t>(later - order_.begin());
    }
    place_.resize(order_.size());
    for (std::uint32_t place = 0; place < order_.size(); ++place) place_[order_[place]] = place;
}

// All events of one instant come before links are shared anew.
void Player::play(const PlayListener& listener) {
    constexpr std::uint64_t often = 16'384;  // events: some milliseconds
    std::uint64_t played = 0;
    for (LaneIndex l = 0; l < lanes_.size(); ++l) ready_.push_back(l);
    start_what_is_ready();
    for (;;) {
        if (links_changed_ && (queue_.empty() || queue_.top().at > now_)) settle_links();
        if (queue_.empty()) break;
        const auto event = queue_.pop();
        now_ = event.at;
        handle(event.payload);
        if (++played % often == 0 && listener && !listener(static_cast<double>(finished_) / static_cast<double>(order_.size())))
            throw Stopped();
        start_what_is_ready();
    }
    if (finished_ != order_.size()) broken_invariant("ranks came to a communicator in different orders");
}

void Player::handle(const Event& event) {
    switch (event.kind) {
        case EventKind::kernel_done:
            if (lanes_[event.index].version == event.version) kernel_done(event.index);
            break;
        case EventKind::issued: kernel_issued(event.index); break;
        case EventKind::exchange_begins:
            wakes_[exchanges_[event.index].communicator] = now_ + table_.fusion->cycle;
            fuse_what_is_ready(exchanges_[event.index]);
            start_exchange(event.index);
            break;
        case EventKind::fixed_done: fixed_done(event.index); break;
        case EventKind::flow_done:
            if (flows_[event.index].version == event.version) flow_done(event.index);
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
        if (host_waits_for(l)) host_[rank_of(l)] = max(host_[rank_of(l)], now_);
        // Whichever ended last: the segment before it in the stream, or one that it waited for.
        const SpanIndex released = released_by_[order_[lane.at]];
        lane.cause = lane.last;
        if (released != nothing && (lane.last == nothing || spans[released].end > spans[lane.last].end)) lane.cause = released;
        go_on(l);
    }
}

// Whether it has issued nothing yet of the segment that the lane begins with.
bool Player::host_waits_for(LaneIndex l) const {
    if (stream_of(l) != Stream::compute) return false;
    return table_.hosts_wait || (table_.hosts_load && std::holds_alternative<TakeWork>(graph_.works()[segment_of(lanes_[l]).work]));
}

void Player::go_on(LaneIndex l) {
    Lane& lane = lanes_[l];
    const auto& pieces = table_.works[segment_of(lane).work].pieces;
    for (; lane.piece < pieces.size(); ++lane.piece) {
        const Piece& piece = pieces[lane.piece];
        if (piece.device > Seconds{} || piece.host > Seconds{}) return run_kernel(l, piece);
        if (piece.exchange) return come_to(l, *piece.exchange);
        if (piece.load) return load(l, piece);
    }
    finish_segment(l);
}

// Kernels.

// How many times as long as its price the lane's work takes. Waiting for the host or for a copy takes as long beside communication as
// without.
double Player::slowness(LaneIndex l) const {
    if (stream_of(l) == Stream::server) return table_.servers ? table_.servers->server_slowdown(computing_on_a_host()) : 1.0;
    if (stream_of(l) != Stream::compute || !runs_kernels(piece_of(lanes_[l]).kind)) return 1.0;
    const double beside = communicating_[rank_of(l)] > 0 ? table_.overlap_slowdown : 1.0;
    return serving_ > 0 ? beside * table_.servers->worker_slowdown(computing_on_a_host()) : beside;
}

double Player::computing_on_a_host() const { return computing_ * table_.servers->workers / workers_; }

// Where servers share the cores of workers: who begins or ends to compute changes how fast the others do.
void Player::count_on_cores(LaneIndex l, int change) {
    if (!table_.servers) return;
    if (stream_of(l) == Stream::server)
        serving_ += change;
    else if (stream_of(l) == Stream::compute && runs_kernels(piece_of(lanes_[l]).kind))
        computing_ += change * graph_.ranks()[rank_of(l)].multiplicity;
    for (LaneIndex other = 0; other < lanes_.size(); ++other)
        if (other != l) retime(other);
}

void Player::run_kernel(LaneIndex l, const Piece& piece) {
    Lane& lane = lanes_[l];
    lane.in_kernel = true;
    if (piece.device > Seconds{}) lane.span = open_span(l, order_[lane.at], lane.cause, {piece.kind, piece.bytes, piece.flops});
    lane.since = now_;
    lane.left = device_time(piece, slowness_[rank_of(l)]);
    lane.issued = host_[rank_of(l)] += piece.host;
    count_on_cores(l, 1);
    lane.slowness = slowness(l);
    if (piece.device > Seconds{} && shares_cores(l)) return run_beside_loaders(l);
    queue_.push(now_ + lane.left * lane.slowness, {EventKind::kernel_done, l, ++lane.version});
}

// What takes part of its device has begun or ended.
void Player::retime(LaneIndex l) {
    Lane& lane = lanes_[l];
    if (!lane.in_kernel || slowness(l) == lane.slowness) return;
    const double was = std::exchange(lane.slowness, slowness(l));
    if (lane.flow) {
        lane.left = stop_flow(*lane.flow) / LoaderLinks::kernel_pace;
        return run_beside_loaders(l);
    }
    lane.left = max(Seconds{}, lane.left - (now_ - lane.since) / was);
    lane.since = now_;
    queue_.push(now_ + lane.left * lane.slowness, {EventKind::kernel_done, l, ++lane.version});
}

void Player::kernel_done(LaneIndex l) {
    Lane& lane = lanes_[l];
    lane.in_kernel = false;
    count_on_cores(l, -1);
    if (piece_of(lane).device > Seconds{}) close_span(lane);
    if (lane.issued <= now_) return after_kernel(l);
    lane.span = open_span(l, order_[lane.at], lane.cause, {SpanKind::launch, {}, {}});
    queue_.push(lane.issued, {EventKind::issued, l});
}

void Player::kernel_issued(LaneIndex l) {
    close_span(lanes_[l]);
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
    lane.last = lane.cause;  // its last span; what let it start where it took no time
    ++finished_;
    ready_.push_back(l);
    for (std::uint32_t i = first_follower_[done]; i < first_follower_[done + 1]; ++i) release(followers_[i], lane.last);
}

void Player::release(SegmentIndex s, SpanIndex by) {
    released_by_[s] = by;
    if (--waiting_[s] > 0) return;
    const Segment& segment = graph_.segments()[s];
    const LaneIndex l = lane_of(segment.rank, segment.stream);
    ready_.push_back(l);
    if (is_queue(segment.stream)) put_in_queue(lanes_[l], s);
}

// The segment changes places with the first one that still waits.
void Player::put_in_queue(Lane& lane, SegmentIndex s) {
    const SegmentIndex waits = order_[lane.ready];
    std::swap(order_[lane.ready], order_[place_[s]]);
    std::swap(place_[waits], place_[s]);
    ++lane.ready;
}

// Spans.

// Reserves room for the spans to come, but for those of waiting for the host and of what goes on behind: a step has millions of them.
void Player::reserve_spans() {
    std::size_t count = 0;
    for (const Segment& segment : graph_.segments())
        for (const Piece& piece : table_.works[segment.work].pieces)
            count += (piece.device > Seconds{} ? 1 : 0) + (piece.exchange ? 1 : 0) + (piece.load ? 2 : 0);
    spans.reserve(count);
}

// Spans are in the order in which they begin.
SpanIndex Player::open_span(LaneIndex l, SegmentIndex s, SpanIndex cause, const SpanContent& content) {
    const Segment& segment = graph_.segments()[s];
    const auto index = static_cast<SpanIndex>(spans.size());
    spans.push_back({now_, now_, content.bytes, content.flops, s, cause == nothing ? index : cause, rank_of(l), segment.micro_batch,
                     segment.work, segment.chunk, stream_of(l), content.kind});
    return index;
}

void Player::close_span(Lane& lane) {
    spans[lane.span].end = now_;
    lane.last = lane.cause = lane.span;
}

}  // namespace sextant
