// Reads what validation_json writes, as far as another validation is held against it.
#pragma once

#include "model/report/validation.hpp"

#include <filesystem>

namespace sextant {

// Rows with what was measured and predicted of them; nothing of what they are averaged with or grouped by. Throws InputError with
// everything that is wrong with the file.
Validation load_validation(const std::filesystem::path&);

}  // namespace sextant
