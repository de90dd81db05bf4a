// Links shared max-min fairly by the flows that cross them.
//
// A flow moves `bytes` along a set of links; progress of one byte puts `weight` bytes on each of its links (1 for a plain transfer; more
// for a bundle: all hops of a collective that move in step). Rates are max-min fair in progress: no flow can go faster without slowing one
// that is no faster (Bertsekas and Gallager, "Data Networks", section 6.5.2; progressive filling). A flow may also have a rate of its own
// that it never exceeds.
//
// When a flow starts or ends, only the flows that it shares a contended link with, directly or through others, get new rates. A link is
// contended where the flows on it could ask for more than it has. docs/model/link_sharing.md derives all of it.
#pragma once

#include "model/base/quantity.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sextant {

using FlowIndex = std::uint32_t;

struct LinkUse {
    std::uint32_t link = 0;
    double weight = 1;
};

class FluidNetwork {
public:
    explicit FluidNetwork(std::vector<Bandwidth> capacities);  // by link; each above 0 and finite

    // Starts at `now`; the index of a flow that ended may be given again. `uses` name each link at most once, with weights above 0, and
    // are copied. `limit`: the most that the flow ever gets; infinite where only links limit it. A flow needs a link or a finite limit.
    FlowIndex start(Seconds now, Bytes bytes, std::span<const LinkUse> uses, Bandwidth limit);
    // Ends a flow, whether or not its bytes are through. Returns those that are not.
    Bytes stop(Seconds now, FlowIndex);

    // When a flow will be through if nothing else starts or stops; infinite for one that may not move (limit 0).
    struct Finish {
        FlowIndex flow = 0;
        Seconds at;
    };
    // Brings the rates up to date, once for all flows that started and stopped at this instant. Returns the flows whose time of
    // completion is new; valid until the next call. Times never decrease from call to call.
    std::span<const Finish> settle(Seconds now);

    [[nodiscard]] Bandwidth rate(FlowIndex f) const { return flows_[f].rate; }  // as of the last settle
    [[nodiscard]] Bandwidth used(std::uint32_t link) const;                     // of its capacity, as of the last settle

private:
    using UseIndex = std::uint32_t;

    // A part of a link's capacity as an integer, so that adding and taking away leave no rounding behind.
    using Share = std::int64_t;
    static constexpr Share whole = Share{1} << 40;

    struct Use {
        std::uint32_t link = 0;
        FlowIndex flow = 0;
        std::uint32_t position = 0;  // in Link::uses
        double weight = 1;
        Share share = 0;  // of the link, when the flow goes as fast as it ever can
    };
    struct Link {
        Bandwidth capacity;
        Share demand = 0;  // sum of its uses' shares
        std::vector<UseIndex> uses;
        std::uint64_t visited = 0;  // the settle that saw it last
        bool freed = false;         // a flow left it since the last settle, and others may go faster
        // While rates are found: what flows with a rate leave, and those still without.
        Bandwidth left;
        double weight = 0;
        std::uint32_t open = 0;
        [[nodiscard]] bool contended() const { return demand > whole; }
    };
    enum class State : std::uint8_t { free, starting, moving };
    struct Flow {
        Bytes remaining;  // at `since`
        Seconds since;
        Bandwidth rate, bound;  // bound: the lowest of its limit and what each link has for it alone
        UseIndex first_use = 0;
        std::uint32_t use_count = 0;
        std::uint64_t visited = 0;  // as in Link
        State state = State::free;
        bool fixed = false;  // while rates are found: has one
    };
    // What fixes rates next: a link that fills up or a flow that reaches its bound.
    struct Candidate {
        Bandwidth level;
        std::uint32_t index = 0;
        bool is_link = false;
    };

    [[nodiscard]] std::span<Use> uses_of(const Flow& f) { return std::span(uses_).subspan(f.first_use, f.use_count); }
    [[nodiscard]] UseIndex take_block(std::size_t use_count);
    void refresh(Seconds now, FlowIndex);
    void collect_component(FlowIndex);
    void reach(FlowIndex);
    void reach_along(std::uint32_t link);
    void fill_component(Seconds now);
    std::size_t fix(Seconds now, FlowIndex, Bandwidth rate);
    void set_rate(Seconds now, FlowIndex, Bandwidth rate);

    std::vector<Link> links_;
    std::vector<Flow> flows_;
    std::vector<FlowIndex> free_flows_;
    std::vector<Use> uses_;                              // each flow's side by side, in blocks of a power of two
    std::array<std::vector<UseIndex>, 33> free_blocks_;  // by the logarithm of their size
    std::vector<FlowIndex> started_;                     // since the last settle
    std::vector<std::uint32_t> freed_;                   // links
    std::uint64_t settles_ = 0;
    std::vector<Finish> finishes_;
    // Of the component at hand.
    std::vector<FlowIndex> component_;
    std::vector<std::uint32_t> component_links_;
    std::vector<Candidate> candidates_;  // a heap, lowest level first
};

}  // namespace sextant
