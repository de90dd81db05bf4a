// A Report as text for people and as JSON for programs (contract: schema "prediction/1", SI numbers with the unit in the key).
#pragma once

#include "model/report/report.hpp"

#include <string>

namespace sextant {

std::string report_to_text(const Report&);
std::string report_to_json(const Report&);

}  // namespace sextant
