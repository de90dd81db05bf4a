// Traces as views show them: laid out in lanes, predicted and measured.
#pragma once

#include "gui/models/timeline/lanes.hpp"
#include "model/base/diagnostics.hpp"
#include "model/graph/run_record.hpp"
#include "model/report/critical_path.hpp"
#include "model/report/simulation_report.hpp"

#include <filesystem>
#include <memory>

namespace sextant::gui {

struct Timeline {
    std::shared_ptr<const Trace> trace;
    std::shared_ptr<const TaskGraph> graph;  // of which the trace is, where that is known
    CriticalPath path;
    Lanes lanes;
    Lanes critical;  // the same lanes, with what is on the critical path
};
// Takes some tenths of a second for each million spans: for worker threads.
Timeline lay_out(std::shared_ptr<const Trace>, std::shared_ptr<const TaskGraph> = nullptr);

// The step, played event by event. It is of the document alone: what-ifs are left out.
struct Simulated {
    std::shared_ptr<const SimulationReport> report;  // null where the step cannot be played
    std::vector<Diagnostic> problems;                // why not
    Timeline timeline;
};

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
