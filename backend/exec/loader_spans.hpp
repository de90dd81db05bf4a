// What the loader of a rank did while a step ran, as spans of the step.
#pragma once

#include "backend/exec/recorder.hpp"
#include "backend/storage/loader.hpp"

#include <span>
#include <vector>

namespace sextant {

// Spans follow one another, as in the simulation. A batch begins when the one before it ended, or at its own start if that is later, and
// its time is divided into reading and decoding as its worker's was. None where the graph loads nothing on that rank. `loads`: in the
// order in which they ended.
std::vector<RecordedSpan> loader_spans(const TaskGraph&, GraphRank, std::span<const BatchLoad> loads, Seconds begin, Seconds end);

}  // namespace sextant
