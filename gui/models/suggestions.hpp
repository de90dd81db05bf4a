// Changes of the plan that a report recommends, in the words of the editor, with the edits that make them.
#pragma once

#include "gui/models/fields.hpp"

#include <QString>

#include <vector>

namespace sextant::gui {

struct Suggestion {
    QString change;  // "Micro-batch 32, Global batch 32"
    QString step;    // the step time with it
    QString gain;    // "−33 %"; where the job does not fit as it is, "fits in 72 GB"
    Edits edits;     // one step of the history
};

// Best first: at most `most` changes of the plan, and, where the job does not fit, what else it would fit on.
std::vector<Suggestion> suggestions(const Report&, std::size_t most);

}  // namespace sextant::gui
