// What another setting of the plan would gain: each is tried and priced, so that only what helps this very job is named.
#pragma once

#include "model/report/report.hpp"

namespace sextant {

// Of a job that fits, the best setting of each kind that gains something and fits too; of one that does not, the fastest of each kind that
// does. Best first, but those with another global batch, which trains differently, behind the others. What the framework lacks and what the
// plan's numbers do not allow is not tried. `fits`: whether the job does, which a simulation may know better than the closed form.
std::vector<PricedSetting> better_settings(const Prepared&, bool fits);

}  // namespace sextant
