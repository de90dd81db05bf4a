// The event loop of a simulation: player.cpp has the streams and their kernels, player_exchanges.cpp what ranks come to together,
// player_loads.cpp what flows over links. Internal to simulate.
#pragma once

#include "model/simulate/event_queue.hpp"
#include "model/simulate/fluid_network.hpp"
#include "model/simulate/link_map.hpp"
#include "model/simulate/simulate.hpp"

#include <deque>
#include <optional>
#include <vector>

namespace sextant {

// A time during which traffic moved at one rate.
struct RateSpan {
    TrafficIndex traffic = 0;
    Seconds start, end;
    Bandwidth rate;
};

class Player {
public:
    // as_ready: segments of streams that involve only one rank start in the order in which they become ready.
    enum class Order : std::uint8_t { of_graph, as_ready };
    // `slowness`: by rank of the graph, how many times as long as in the table its kernels run.
    Player(const TaskGraph&, const CostTable&, const LinkMap&, std::vector<double> slowness, Order = Order::of_graph);
    void play(const PlayListener& = {});

    std::vector<Span> spans;  // in the order in which they began
    std::vector<RateSpan> rates;
    [[nodiscard]] std::uint64_t events() const { return queue_.pushed(); }

private:
    using LaneIndex = std::uint32_t;
    using ExchangeIndex = std::uint32_t;
    static constexpr SpanIndex nothing = UINT32_MAX;

    // One stream of one rank.
    struct Lane {
        std::uint32_t at = 0, end = 0;  // in order_: the segment at hand, and one past the last
        std::uint32_t ready = 0;        // on a server: one past those that are ready
        std::uint32_t piece = 0;        // of the segment at hand
        bool busy = false;              // a segment is at hand and under way
        SpanIndex span = nothing;       // the one under way
        SpanIndex last = nothing;       // the one that ended last
        SpanIndex cause = nothing;      // the one whose end let the lane go on
        // The kernels that run: work left at `since`, in seconds at full speed.
        bool in_kernel = false;
        Seconds since, left;
        double slowness = 1;  // since then
        Seconds issued;       // when the host is done with them
        std::uint32_t version = 0;
        std::optional<FlowIndex> flow;  // of kernels or a load
    };

    // A collective or a transfer, from the time when all have come to it.
    struct Exchange {
        std::vector<LaneIndex> lanes;  // that came
        std::vector<SpanIndex> spans;  // by lane, what goes on behind kernels
        CommunicatorIndex communicator = 0;
        std::optional<GraphRank> receiver;  // of a transfer
        const PricedExchange* price = nullptr;
        TrafficIndex traffic = 0;
        SpanKind kind = SpanKind::data_exchange;
        double part = 1;          // of the price: what the lanes wait for, or what goes on behind their next kernels
        bool behind = false;      // the latter
        std::uint32_t fused = 0;  // segments of each lane behind the one at hand that it carries too
        Bytes bytes;              // of all
        double efficiency = 1;    // with which they use the links, in the mean
        SpanIndex cause = nothing;
        FlowIndex flow = 0;
        bool flows = false;
    };

    // What moves, and whose it is: an exchange's bytes; of a lane, samples that are loaded or kernels that share the cores with loaders.
    struct FlowState {
        enum class Of : std::uint8_t { exchange, load, kernels } of = Of::exchange;
        std::uint32_t index = 0;
        TrafficIndex traffic = 0;
        std::uint32_t version = 0;
        Seconds since{};  // of the rate that it has
        Bandwidth rate{};
    };

    enum class EventKind : std::uint8_t { kernel_done, issued, exchange_begins, fixed_done, flow_done };
    struct Event {
        EventKind kind;
        std::uint32_t index = 0;  // lane, exchange or flow
        std::uint32_t version = 0;
    };

    void find_lanes();
    void find_followers();
    void begin_with_what_is_ready();
    [[nodiscard]] bool is_queue(Stream) const;
    void handle(const Event&);
    void start_what_is_ready();

