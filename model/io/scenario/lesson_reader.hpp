// Lessons from JSON ("lesson/1", described in lessons/README.md).
#pragma once

#include "model/io/format/json_reader.hpp"
#include "model/report/lesson.hpp"

namespace sextant {

// None after a Diagnostic.
std::optional<Lesson> load_lesson(const std::filesystem::path&, Diagnostics&);

}  // namespace sextant
