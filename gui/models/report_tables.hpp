// The contents of a report as tables: numbers in SI units, with the unit in the heading.
#pragma once

#include "gui/models/table_model.hpp"
#include "model/report/report.hpp"

namespace sextant::gui {

Table figures_table(const Report&);
Table terms_table(const Estimate&);
Table movers_table(const Bottleneck&);
Table inputs_table(const Report&);
Table memory_table(const Estimate&);

}  // namespace sextant::gui
