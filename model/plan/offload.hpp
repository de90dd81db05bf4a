// What goes between device and host memory where a plan offloads, beside activations. The closed form prices it, and lowering writes it
// down as work.
#pragma once

#include "model/plan/buckets.hpp"

namespace sextant {

// Does the host update weights with its copy of the states?
bool updates_on_host(const Plan&);

// Do gradients go to the host behind their reduction? Else with the update. And does the device have room for no more than those on their
// way then?
bool gradients_go_down(const Plan&, const Framework&);
bool gradients_leave(const Plan&, const Framework&);

// A reduction's place in the step: where every micro-batch's gradients are reduced, only one is the first, and one the last.
struct StepEnds {
    bool first = true, last = true;
};
// What one gradient that a rank owns costs when it goes down: bytes over the device's link, down and up, and bytes that the host reads and
// writes.
struct GradientCopy {
    Bytes over_link, in_host_memory;
};
GradientCopy gradient_copy(const Plan&, const Framework&, const Precision& kept, StepEnds);

// Does the host keep the sum of what has come down apart from the gradients that it updates with?
bool keeps_sum_on_host(const Plan&, const Framework&, std::int64_t micro_batches);

// Of dense parameters and of experts those that one rank holds: all, or its shard.
double held_parameters(double dense, double expert, const Plan&, bool sharded);

}  // namespace sextant
