// What `--set PATH=VALUE` does to a document, whether it keeps the order of its keys or not.
#pragma once

#include "model/base/parse_number.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>
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

// Takes the first name off a dotted path.
inline std::string next_name(std::string_view& path) {
    const auto dot = path.find('.');
    std::string name(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
    return name;
}

template <class Json>
Json* element_of(Json& array, const std::string& name) {
    const auto index = parse_number<std::size_t>(name);
    return index && *index < array.size() ? &array[*index] : nullptr;
}

// What a scenario may give by its name alone, and the member of the object that then has the name.
struct NamedThing {
    std::string_view path, name_member;
};
inline constexpr NamedThing named_things[] = {
    {"workload", "model"}, {"hardware.cluster", "base"}, {"hardware.device", "base"}, {"framework", "base"}, {"plan.precision", "base"}};

// The object that takes the place of the scalar at `path`: of "gpt3-175b" as a workload {"model": "gpt3-175b"}, of anything else an empty
// one.
template <class Json>
Json object_in_place_of(const Json& scalar, std::string_view path) {
    Json object = Json::object();
    for (const NamedThing& thing : named_things)
        if (path == thing.path && scalar.is_string()) object[std::string(thing.name_member)] = scalar;
    return object;
}

// A network may be described in place, {"transformer": {"hidden": 1024}}, beside its name: "workload.hidden" is meant to be in there, as it
// is laid over a network that is named. Null where it is not so.
template <class Json>
Json* described_network(Json& object, std::string_view path, std::string_view member) {
    constexpr std::string_view kinds[] = {"transformer", "convolutional", "mlp", "chain", "graph"};
    constexpr std::string_view beside[] = {"model", "name", "title", "source"};
    using Words = std::span<const std::string_view>;
    if (path != "workload" || !object.is_object()) return nullptr;
    for (const Words own : {Words(kinds), Words(beside)})
        if (std::ranges::find(own, member) != own.end()) return nullptr;
    for (const std::string_view kind : kinds)
        if (const auto found = object.find(std::string(kind)); found != object.end()) return &*found;
    return nullptr;
}

// Replaces or adds the value at a dotted path ("plan.tp=8"); null takes a member away. Returns what is wrong with the assignment, empty
// when it was done.
template <class Json>
std::string assign(Json& document, std::string_view assignment) {
    const auto equals = assignment.find('=');
    if (equals == std::string_view::npos || equals == 0) return "expected PATH=VALUE";
    if (assignment[equals - 1] == '.') return "an empty name in the path";
    Json value = json_value<Json>(assignment.substr(equals + 1));
    Json* at = &document;
    const std::string_view whole = assignment.substr(0, equals);
    std::string_view path = whole;
    for (int depth = 0; !path.empty(); ++depth) {
        const std::string_view here = whole.substr(0, std::max(whole.size() - path.size(), std::size_t{1}) - 1);
        const std::string name = next_name(path);
        if (name.empty() || depth > most_json_levels) return "an empty name in the path";
        if (Json* const network = described_network(*at, here, name)) at = network;
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
        // A scalar on the way gives room to an object: beside "hardware.device=x" there may be "hardware.device.memory=80 GiB".
        if (!at->is_object()) *at = object_in_place_of(*at, here);
        at = &(*at)[name];
    }
    *at = std::move(value);
    return {};
}

}  // namespace sextant
