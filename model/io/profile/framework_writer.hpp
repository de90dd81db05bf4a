// A framework as it was measured on a machine.
#pragma once

#include "model/plan/framework.hpp"

#include <filesystem>
#include <string>

namespace sextant {

// The framework/1 at `file` with the numbers that a calibration found in place of its own: dispatch, the overhead of a step, and what
// attention and convolutions reach. They are taken from `measured`. Throws InputError where the file cannot be read.
std::string framework_to_profile(const std::filesystem::path& file, const Framework& measured);

}  // namespace sextant
