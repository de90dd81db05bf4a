#include "model/io/scenario_document.hpp"

#include "model/io/json_assignment.hpp"

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
    while (found && !path.empty()) {
        const std::string name = next_name(path);
        if (found->is_array()) {
            found = element_of(*found, name);
        } else {
            const auto member = found->is_object() ? found->find(name) : found->end();
            found = found->is_object() && member != found->end() ? &*member : nullptr;
        }
    }
    return found && !found->is_null() ? found : nullptr;
}

// What may be given by its name alone, and the member of the object that then has the name.
struct NamedThing {
    std::string_view path, name_member;
};
constexpr NamedThing named_things[] = {
    {"workload", "model"}, {"hardware.device", "base"}, {"framework", "base"}, {"plan.precision", "base"}};

std::string_view path_of(std::string_view edit) { return edit.substr(0, edit.find('=')); }

bool is_within(std::string_view path, std::string_view whole) {
    return path.starts_with(whole) && (path.size() == whole.size() || path[whole.size()] == '.');
}

void write_in_line(const Json& value, std::string& out) {
    if (!value.is_structured()) {
        out += value.dump();
        return;
    }
    const bool object = value.is_object();
    out += object ? '{' : '[';
    for (auto it = value.begin(); it != value.end(); ++it) {
        if (it != value.begin()) out += ", ";
        if (object) out += Json(it.key()).dump() + ": ";
        write_in_line(*it, out);
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
    for (const NamedThing& thing : named_things) {
        if (path == thing.path || !is_within(path, thing.path)) continue;
        const Json document = parsed(after);
        if (const Json* name = at(document, thing.path); name && name->is_string())
            after.edits.push_back(std::string(thing.path) + "=" + Json({{thing.name_member, *name}}).dump());
    }
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
    return found->is_string() ? found->get<std::string>() : found->dump();
}

JsonFile as_json(const ScenarioDocument& d, Diagnostics& diagnostics) {
    JsonFile file = JsonFile::from_text(d.text, d.file.string(), diagnostics);
    for (const std::string& edit : d.edits) file.set(edit);
    return file;
}

std::string text_of(const ScenarioDocument& d) {
    if (d.edits.empty()) return d.text;
    const Json document = parsed(d);
    if (!document.is_object()) return document.dump(2) + "\n";
    std::string out = "{\n";
    for (auto it = document.begin(); it != document.end(); ++it) {
        out += (it == document.begin() ? "  " : ",\n  ") + Json(it.key()).dump() + ": ";
        write_in_line(*it, out);
    }
    return out + "\n}\n";
}

std::string json_text(std::string_view text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

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
