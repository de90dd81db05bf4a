// Traces as views show them: laid out in lanes, predicted and measured.
#pragma once

#include "gui/models/timeline/lanes.hpp"
#include "model/graph/run_record.hpp"
#include "model/report/critical_path.hpp"

#include <filesystem>
#include <memory>

namespace sextant::gui {

struct Timeline {
    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const TaskGraph> graph;  // of which the trace is, where that is known
    CriticalPath path;
    TimeByKind by_kind;  // time of all ranks, side by side
    Lanes lanes;
    Lanes critical;  // the same lanes, with what is on the critical path
};
// Takes some tenths of a second for each million spans: for worker threads.
Timeline lay_out(std::shared_ptr<const Trace>, std::shared_ptr<const TaskGraph> = nullptr);

// Gives what its spans take back to the system, part by part: as a whole that takes tens of milliseconds, under a lock of the process which
// the window waits for. For worker threads, once nobody looks at them any more.
void give_back(const Timeline&);

// A step that ran for real.
struct Measured {
    std::filesystem::path file;
    std::shared_ptr<const RunRecord> run;  // null where only a trace was there
    Timeline timeline;
};

// Whether a file holds a run or a trace rather than a scenario, told from its name and its first line.
bool holds_measurement(const std::filesystem::path&);
// Throws InputError with everything that is wrong with it.
Measured read_measurement(const std::filesystem::path&);

}  // namespace sextant::gui
