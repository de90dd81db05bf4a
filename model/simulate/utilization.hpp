// How busy links and devices were over time, from what a simulation recorded. Internal to simulate.
#pragma once

#include "model/simulate/player.hpp"

namespace sextant {

std::vector<UtilizationSeries> link_utilization(const LinkMap&, std::span<const RateSpan>, Seconds end);

// Of every rank's compute stream: the time in which kernels run.
std::vector<UtilizationSeries> device_utilization(const Trace&);

}  // namespace sextant
