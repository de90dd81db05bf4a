// Other settings of the plan that a report recommends, as people read them in the editor, and as edits that make them.
#pragma once

#include "gui/models/fields.hpp"

#include <QString>

#include <vector>

namespace sextant::gui {

struct Suggestion {
    QString change;  // "Micro-batch 32, Global batch 32"
    QString step;    // what the step takes then
    QString gain;    // "−33 %"; where the job does not fit as it is, what it fits in
    Edits edits;     // one step of the history
};

// Best first, at most so many of the plan, and of where else a job fits that does not. What stays as it is has no words.
std::vector<Suggestion> suggestions(const Report&, std::size_t most);

}  // namespace sextant::gui
