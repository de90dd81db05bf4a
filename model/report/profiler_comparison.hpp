// A prediction beside what the profiler of another framework recorded on one rank.
#pragma once

#include "model/graph/profiler_record.hpp"
#include "model/report/comparison.hpp"

#include <string>
#include <vector>

namespace sextant {

// All calls of a kernel in the step of median time.
struct KernelTime {
    std::string name;
    SpanKind kind = SpanKind::forward;  // of the first
    int calls = 0;
    Seconds time;
};

struct ProfilerComparison {
    Report prediction;
    std::string file, device;
    int rank = 0;
    StepTimes steps;  // whole ones
    Seconds predicted_step, traced_step;
    // Predicted for the rank that finishes last, measured on the profiled one; each sums to its step.
    Terms predicted, measured, predicted_overlapped, measured_overlapped;
    std::vector<KernelTime> kernels;  // exchanges too, the longest first
    Term largest = Term::forward;     // where the two differ most
    std::vector<std::string> notes;
};

// Throws InputError where the profile is of a job of another number of ranks.
ProfilerComparison compare_profiler(const Scenario&, Report prediction, const ProfilerRecord&);

std::vector<NamedQuantity> named_quantities(const ProfilerComparison&);

}  // namespace sextant
