// Other ways to store, stage and read the same samples, and what they would save of this job's time; and what a storage class is not for.
#pragma once

#include "model/report/report.hpp"

#include <string>
#include <vector>

namespace sextant {

// The report's estimate and input must be filled in. Largest gain first; then advice that saves no time.
std::vector<std::string> input_advice(const Prepared&, const Report&);

// Advice on where checkpoints go.
std::vector<std::string> checkpoint_advice(const Scenario&, const Report&);

std::vector<std::string> input_assumptions(const Scenario&);

}  // namespace sextant
