// The meanings of a report's terms, each in a sentence, for tooltips.
#pragma once

#include "model/report/report.hpp"

#include <QString>

namespace sextant::gui {

QString meaning(Term);
QString meaning(MemoryKind);

}  // namespace sextant::gui
