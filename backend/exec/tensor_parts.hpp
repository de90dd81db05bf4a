// What a rank updates, tensor by tensor. For computations over whole tensors, of which each rank has a part, and several ranks the same
// part.
#pragma once

#include "backend/exec/rank_memory.hpp"

namespace sextant {

// Several ranks have the same parameters, and only one of them is to count them. Whether that is this rank, for each kind of parameters.
struct Counted {
    bool dense = true, experts = true;
};

// Elements of one tensor that lie together in a run and that the rank updates.
struct TensorPart {
    ParameterRun* run = nullptr;
    std::int64_t first = 0, count = 0;
    bool counts = true;      // nobody else counts them
    std::size_t tensor = 0;  // the same number on every rank
};
std::vector<TensorPart> tensor_parts(RankMemory&, const Network&, Counted);
std::size_t tensor_numbers(const Network&);  // TensorPart::tensor is below that

}  // namespace sextant
