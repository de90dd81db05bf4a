// What another setting of the plan would gain: each is tried and priced, so that only what helps this very job is named.
#pragma once

#include "model/report/report.hpp"

namespace sextant {

// For a job that fits, the best setting of each kind that gains something and still fits; for one that does not, the fastest of each kind
// that fits. Best first, but settings with another global batch, which train differently, come last. What the framework lacks or the plan's
// numbers do not allow is not tried. `fits`: whether the job does, which a simulation may know better than the closed form.
std::vector<PricedSetting> better_settings(const Prepared&, bool fits);

}  // namespace sextant
