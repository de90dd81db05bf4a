// The JSON of a report, for those who write more beside it.
#pragma once

#include "model/report/report.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace sextant {

// Those that take any time, by name.
nlohmann::ordered_json terms_json(const Terms&);

nlohmann::ordered_json report_fields(const Report&, const std::string& schema);

}  // namespace sextant
