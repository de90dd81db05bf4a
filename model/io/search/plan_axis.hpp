// Where pictures of plans draw the memory that a plan needs.
#pragma once

#include "model/base/quantity.hpp"

namespace sextant {

struct PlanMemoryAxis {
    Bytes device;  // what a process of it can have

    // Far more than any plan needs says nothing, and would push all of them together.
    [[nodiscard]] bool shows_device(Bytes most) const { return device < 4 * most; }
    // A plan that is too large by far is drawn at the edge, behind a break of the axis.
    [[nodiscard]] bool is_beyond(Bytes memory) const { return memory > 1.1 * device; }
    [[nodiscard]] Bytes broken_at() const { return 1.18 * device; }
    [[nodiscard]] Bytes place_of(Bytes memory) const { return is_beyond(memory) ? 1.3 * device : memory; }
};

}  // namespace sextant
