// Members of a JSON object, or nothing where it has none of that type. Internal to the reader of traces of torch.profiler.
#pragma once

#include "model/base/spelling.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace sextant::profiler {

inline std::string text_of(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? printable(found->get<std::string>()) : std::string();
}
inline bool is_number(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number();
}
inline double number_of(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>() : 0;
}
inline std::int64_t whole_of(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}
inline const nlohmann::json& object_of(const nlohmann::json& object, const char* key) {
    static const nlohmann::json none = nlohmann::json::object();
    const auto found = object.find(key);
    return found != object.end() && found->is_object() ? *found : none;
}

}  // namespace sextant::profiler
