// Does a trace that came from outside hold together? What reads one relies on it without asking again.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/graph/trace.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace sextant {

// Names, for each rule that is broken, the first place and how many more there are. Pointers are those of the columns: "/spans/cause",
// or what `pointer_to` makes of them.
void check_trace(
    const Trace&, const std::string& file, Diagnostics&,
    const std::function<std::string(std::string_view)>& pointer_to = [](std::string_view column) { return std::string(column); });

}  // namespace sextant
