#include "backend/exec/step_record.hpp"

#include "model/base/ceil_divide.hpp"

#include <bit>

namespace sextant {
namespace {

std::size_t stride_of(std::size_t steps) { return std::bit_ceil(ceil_divide(steps, most_detailed_steps)); }

}  // namespace

void thin_out(std::vector<StepRecord>& steps) {
    const std::size_t last = steps.size() - 1, stride = stride_of(steps.size());
    for (std::size_t i = stride == stride_of(last) ? last : 0; i <= last; ++i)
        if (i % stride != 0) steps[i].details.reset();
}

}  // namespace sextant
