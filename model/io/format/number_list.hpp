// Several numbers in the words of an option or a field: "8,16,64", "8..64".
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sextant {

// "8,16,64" means these numbers; "8..64" begins with the first and doubles it each time, or goes on in steps of `step`. Throws InputError
// naming `option`.
std::vector<int> numbers_in(const std::string& text, const std::string& option, std::optional<int> step = {});

}  // namespace sextant
