// What can be chosen by name. Takes some tens of milliseconds: every profile is looked at.
#pragma once

#include "gui/models/fields.hpp"

#include <map>

namespace sextant::gui {

using Names = std::map<NameKind, QStringList>;
Names load_names();  // those that can be found; none where the library is not there

}  // namespace sextant::gui
