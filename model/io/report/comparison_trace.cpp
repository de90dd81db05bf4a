#include "model/io/report/comparison_writer.hpp"
#include "model/io/trace/trace_chrome.hpp"

#include <array>

namespace sextant {

void write_comparison_trace(std::ostream& out, const Comparison& c, const Trace& measured) {
    const std::array traces = {LabelledTrace{"predicted", &c.simulation.trace, {.memory = c.simulation.memory, .utilization = {}}},
                               LabelledTrace{"measured", &measured, {}}};
    write_chrome_traces(out, traces);
}

}  // namespace sextant
