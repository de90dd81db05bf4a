// What a source means by its own words.
#pragma once

#include "model/base/spelling.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

namespace sextant {

// The meaning of the first word of the table that the text mentions; null where it mentions none.
template <class T, std::size_t N>
const T* mentioned_word(std::string_view text, const std::pair<std::string_view, T> (&table)[N]) {
    for (const auto& [word, meaning] : table)
        if (mentions(text, word)) return &meaning;
    return nullptr;
}

}  // namespace sextant
