// Who may include whom.
#pragma once

#include "tests/architecture/source_files.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// A part of the program: "base" for model/base/, "facade" for model/sextant.*, "cli" for cli/ and so on.
// A part may always include itself.
struct IncludeRow {
    std::string_view part;
    std::set<std::string_view> may_include;
    std::string_view reason;
};
const std::vector<IncludeRow>& include_table();

// Libraries that only some parts may see: an angle-bracket include that begins with `prefix` belongs to these parts alone.
struct LibraryRow {
    std::string_view prefix;
    std::set<std::string_view> parts;
    std::string_view reason;
};
const std::vector<LibraryRow>& library_table();

// What the file includes and must not, one sentence each.
std::vector<std::string> forbidden_includes(const SourceFile&);

}  // namespace sextant
