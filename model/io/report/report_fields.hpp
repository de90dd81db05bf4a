// The JSON of a report, for those who write more beside it.
#pragma once

#include "model/report/report.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace sextant {

// Those that take any time, by name.
nlohmann::ordered_json terms_json(const Terms&);

// "plan.shard_group=8 (-26 %), a faster network": the first few settings, and what else helps; of a job that does not fit, what makes it
// fit.
std::string what_would_move_it(const Report&);

// "6 fits": of a micro-batch, with what this plan can use of it.
std::string largest_micro_batch_text(const Report&);

nlohmann::ordered_json report_fields(const Report&, const std::string& schema);

}  // namespace sextant
