#include "gui/models/selection.hpp"

namespace sextant::gui {

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
