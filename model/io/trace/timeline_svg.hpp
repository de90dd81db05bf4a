// A picture of a trace: a row for each stage (its first rank), time from left to right, boxes in the colour of what is done, with the
// number of the micro-batch inside where there is room. Thin lanes below a row show what the other streams do. Memory over time stands
// below.
//
// One file without scripts or references. Details that nobody could see are drawn together, and the picture says so: it stays under 2 MB
// however long the trace is.
#pragma once

#include "model/graph/trace.hpp"
#include "model/report/memory_timeline.hpp"

#include <optional>
#include <span>
#include <string>

namespace sextant {

struct TimelinePicture {
    std::string title;
    std::span<const MemoryTimeline> memory;  // drawn where there is any
    std::optional<Bytes> device_memory;      // a line in the curves of memory
    // What a kind of work is called where that is no training step: rows are ranks then, and not stages.
    std::string_view (*name_of)(SpanKind) = nullptr;
    bool other_streams = true;
    double width = 1200;  // pixels
};
std::string timeline_svg(const Trace&, const TimelinePicture&);

}  // namespace sextant
