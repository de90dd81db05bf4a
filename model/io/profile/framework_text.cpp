#include "model/io/profile/framework_text.hpp"

#include "model/base/list_text.hpp"
#include "model/io/format/json_reader.hpp"
#include "model/io/format/text_table.hpp"
#include "model/io/profile/framework_reader.hpp"

#include <nlohmann/json.hpp>

#include <set>

namespace sextant {
namespace {

// "12 us", "yes", "a, b".
std::string value_text(const nlohmann::json& value) {
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    if (value.is_string()) return value.get<std::string>();
    return value.is_array() ? joined(value, value_text) : value.dump();
}

std::string paragraph_of(const nlohmann::json& document, const char* key, const std::string& title) {
    return document.contains(key) ? paragraph(title, value_text(document[key])) : "";
}

}  // namespace

std::string framework_to_text(const std::filesystem::path& file) {
    Diagnostics diagnostics;
    const JsonFile read = JsonFile::load(file, diagnostics);
    diagnostics.throw_if_any();
    read_framework(read.root());  // complains about what is wrong with it
    diagnostics.throw_if_any();
    const nlohmann::json& document = *read.root().value;
    static const std::set<std::string> apart{"schema", "name", "title", "aliases", "lacks", "notes", "source", "strategy_note", "kind"};
    TextTable table;
    SourceNotes sources;
    for (const auto& [key, node] : read.root().members()) {
        if (apart.contains(key)) continue;
        Provenance p;
        const JsonNode value = node.is_object() ? read_provenance(node, p) : node;
        table.row({words(key), value_text(*value.value), node.is_object() ? sources.note(p.kind, p.source) : ""});
    }
    return document["name"].get<std::string>() + ": " + document["title"].get<std::string>() + "\n" + table.text() +
           paragraph_of(document, "aliases", "Also called") + paragraph_of(document, "lacks", "Cannot do") +
           paragraph_of(document, "notes", "Notes") + "\n" + sources.text();
}

}  // namespace sextant
