// What running devices costs: money and energy.
#pragma once

#include "model/plan/scenario.hpp"
#include "model/predict/estimate.hpp"

#include <optional>

namespace sextant {

// Fraction of the step during which a kernel runs, as a monitor of the device shows it: a collective is one, a copy is none.
double utilization(const Terms&, const Plan&);

// Of one device: what the run says, else what the profile says of the device (the mean of a job's two kinds), else its share of a node.
std::optional<MoneyRate> device_rent(const Scenario&);

// Of the job's devices at this utilization, of those that are reserved and idle, and of their nodes.
Watts power_drawn(const Scenario&, double utilization, int reserved);

}  // namespace sextant
