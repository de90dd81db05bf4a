// Lists as people read them: "tp, pp, dp".
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sextant {

// An item behind those that the list has already.
inline void append_to_list(std::string& list, std::string_view item, std::string_view separator = ", ") {
    if (!list.empty()) list += separator;
    list += item;
}

// All items, each as `text_of` has it.
template <class Items, class TextOf = std::identity>
std::string joined(const Items& items, const TextOf& text_of = {}, std::string_view separator = ", ") {
    std::string list;
    for (const auto& item : items) append_to_list(list, std::invoke(text_of, item), separator);
    return list;
}

}  // namespace sextant
