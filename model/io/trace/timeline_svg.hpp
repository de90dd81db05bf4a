// A picture of a trace: a row for each stage (its first rank, of each kind of devices), time from left to right, boxes in the colour of
// what is done, with the number of the micro-batch inside where there is room. Thin lanes below a row show what the other streams do.
// Memory over time stands below.
//
// One file without scripts or references. Details that nobody could see are drawn together, and the picture says so: it stays under 2 MB
// however long the trace is.
#pragma once

#include "model/graph/trace.hpp"
#include "model/report/simulation_report.hpp"

#include <optional>
#include <span>
#include <string>

namespace sextant {

// The first ranks of a job that was given two kinds of devices have the slow ones.
struct RankKinds {
    int slow = 0;
    std::string slow_device, other_device;
};

struct TimelinePicture {
    std::string title;
    std::span<const MemoryTimeline> memory;  // drawn where there is any
    std::optional<Bytes> device_memory;      // a line in the curves of memory
    // What a kind of work is called where that is no training step: rows are ranks then, and not stages.
    std::string_view (*name_of)(SpanKind) = nullptr;
    std::optional<RankKinds> kinds{};
    bool other_streams = true;
    double width = 1200;  // pixels
};
TimelinePicture picture_of(const SimulationReport&);  // of what that holds: while it lives
std::string timeline_svg(const Trace&, const TimelinePicture&);

}  // namespace sextant
