// A scenario as its author wrote it, with what was changed since: what an editor holds, shows and saves.
//
//     ScenarioDocument d = open_document("scenarios/default.json");
//     d = edited(d, "plan.tp", "8");
//     replace_text_file(d.file, text_of(d));
#pragma once

#include "model/io/format/json_reader.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

struct ScenarioDocument {
    std::filesystem::path file;      // files that it names are looked up beside it
    std::string text;                // as it was read
    std::vector<std::string> edits;  // "plan.tp=8", in the words of --set

    friend bool operator==(const ScenarioDocument&, const ScenarioDocument&) = default;
};

// Throws InputError when there is no such file, or no JSON in it.
ScenarioDocument open_document(const std::filesystem::path&);

// With one more edit, in place of earlier ones of the same field. `value` is JSON, and a text if it is none; "null" takes the field away,
// so that what is assumed without it holds. A field of something that is given by its name ("framework": "megatron-core") is laid over
// that.
ScenarioDocument edited(const ScenarioDocument&, std::string_view path, std::string_view value);

// What the document states at a dotted path, with its edits: texts as they are, everything else as JSON. None where nothing is stated.
std::optional<std::string> stated_at(const ScenarioDocument&, std::string_view path);

// With its edits: to be read, and to be saved. Saved, each member of the document has a line, in the order in which they were.
JsonFile as_json(const ScenarioDocument&, Diagnostics&);
std::string text_of(const ScenarioDocument&);

// What a list of scenarios says of one.
struct ScenarioTitle {
    std::filesystem::path file;
    std::string name, description;
};
// None where the file cannot be read or is no scenario.
std::optional<ScenarioTitle> title_of(const std::filesystem::path&);

}  // namespace sextant
