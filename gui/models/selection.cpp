#include "gui/models/selection.hpp"

#include "gui/models/text.hpp"

namespace sextant::gui {

QString words_of(const TimeRange& range) {
    const int digits = digits_for(range.to, range.to - range.from);
    return QStringLiteral("%1 to %2")
        .arg(range.from > Seconds{} ? quantity(range.from, digits) : QStringLiteral("0"), quantity(range.to, digits));
}

void Selection::set(const Selected& next) {
    if (next == now_) return;
    now_ = next;
    emit changed();
}

void Selection::select(std::optional<Term> term) {
    Selected next = now_;
    next.term = term;
    set(next);
}

}  // namespace sextant::gui
