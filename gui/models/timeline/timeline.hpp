// Traces as views show them, predicted and measured: laid out in lanes.
#pragma once

#include "gui/models/timeline/lanes.hpp"
#include "model/graph/run_record.hpp"
#include "model/report/critical_path.hpp"

#include <filesystem>
#include <memory>

namespace sextant::gui {

struct Timeline {
    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const TaskGraph> graph;  // the graph of the trace; null where it is unknown
    CriticalPath path;
    TimeByKind by_kind;  // summed over all ranks
    Lanes lanes;
    Lanes critical;  // the same lanes, with only the critical path
};
// Takes some tenths of a second per million spans: for worker threads.
Timeline lay_out(std::shared_ptr<const Trace>, std::shared_ptr<const TaskGraph> = nullptr);

// Frees the memory of the spans piece by piece: at once it would take tens of milliseconds under a lock of the process, for which the
// window would wait. For worker threads, once no view uses the spans any more.
void give_back(const Timeline&);

// A step that really ran.
struct Measured {
    std::filesystem::path file;
    std::shared_ptr<const RunRecord> run;  // null where there is only a trace
    Timeline timeline;
};

// Whether a file holds a run or a trace rather than a scenario, judged by its name and its first line.
bool holds_measurement(const std::filesystem::path&);
// Throws InputError with everything that is wrong with the file.
Measured read_measurement(const std::filesystem::path&);

}  // namespace sextant::gui
