// What running devices costs: money and energy.
#pragma once

#include "model/plan/scenario.hpp"
#include "model/predict/estimate.hpp"

#include <optional>

namespace sextant {

// The fraction of the step during which a kernel runs, as a monitor of the device shows it: collectives count as kernels, copies do not.
double utilization(const Terms&, const Plan&);

// The rent of one device: as the run states it, else as the device's profile does (the mean where a job has
// two kinds), else its share of a node's.
std::optional<MoneyRate> device_rent(const Scenario&);

// The power of the job's devices at this utilization, of those that are reserved and idle, and of their nodes.
Watts power_drawn(const Scenario&, double utilization, int reserved);

}  // namespace sextant
