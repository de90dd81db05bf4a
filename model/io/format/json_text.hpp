// JSON as text. Names come from files, hosts and command lines: bytes of theirs that are no UTF-8 are replaced, and stop nothing.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace sextant {

// A document of lines, the last one ended.
std::string json_document(const nlohmann::ordered_json&, int indent = 2);
// A document in which what has room on a line stands on one.
std::string json_lines(const nlohmann::ordered_json&, std::size_t width);
// A string, in quotes: so "16" stays a text.
std::string json_text(std::string_view);

}  // namespace sextant
