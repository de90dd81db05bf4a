// Where the time of a selected range goes: its part of the terms of a step, rank by rank.
#pragma once

#include "gui/models/selection.hpp"
#include "gui/models/table_model.hpp"
#include "model/report/simulation_report.hpp"

#include <QString>

#include <vector>

namespace sextant::gui {

struct RangeTerms {
    QString name;  // of the rank
    Terms terms;   // sum to the range
};
// For the first rank of each stage. For worker threads.
std::vector<RangeTerms> terms_within(const Trace&, const TimeRange&);

Table range_table(const std::vector<RangeTerms>&);

}  // namespace sextant::gui
