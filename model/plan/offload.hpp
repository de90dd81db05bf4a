// What moves between device and host memory where a plan offloads, activations apart. The closed form prices it, and lowering writes it
// down as work.
#pragma once

#include "model/plan/buckets.hpp"

namespace sextant {

// Whether the host updates weights with its copy of the optimizer states.
bool updates_on_host(const Plan&);

// Whether gradients go to the host right after their reduction, rather than with the update.
bool offloads_gradients(const Plan&, const Framework&);
// Whether the device then keeps none of them, except those on their way.
bool gradients_leave(const Plan&, const Framework&);

// A reduction's place in the step. Where the gradients of every micro-batch are reduced, one reduction is the first and one the last; a
// single one is both.
struct StepEnds {
    bool first = true, last = true;
};
// What moving one gradient that a rank owns to the host takes: bytes over the device's link, down and up,
// and bytes that the host reads and writes.
struct GradientCopy {
    Bytes over_link, in_host_memory;
};
GradientCopy gradient_copy(const Plan&, const Framework&, const Precision& kept, StepEnds);

// Whether the host keeps the sum of the gradients that have come down apart from those that it updates with.
bool keeps_sum_on_host(const Plan&, const Framework&, std::int64_t micro_batches);

// How many of these parameters one rank holds: all, or its shard of them.
double held_parameters(double dense, double expert, const Plan&, bool sharded);

}  // namespace sextant
