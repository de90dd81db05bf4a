// Enumerators by the names that to_text() gives them, from a list such as enumerators() makes (enum_array.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace sextant {

template <class Enum, std::size_t count>
std::optional<Enum> enumerator_named(std::string_view name, const std::array<Enum, count>& all) {
    const auto* const found = std::ranges::find(all, name, [](Enum e) { return to_text(e); });
    return found == all.end() ? std::nullopt : std::optional(*found);
}

template <class Enum, std::size_t count>
std::vector<std::string_view> enumerator_names(const std::array<Enum, count>& all) {
    std::vector<std::string_view> names;
    names.reserve(count);
    for (const Enum e : all) names.push_back(to_text(e));
    return names;
}

}  // namespace sextant
