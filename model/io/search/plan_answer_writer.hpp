// The answer of a search as text for people, as JSON for programs (schema "plan/1") and as a picture.
#pragma once

#include "model/search/plan_answer.hpp"

#include <string>

namespace sextant {

// `took`: the search, by the caller's clock.
std::string plan_answer_to_text(const PlanAnswer&, Seconds took);
std::string plan_answer_to_json(const PlanAnswer&, Seconds took);

// Throughput against memory: the plans of the front, the best ones and the job's own.
std::string plan_answer_svg(const PlanAnswer&);

}  // namespace sextant
