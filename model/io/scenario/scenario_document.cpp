#include "model/io/scenario/scenario_document.hpp"

#include "model/base/spelling.hpp"
#include "model/io/format/json_assignment.hpp"
#include "model/io/format/json_text.hpp"
#include "model/io/format/text_file.hpp"

#include <algorithm>

namespace sextant {
namespace {

using Json = nlohmann::ordered_json;

Json parsed(const ScenarioDocument& d) {
    Json document = Json::parse(d.text, nullptr, false);
    for (const std::string& edit : d.edits) static_cast<void>(assign(document, edit));
    return document;
}

const Json* at(const Json& document, std::string_view path) {
    const Json* found = &document;
    const std::string_view whole = path;
    while (found && !path.empty()) {
        const std::string_view here = whole.substr(0, std::max(whole.size() - path.size(), std::size_t{1}) - 1);
        const std::string name = next_name(path);
        if (const Json* const network = described_network(*found, here, name)) found = network;
        if (found->is_array()) {
            found = element_of(*found, name);
        } else {
            const auto member = found->is_object() ? found->find(name) : found->end();
            found = found->is_object() && member != found->end() ? &*member : nullptr;
        }
    }
    return found && !found->is_null() ? found : nullptr;
}

std::string_view path_of(std::string_view edit) { return edit.substr(0, edit.find('=')); }

bool is_within(std::string_view path, std::string_view whole) {
    return path.starts_with(whole) && (path.size() == whole.size() || path[whole.size()] == '.');
}

// A value of the text that was read, as it stands there: numbers have their own spelling ("300e9"), lists their own lines.
struct Written {
    const Json* value = nullptr;
    std::string_view text;
};

// How far the value reaches that begins with this text: to a comma or a bracket that is not its own.
std::size_t length_of_value(std::string_view text) {
    int depth = 0;
    bool in_string = false;
    std::size_t i = 0;
    for (; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') ++i;
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if (c == '}' || c == ']') {
            if (depth-- == 0) break;
        } else if (c == ',' && depth == 0) {
            break;
        }
    }
    return i;
}

// The member of an object, which was parsed before: its members follow one another in the text as they do in the value.
Written member_of(const Written& object, const std::string& name) {
    if (!object.value || !object.value->is_object() || !object.value->contains(name)) return {};
    std::string_view rest = trimmed(object.text).substr(1);
    while (!rest.empty()) {
        rest = trimmed(rest);
        const std::size_t length = length_of_value(rest);
        const std::string_view member = rest.substr(0, length);
        const std::size_t key_end = [&] {
            std::size_t i = 1;
            while (i < member.size() && member[i] != '"') i += member[i] == '\\' ? 2 : 1;
            return i + 1;
        }();
        if (Json::parse(member.substr(0, key_end), nullptr, false) == name) {
            const std::size_t colon = member.find(':', key_end);
            return {&object.value->at(name), trimmed(member.substr(colon + 1))};
        }
        rest.remove_prefix(std::min(length + 1, rest.size()));
    }
    return {};
}

void write_in_line(const Json& value, const Written& was, std::string& out) {
    if (was.value && *was.value == value) {
        out += was.text;
        return;
    }
    if (!value.is_structured()) {
        out += value.dump();
        return;
    }
    const bool object = value.is_object();
    out += object ? '{' : '[';
    for (auto it = value.begin(); it != value.end(); ++it) {
        if (it != value.begin()) out += ", ";
        if (object) out += Json(it.key()).dump() + ": ";
        write_in_line(*it, object ? member_of(was, it.key()) : Written{}, out);
    }
    out += object ? '}' : ']';
}

}  // namespace

ScenarioDocument open_document(const std::filesystem::path& path) {
    Diagnostics diagnostics;
    std::optional<std::string> text = read_text_file(path, diagnostics);
    if (text) static_cast<void>(JsonFile::from_text(*text, path.string(), diagnostics));
    diagnostics.throw_if_any();
    return {path, std::move(*text), {}};
}

ScenarioDocument edited(const ScenarioDocument& before, std::string_view path, std::string_view value) {
    ScenarioDocument after = before;
    std::erase_if(after.edits, [&](const std::string& edit) { return is_within(path_of(edit), path); });
    after.edits.push_back(std::string(path) + "=" + std::string(value));
    // What leaves the document as its author wrote it is no edit.
    ScenarioDocument without = after;
    without.edits.pop_back();
    if (text_of(after) == text_of(without)) return without;
    return after;
}

std::optional<std::string> stated_at(const ScenarioDocument& d, std::string_view path) {
    const Json document = parsed(d);
    const Json* found = at(document, path);
    if (!found) return std::nullopt;
    return found->is_string() ? found->get<std::string>() : found->dump(-1, ' ', false, Json::error_handler_t::replace);
}

JsonFile as_json(const ScenarioDocument& d, Diagnostics& diagnostics) {
    if (!d.file.empty()) diagnostics.opened(d.file);
    JsonFile file = JsonFile::from_text(d.text, d.file.string(), diagnostics);
    for (const std::string& edit : d.edits) file.set(edit);
    return file;
}

std::string text_of(const ScenarioDocument& d) {
    if (d.edits.empty()) return d.text;
    const Json document = parsed(d);
    if (!document.is_object()) return json_document(document);
    const Json before = Json::parse(d.text, nullptr, false);
    if (document == before) return d.text;
    std::string out = "{\n";
    for (auto it = document.begin(); it != document.end(); ++it) {
        out += (it == document.begin() ? "  " : ",\n  ") + Json(it.key()).dump() + ": ";
        write_in_line(*it, member_of({&before, d.text}, it.key()), out);
    }
    return out + "\n}\n";
}

std::optional<ScenarioTitle> title_of(const std::filesystem::path& path) {
    Diagnostics unused;
    const JsonFile file = JsonFile::load(path, unused);
    ScenarioTitle title{path, {}, {}};
    const JsonNode root = file.root(), name = root.child("name"), description = root.child("description");
    if (!name.value || !read_value(name, title.name)) return std::nullopt;
    if (description.value) read_value(description, title.description);
    return title;
}

}  // namespace sextant
