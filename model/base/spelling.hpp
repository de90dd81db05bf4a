// What a mistyped name may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// Up to `limit` of the names, nearest first: those within a quarter of the word's length of edits (Levenshtein), then those that
// contain the word or are contained in it, then those within half its length. Case does not matter. Ties keep the order of `names`.
std::vector<std::string> nearest_names(std::string_view word, const std::vector<std::string_view>& names, std::size_t limit = 1);

}  // namespace sextant
