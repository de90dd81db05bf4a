// The devices of a machine, as an executor tells the command line of them (schema devices/1).
#pragma once

#include "model/hardware/device_facts.hpp"

#include <string>
#include <vector>

namespace sextant {

std::string device_facts_to_json(const std::vector<DeviceFacts>&);

// Throws InputError with everything that is wrong.
std::vector<DeviceFacts> device_facts_from_json(const std::string& text, const std::string& name);

}  // namespace sextant
