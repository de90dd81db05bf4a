// The events that count in a trace of torch.profiler: the work of the device, and what its host was doing when it launched that.
// Internal to the reader of such traces.
#pragma once

#include "model/graph/trace.hpp"
#include "model/plan/plan.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace sextant::profiler {

// In microseconds, of host and device alike.
struct Period {
    double start = 0, end = 0;
};

// What the host was doing when it launched something.
enum class HostPhase { optimizer, backward, recompute };
struct PhaseInterval : Period {
    HostPhase phase;
    std::ptrdiff_t around = -1;  // the interval of its thread that contains it, if any
};

struct Launch {
    double at = 0;
    std::size_t thread = 0;
};

// A kernel or a copy on the device.
struct DeviceWork : Period {
    std::string name, group;                   // group: the names of its collective and of its process group
    std::int64_t correlation = 0, stream = 0;  // correlation: with its launch; 0: unknown
    double bytes = 0;
    SpanKind kind = SpanKind::forward;
    double launched = 0;
};
bool is_exchange_kernel(const DeviceWork&);

// Takes each event of the document when it is complete, since a trace may have millions.
class Events {
public:
    std::vector<DeviceWork> work;
    std::unordered_map<std::int64_t, Launch> launches;  // by correlation
    std::vector<std::vector<PhaseInterval>> phases;     // by thread
    std::vector<Period> steps, loading;
    bool out_of_range = false, without_times = false;

    void take(const nlohmann::json& event);
    // Once all events are taken: finds when work was launched, and of which kind it is.
    void classify(const Plan&);

private:
    std::size_t thread(const nlohmann::json& event);

    std::map<std::string, std::size_t> threads_;
};

}  // namespace sextant::profiler
