#include "gui/views/term_bars.hpp"

#include "gui/models/text.hpp"

namespace sextant::gui {

BarRow row_of(const Terms& terms, const QString& label, const Look& look) {
    BarRow row{.label = label, .note = quantity(terms.total()), .parts = {}, .key = 0};
    for (int t = 0; t < term_count; ++t) {
        const auto term = static_cast<Term>(t);
        if (terms[term] > Seconds{}) row.parts.push_back({t, words_of(term), terms[term].si(), quantity(terms[term]), fill_of(term, look)});
    }
    return row;
}

std::shared_ptr<StackedBars> term_bars(const Estimate& e, const Look& look) {
    auto bars = std::make_shared<StackedBars>();
    bars->unit = unit_for(e.step);
    const bool pipelined = e.memory.size() > 1;
    bars->rows.push_back(row_of(e.terms, pipelined ? QStringLiteral("stage %1").arg(e.last_stage) : QString(), look));
    if (e.slowest_stage != e.last_stage) bars->rows.push_back(row_of(e.slowest, QStringLiteral("stage %1").arg(e.slowest_stage), look));
    return bars;
}

}  // namespace sextant::gui
