// One step of a trace of torch.profiler as a Trace. Internal to the reader of such traces.
#pragma once

#include "model/io/trace/profiler_events.hpp"

#include <span>
#include <vector>

namespace sextant::profiler {

// The work of a step that lasts as long as `window`. Where nothing runs, the device waits for samples if its host is `loading`, else for
// its host.
Trace step_trace(std::span<const DeviceWork> work, Period window, const std::vector<Period>& loading, int rank);

}  // namespace sextant::profiler
