#include "model/io/format/json_text.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

template <class Json>
std::string dumped(const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string json_document(const nlohmann::ordered_json& json, int indent) { return dumped(json, indent) + "\n"; }
std::string json_text(std::string_view text) { return dumped(nlohmann::json(text), -1); }

}  // namespace sextant
