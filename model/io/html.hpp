// What the pages that are written here have in common: one file each, without scripts or anything beside it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sextant::html {

// `style`: rules that only this page needs.
std::string page(std::string_view title, std::string_view style, std::string_view body);

// A row of a table, of cells "td" or "th"; the texts are escaped.
std::string row(std::string_view tag, const std::vector<std::string>& texts);

}  // namespace sextant::html
