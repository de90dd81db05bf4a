// What the pages that are written here have in common: one file each, without scripts or anything beside it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sextant::html {

// `style`: rules that only this page needs.
std::string page(std::string_view title, std::string_view style, std::string_view body);

// Rows of a table; the first is its heading.
using Rows = std::vector<std::vector<std::string>>;

// As wide as it needs to be: the page scrolls beneath it. The texts are escaped; `attributes` as they are.
std::string table(const Rows&, std::string_view attributes = {});
// The same of rows that are written already.
std::string table_of(std::string_view rows, std::string_view attributes = {});
// A row of it, of cells "td" or "th".
std::string row(std::string_view tag, const std::vector<std::string>& texts);

}  // namespace sextant::html
