// What holds the job back, found by asking what each resource made twice as good would change.
#pragma once

#include "model/report/report.hpp"

namespace sextant {

Bottleneck find_bottleneck(const Prepared&, const Estimate&);

}  // namespace sextant
