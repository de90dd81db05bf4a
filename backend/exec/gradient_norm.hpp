// What gradients are clipped by: a norm over those of all parameters, however they are cut.
#pragma once

#include "backend/exec/rank_memory.hpp"

namespace sextant {

// Of the gradients that this rank updates with, without those that a rank of its tensor group before it, or another stage, has too. Summed
// over the ranks of which none is another's copy, it is the square of the norm. Copies of experts may be on other ranks than those of the
// rest: `dense` and `experts` say of which this rank's count.
double squares_of_gradients(ComputeDevice&, RankMemory&, bool dense, bool experts);

}  // namespace sextant
