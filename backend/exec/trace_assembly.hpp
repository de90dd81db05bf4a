// From what each rank recorded of a step to the trace of the step.
//
// A rank notes when it came to a collective and when it left it; that the collective began when the last came, and what had kept that
// one, is known only here, where all records lie side by side. A transfer ends when its receiver has it.
#pragma once

#include "backend/exec/recorder.hpp"

#include <string>
#include <vector>

namespace sextant {

struct RankRecord {
    std::vector<RecordedSpan> spans;
    std::vector<RecordedArrival> arrivals;
    Seconds begin, end;
    std::string host;
};

// By rank of the graph. Times become times since the first rank began.
Trace assemble_trace(const TaskGraph&, std::vector<RankRecord>);

}  // namespace sextant
