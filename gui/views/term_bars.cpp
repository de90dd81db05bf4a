#include "gui/views/term_bars.hpp"

#include "gui/models/meanings.hpp"
#include "gui/models/text.hpp"

namespace sextant::gui {

BarRow row_of(const Terms& terms, const QString& label) {
    BarRow row{.label = label, .note = quantity(terms.total()), .parts = {}, .key = 0};
    for (const Term term : all_terms)
        if (terms[term] > Seconds{})
            row.parts.push_back(
                {static_cast<int>(term), words_of(term), terms[term].si(), quantity(terms[term]), fill_of(term), meaning(term)});
    return row;
}

std::shared_ptr<StackedBars> term_bars(const Estimate& e) {
    auto bars = std::make_shared<StackedBars>();
    bars->unit = unit_for(e.step);
    const bool pipelined = e.memory.size() > 1;
    bars->rows.push_back(row_of(e.terms, pipelined ? QStringLiteral("stage %1").arg(e.last_stage) : QString()));
    if (e.slowest_stage != e.last_stage) bars->rows.push_back(row_of(e.slowest, QStringLiteral("stage %1").arg(e.slowest_stage)));
    return bars;
}

}  // namespace sextant::gui
