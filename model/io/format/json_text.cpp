#include "model/io/format/json_text.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

template <class AnyJson>
std::string dumped(const AnyJson& json, int indent) {
    return json.dump(indent, ' ', false, AnyJson::error_handler_t::replace);
}

// What stands between the brackets of an array or object: its elements, each behind its key.
std::vector<std::string> elements_of(const Json& json, const auto& text_of) {
    std::vector<std::string> texts;
    for (const auto& [key, value] : json.items()) texts.push_back((json.is_object() ? json_text(key) + ": " : "") + text_of(value));
    return texts;
}

std::string bracketed(const Json& json, const std::vector<std::string>& elements, const std::string& begin, const std::string& end) {
    std::string text(1, json.is_object() ? '{' : '[');
    for (std::size_t i = 0; i < elements.size(); ++i) text += (i == 0 ? "" : begin.empty() ? ", " : ",") + begin + elements[i];
    return text + end + (json.is_object() ? '}' : ']');
}

std::string on_one_line(const Json& json) {
    return json.is_structured() ? bracketed(json, elements_of(json, on_one_line), "", "") : dumped(json, -1);
}

std::string on_lines(const Json& json, std::size_t indent, std::size_t width) {
    std::string line = on_one_line(json);
    if (!json.is_structured() || json.empty() || indent + line.size() <= width) return line;
    const auto inside = [&](const Json& value) { return on_lines(value, indent + 2, width); };
    return bracketed(json, elements_of(json, inside), '\n' + std::string(indent + 2, ' '), '\n' + std::string(indent, ' '));
}

}  // namespace

std::string json_document(const Json& json, int indent) { return dumped(json, indent) + "\n"; }
std::string json_lines(const Json& json, std::size_t width) { return on_lines(json, 0, width) + "\n"; }
std::string json_text(std::string_view text) { return dumped(nlohmann::json(text), -1); }

}  // namespace sextant
