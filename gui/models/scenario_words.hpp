// A document as the programs of the command line take it: its file, and what to change in it.
#pragma once

#include "model/io/scenario/scenario_document.hpp"

#include <QStringList>

namespace sextant::gui {

// The edits that make of a file, as it is on the disk by now, what the document says. After a save they are not those of the document.
std::vector<std::string> edits_of_file(const ScenarioDocument&);

// "FILE --set PATH=VALUE ..."
QStringList scenario_words(const ScenarioDocument&);
// What would give the same answer on a command line.
QString predict_command(const ScenarioDocument&);

}  // namespace sextant::gui
