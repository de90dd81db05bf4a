// Plans in the rows of a table: a column for each field in which one of them is out of the ordinary.
#pragma once

#include "model/io/format/text_table.hpp"
#include "model/search/plan_answer.hpp"

#include <string>
#include <vector>

namespace sextant {

struct PlanColumn {
    std::string title;
    Align align = Align::right;
    std::vector<std::string> cells;  // one for each plan

    // Whether it says the same of all of them.
    [[nodiscard]] bool is_alike() const;
};

// How the plans divide the job. Columns that say the same of all of them in the usual way are left out.
std::vector<PlanColumn> plan_columns(const std::vector<const Plan*>&);
// The same of the best plans, and which other placements do as well.
std::vector<PlanColumn> plan_columns(const std::vector<RankedPlan>&);
// What they come to: memory, step time, throughput, and money where it has a price.
std::vector<PlanColumn> outcome_columns(const Scenario& job, const std::vector<const PlanChoice*>&);

std::string table_of(const std::vector<PlanColumn>&);

// "tp 8, pp 16, dp 8, micro-batch 2, interleaved x4, zero1, recompute selective": in a line what the columns say.
std::string plan_line(const Plan&);
// "5.42 USD per 1M tokens"; by samples where there are no tokens.
std::string price_unit(const Scenario& job);
std::string price_text(const Scenario& job, Money per_sample);

}  // namespace sextant
