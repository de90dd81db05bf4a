// What the workers of a rank did while a step ran, as spans of the step.
#pragma once

#include "backend/exec/recorder.hpp"
#include "backend/storage/loader.hpp"

#include <span>
#include <vector>

namespace sextant {

// One behind the other, as the simulation has them: a batch takes the time from the end of the one before it, or from its own start if that
// is later, divided into reading and decoding as its worker's time was. None where the graph loads nothing on that rank.
std::vector<RecordedSpan> loader_spans(const TaskGraph&, GraphRank, std::span<const BatchLoad> in_order_of_end, Seconds begin, Seconds end);

}  // namespace sextant