    [[nodiscard]] bool host_waits_for(LaneIndex) const;
    void go_on(LaneIndex);  // with the piece at hand
    void run_kernel(LaneIndex, const Piece&);
    void kernel_done(LaneIndex);
    void kernel_issued(LaneIndex);
    void after_kernel(LaneIndex);
    void finish_segment(LaneIndex);
    void release(SegmentIndex, SpanIndex by);
    void put_in_queue(Lane&, SegmentIndex);
    void retime(LaneIndex);
    void count_on_cores(LaneIndex, int change);

    // player_loads.cpp
    void settle_links();
    void flow_done(FlowIndex);
    FlowIndex start_flow(const FlowState&, Bytes, Bandwidth limit, double efficiency = 1);
    Bytes stop_flow(FlowIndex);
    [[nodiscard]] bool shares_cores(LaneIndex) const;
    void run_beside_loaders(LaneIndex);
    void load(LaneIndex, const Piece&);
    void load_done(LaneIndex);

    // player_exchanges.cpp
    void come_to(LaneIndex, const PricedExchange&);
    void start_exchange(ExchangeIndex);
    [[nodiscard]] bool by_cycle(LaneIndex l) const { return table_.fusion && stream_of(l) == Stream::communication; }
    [[nodiscard]] Seconds wakes(CommunicatorIndex) const;
    void fuse_what_is_ready(Exchange&) const;
    void fixed_done(ExchangeIndex);
    void finish_exchange(ExchangeIndex);
    void count_communication(const Exchange&, int change);
    void go_on_behind(ExchangeIndex);
    ExchangeIndex take_exchange();
    void free_exchange(ExchangeIndex);

    [[nodiscard]] const Segment& segment_of(const Lane& lane) const { return graph_.segments()[order_[lane.at]]; }
    [[nodiscard]] const Piece& piece_of(const Lane& lane) const { return table_.works[segment_of(lane).work].pieces[lane.piece]; }
    static LaneIndex lane_of(GraphRank r, Stream s) { return r * stream_count + static_cast<LaneIndex>(s); }
    static GraphRank rank_of(LaneIndex l) { return l / stream_count; }
    static Stream stream_of(LaneIndex l) { return static_cast<Stream>(l % stream_count); }
    [[nodiscard]] double slowness(LaneIndex) const;
    [[nodiscard]] double computing_on_a_host() const;
    struct SpanContent {
        SpanKind kind = SpanKind::forward;
        Bytes bytes;
        Flops flops;
    };
    void reserve_spans();
    SpanIndex open_span(LaneIndex, SegmentIndex, SpanIndex cause, const SpanContent&);
    void close_span(Lane&);

    const TaskGraph& graph_;
    const CostTable& table_;
    const LinkMap& links_;
    Order order_of_streams_;
    FluidNetwork network_;
    EventQueue<Event> queue_;
    Seconds now_;

    std::vector<double> slowness_;        // by rank
    std::vector<int> communicating_;      // by rank: exchanges beside its kernels
    int workers_ = 0;                     // all of them
    int computing_ = 0, serving_ = 0;     // where servers share the cores of workers: kernels of workers and works of servers that run
    std::vector<Seconds> host_;           // by rank: until when its host is busy issuing
    std::vector<Lane> lanes_;             // rank x stream_count + stream
    std::vector<SegmentIndex> order_;     // lane by lane
    std::vector<std::uint32_t> place_;    // by segment, in order_
    std::vector<std::uint32_t> waiting_;  // by segment: for how many others
    std::vector<SpanIndex> released_by_;  // by segment: the last of those
    std::vector<std::uint32_t> first_follower_;
    std::vector<SegmentIndex> followers_;
    std::vector<LaneIndex> ready_;                  // lanes that may have something to start
    std::vector<std::vector<LaneIndex>> meetings_;  // communicator x stream_count + stream: who has come
    std::vector<Seconds> wakes_;                    // by communicator: of the thread that fuses, the earliest that is not over
    std::deque<Exchange> exchanges_;                // where they are while others begin
    std::vector<ExchangeIndex> free_exchanges_;
    std::vector<FlowState> flows_;
    std::vector<LinkUse> uses_;  // scratch
    bool links_changed_ = false;
    std::size_t finished_ = 0;
};

}  // namespace sextant
