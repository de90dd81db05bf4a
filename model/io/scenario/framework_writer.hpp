// A framework as it was measured on a machine.
#pragma once

#include "model/plan/framework.hpp"

#include <filesystem>
#include <string>

namespace sextant {

// The framework/1 at `file` with what a calibration finds of one in place of its own: dispatch, the overhead of a step, and what its
// attention and its convolutions reach, as they stand in `measured`. Throws InputError where the file does not read.
std::string framework_to_profile(const std::filesystem::path& file, const Framework& measured);

}  // namespace sextant
