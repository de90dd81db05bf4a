// What a rank updates, tensor by tensor. For sums over whole tensors, of which each rank has a part, and several ranks may have the same
// part.
#pragma once

#include "backend/exec/rank_memory.hpp"

namespace sextant {

// Where several ranks have the same parameters, only one of them counts them. Whether it is this rank, for each kind of parameters.
struct Counted {
    bool dense = true, experts = true;
};

// Contiguous elements of one tensor in a run, which the rank updates.
struct TensorPart {
    ParameterRun* run = nullptr;
    std::int64_t first = 0, count = 0;
    bool counts = true;      // no other rank counts them
    std::size_t tensor = 0;  // the same number on every rank
};
std::vector<TensorPart> tensor_parts(RankMemory&, const Network&, Counted);
std::size_t tensor_numbers(const Network&);  // TensorPart::tensor is below that

}  // namespace sextant
