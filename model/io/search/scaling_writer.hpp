// What more devices bring, as text for people, as JSON for programs (schema "scaling/1") and as a picture.
#pragma once

#include "model/search/scaling.hpp"

#include <string>

namespace sextant {

std::string scaling_to_text(const Scaling&);
std::string scaling_to_json(const Scaling&);
std::string scaling_svg(const Scaling&);

// Of a size without a plan: "none fits the memory of the devices".
std::string why_no_plan(const ScalingPoint&);
// Up to how many devices more of them pay, in a sentence.
std::string scaling_verdict(const Scaling&);
// The longest of what is no work on the model: "data communication 12 %".
std::string longest_wait(const Estimate&);

}  // namespace sextant
