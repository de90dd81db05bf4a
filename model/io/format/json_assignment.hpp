// What `--set PATH=VALUE` does to a document, whether it keeps the order of its keys or not.
#pragma once

#include <nlohmann/json.hpp>

#include <charconv>
#include <string>
#include <string_view>

namespace sextant {

inline constexpr int most_json_levels = 200;  // deeper nesting is an attack or an accident, and recursion over it must stay safe

// The value that the text of an assignment means: text that is no JSON is taken as a string.
template <class Json>
Json json_value(std::string_view text) {
    Json value = Json::parse(text, nullptr, false);
    return value.is_discarded() ? Json(text) : value;
}

// The first name of a dotted path, which is shortened by it.
inline std::string next_name(std::string_view& path) {
    const auto dot = path.find('.');
    std::string name(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
    return name;
}

template <class Json>
Json* element_of(Json& array, const std::string& name) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
    const bool is_there = error == std::errc{} && end == name.data() + name.size() && index < array.size();
    return is_there ? &array[index] : nullptr;
}

// Replaces or adds the value at a dotted path ("plan.tp=8"); null takes a member away. Returns what is wrong with the assignment, empty
// when it was done.
template <class Json>
std::string assign(Json& document, std::string_view assignment) {
    const auto equals = assignment.find('=');
    if (equals == std::string_view::npos || equals == 0) return "expected PATH=VALUE";
    Json value = json_value<Json>(assignment.substr(equals + 1));
    Json* at = &document;
    std::string_view path = assignment.substr(0, equals);
    for (int depth = 0; !path.empty(); ++depth) {
        const std::string name = next_name(path);
        if (name.empty() || depth > most_json_levels) return "an empty name in the path";
        if (at->is_array()) {
            Json* const element = element_of(*at, name);
            if (!element) return "\"" + name + "\" is not an index of this array of " + std::to_string(at->size());
            at = element;
            continue;
        }
        if (value.is_null()) {
            if (!at->is_object() || !at->contains(name)) return {};
            if (path.empty()) return at->erase(name), std::string();
        }
        // A scalar on the way gives room to an object: "hardware.device=x" may become "hardware.device.memory=80 GiB".
        if (!at->is_object()) *at = Json::object();
        at = &(*at)[name];
    }
    *at = std::move(value);
    return {};
}

}  // namespace sextant
