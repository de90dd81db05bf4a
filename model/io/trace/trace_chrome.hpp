// A trace as Chrome's JSON, which ui.perfetto.dev and chrome://tracing open: a process for each rank, a thread for each of its streams.
//
// Format: "Trace Event Format", docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. Times are in microseconds. It is
// an export: nothing reads it back, and a trace of millions of spans is better kept as in trace_hdf5.hpp.
#pragma once

#include "model/graph/trace.hpp"
#include "model/report/simulation_report.hpp"

#include <iosfwd>
#include <span>
#include <string>

namespace sextant {

struct ChromeTraceView {
    std::span<const MemoryTimeline> memory;          // a counter on the first rank of each stage
    std::span<const UtilizationSeries> utilization;  // counters in a process of their own
    std::size_t arrows_up_to = 20'000;               // causes on other ranks are drawn in traces of at most so many spans
};
void write_chrome_trace(std::ostream&, const Trace&, const ChromeTraceView& = {});

// Several of one step in one file, the first on top. The label stands before the names of its ranks: "predicted rank 0".
struct LabelledTrace {
    std::string label;
    const Trace* trace = nullptr;
    ChromeTraceView view;
};
void write_chrome_traces(std::ostream&, std::span<const LabelledTrace>);

}  // namespace sextant
