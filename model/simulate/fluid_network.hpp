// Links shared max-min fairly by the flows that cross them.
//
// A flow moves `bytes` along a set of links; progress of one byte puts `weight` bytes on each of its links (1 for a plain transfer; more
// for a bundle: all hops of a collective that move in step). Rates are max-min fair in progress: no flow can go faster without slowing one
// that is no faster (Bertsekas and Gallager, "Data Networks", section 6.5.2; progressive filling). A flow may also have a rate of its own
// that it never exceeds.
//
// When a flow starts or ends, only the flows that it shares a link with, directly or through others, get new rates.
#pragma once

#include "model/base/quantity.hpp"

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
    explicit FluidNetwork(std::vector<Bandwidth> capacities);  // by link

    // Starts at `now`; the index of a flow that ended may be given again. `uses` name each link at most once and are copied.
    // `limit`: the most that the flow ever gets; infinite where only links limit it. A flow needs a link or a finite limit.
    FlowIndex start(Seconds now, Bytes bytes, std::span<const LinkUse> uses, Bandwidth limit);
    // Ends a flow, whether or not its bytes are through.
    void stop(Seconds now, FlowIndex);

    // When a flow will be through if nothing else starts or stops.
    struct Finish {
        FlowIndex flow = 0;
        Seconds at;
    };
    // Brings the rates up to date, once for all flows that started and stopped at this instant. Returns the flows whose time of
    // completion is new; valid until the next call. Times never decrease from call to call.
    std::span<const Finish> settle(Seconds now);

    [[nodiscard]] Bandwidth rate(FlowIndex) const;           // as of the last settle
    [[nodiscard]] Bandwidth used(std::uint32_t link) const;  // of its capacity, as of the last settle
};

}  // namespace sextant
