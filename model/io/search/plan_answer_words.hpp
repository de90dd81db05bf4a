// What is said of plans in the answer of a search, wherever it is shown: in a terminal or in a window.
#pragma once

#include "model/search/plan_answer.hpp"

#include <string>
#include <string_view>

namespace sextant {

// A plan that was tried, against the best one.
struct TriedWords {
    std::string step;    // "-" where it cannot be
    std::string longer;  // of a sample's time: "+12 %", "as fast"
    std::string memory;
    std::string remark;  // which term grew most, or what is in the way
};
TriedWords in_words(const PlanAnswer&, const TriedPlan&);

std::string_view ranked_by(Objective);                  // "highest throughput"
std::string longer_text(double by);                     // 0.12 -> "+12 %"
std::string share_text(const Estimate&, Term);          // of the step: "12 %"
std::string own_verdict(const PlanAnswer&);             // what the best plan is against the scenario's own
std::string name_of(const Alternative&);                // "plain data parallelism"
std::string name_of(const PlanAnswer&, const Remedy&);  // "pp 8 instead of 1"
// Why there is no best plan, in a sentence.
std::string why_none(const PlanAnswer&);

std::string count_text(std::int64_t plans);  // "1200", "3.4 million"
// What is said of plans of SearchCounts::too_large: a condition on memory is one more limit to it.
std::string_view too_large_words(const SearchRequest&);

}  // namespace sextant
