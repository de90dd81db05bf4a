// A document as arguments of the command line: its file, and what to change in it.
#pragma once

#include "model/io/scenario/scenario_document.hpp"

#include <QStringList>

namespace sextant::gui {

// The edits that turn the file, as it is on the disk now, into the document. After a save these are not all edits of the document.
std::vector<std::string> edits_of_file(const ScenarioDocument&);

// "FILE --set PATH=VALUE ..."
QStringList scenario_words(const ScenarioDocument&);
// The command that gives the same answer.
QString predict_command(const ScenarioDocument&);

}  // namespace sextant::gui
