#include "gui/views/mover_bars.hpp"

#include "gui/models/text.hpp"

namespace sextant::gui {

std::shared_ptr<Chart> mover_bars(const Bottleneck& b, const Look& look, std::size_t most) {
    auto chart = std::make_shared<RankedBars>();
    chart->bar_part = 0.45;
    chart->full = 0.5;  // twice of one thing halves the step at best
    for (std::size_t i = 0; i < std::min(most, b.movers.size()); ++i) {
        const Mover& m = b.movers[i];
        RankedLine line{.key = static_cast<int>(i), .name = q(m.change), .share = m.gain};
        line.value = quantity(m.step_at_double);
        line.note = QStringLiteral("\u2212") + percent(m.gain);
        line.fill = {look.accent};
        chart->lines.push_back(std::move(line));
    }
    return chart;
}

}  // namespace sextant::gui
