// What a rank updates, tensor by tensor: for what is asked of whole tensors, of which ranks have parts, and several the same.
#pragma once

#include "backend/exec/rank_memory.hpp"

namespace sextant {

// Of each kind of parameters: are this rank's those that count, of the ranks that have the same?
struct Counted {
    bool dense = true, experts = true;
};

// Elements that lie together, of what the rank updates of a run.
struct TensorPart {
    ParameterRun* run = nullptr;
    std::int64_t first = 0, count = 0;
    bool counts = true;      // nobody else counts them
    std::size_t tensor = 0;  // the same number on every rank
};
std::vector<TensorPart> tensor_parts(RankMemory&, const Network&, Counted);
std::size_t tensor_numbers(const Network&);  // numbers are below that

}  // namespace sextant
