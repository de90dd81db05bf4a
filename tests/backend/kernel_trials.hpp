// Single operators for the kernels of accelerators to compute as the CPU does.
#pragma once

#include "backend/exec/place.hpp"
#include "model/workload/operator_graph.hpp"

#include <ostream>
#include <vector>

namespace sextant {

using Shape = std::vector<std::int64_t>;

// An operator alone. `weights`: elements of each; `below`: bound of the last input, integers.
struct Trial {
    const char* name;
    OperatorKind kind;
    std::vector<Shape> inputs;
    std::vector<Tensor> outputs;
    std::vector<std::int64_t> weights{};
    std::int64_t samples = 1, below = 0;
    std::int64_t first_row = 0, valid_rows = 0;
    Place place{};
    float grain = 0;  // inputs are multiples of it, so that some are equal

    friend void PrintTo(const Trial& t, std::ostream* out) { *out << t.name; }
};

std::vector<Trial> trials();

}  // namespace sextant
