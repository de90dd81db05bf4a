#include "backend/exec/gradient_norm.hpp"

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

double squares_of_gradients(ComputeDevice& device, std::span<const TensorPart> tensors) {
    std::vector<Array> parts;
    for (const TensorPart& p : tensors)
        if (p.counts) add(parts, p.run->sums.part(p.first, p.count));
    return device.sum_of_squares(parts);
}

}  // namespace sextant
