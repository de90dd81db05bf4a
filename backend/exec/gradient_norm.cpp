#include "backend/exec/gradient_norm.hpp"

#include <algorithm>

namespace sextant {

double squares_of_gradients(ComputeDevice& device, RankMemory& memory) {
    double sum = 0;
    for (auto& [b, held] : memory.blocks()) {
        const std::int64_t begin = held.sums.elements < held.elements ? memory.shard().rank * held.sums.elements : 0;
        const std::int64_t end = begin + held.sums.elements;
        for (const ParameterTensor& p : held.program.parameters()) {
            if (p.tied) continue;  // counted with the embedding
            for (const RowSection& s : p.sections) {
                if (s.repeated) continue;
                const std::int64_t first = std::max(begin, p.offset + s.local * p.columns);
                const std::int64_t last = std::min(end, p.offset + (s.local + s.count) * p.columns);
                if (first < last) sum += device.sum_of_squares(held.sums.part(first - begin, last - first));
            }
        }
    }
    return sum;
}

}  // namespace sextant
