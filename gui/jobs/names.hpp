// The names that can be chosen in the editor. Takes some tens of milliseconds, because it reads every profile.
#pragma once

#include "gui/models/fields.hpp"

#include <map>

namespace sextant::gui {

using Names = std::map<NameKind, QStringList>;
Names load_names();  // empty where the library is missing

}  // namespace sextant::gui
