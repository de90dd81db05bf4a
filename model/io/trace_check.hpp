// Does a trace that came from outside hold together? What reads one relies on it without asking again.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/graph/trace.hpp"

#include <string>

namespace sextant {

// Names, for each rule that is broken, the first place and how many more there are. Pointers are those of the columns: "/spans/cause".
void check_trace(const Trace&, const std::string& file, Diagnostics&);

}  // namespace sextant
