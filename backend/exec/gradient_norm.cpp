#include "backend/exec/gradient_norm.hpp"

#include <algorithm>

namespace sextant {
namespace {

// What lies behind the last part continues it: each part is work of its own for the device.
void add(std::vector<Array>& parts, const Array& next) {
    if (!parts.empty() && parts.back().reals() + parts.back().elements == next.reals())
        parts.back().elements += next.elements;
    else
        parts.push_back(next);
}

}  // namespace

double squares_of_gradients(ComputeDevice& device, RankMemory& memory, bool dense, bool experts) {
    std::vector<Array> parts;
    for (auto& [b, held] : memory.blocks()) {
        for (const ParameterTensor& p : held.program.parameters()) {
            // Tied ones are counted where their owner is.
            if (p.frozen || p.run == RunKind::tied || !(p.run == RunKind::experts ? experts : dense)) continue;
            const ParameterRun& run = held.run_of(p);
            const std::int64_t begin = run.sums.elements < run.elements ? run.shard.rank * run.sums.elements : 0;
            const std::int64_t end = begin + run.sums.elements;
            for (const RowSection& s : p.sections) {
                if (s.repeated) continue;
                const std::int64_t first = std::max(begin, p.offset + s.local * p.columns);
                const std::int64_t last = std::min(end, p.offset + (s.local + s.count) * p.columns);
                if (first < last) add(parts, run.sums.part(first - begin, last - first));
            }
        }
    }
    return device.sum_of_squares(parts);
}

}  // namespace sextant
