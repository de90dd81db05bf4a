// Makes the trace of a step from what each rank recorded.
//
// A rank records when it reached a collective and when it left it. The collective began when the last rank reached it; which rank that was,
// and what had kept it, shows only when all records are together. A transfer ends when its receiver has it.
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

// `records`: by rank of the graph. Times in the trace count from when the first rank began.
Trace assemble_trace(const TaskGraph&, std::vector<RankRecord>);

}  // namespace sextant
