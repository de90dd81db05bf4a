// Documents as they are parsed, and the places of the values in them.
#include "model/base/spelling.hpp"
#include "model/io/format/json_assignment.hpp"
#include "model/io/format/json_reader.hpp"
#include "model/io/format/text_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace sextant {
namespace {

constexpr int max_depth = most_json_levels;

std::string escape_pointer_token(std::string_view key) {
    std::string out;
    for (const char c : key) {
        if (c == '~')
            out += "~0";
        else if (c == '/')
            out += "~1";
        else
            out += c;
    }
    return out;
}

// What is wrong with a text: that it is no JSON, and what the parser would let pass: more levels than a stack holds, and a key that stands
// twice in one object, of which it keeps the last. Only once this is known is the text parsed: the parser can be watched while it builds
// the document, but then it looks through all elements of a list at the end of each object in it.
class StructureCheck : public nlohmann::json_sax<nlohmann::json> {
public:
    bool null() override { return element(); }
    bool boolean(bool /*value*/) override { return element(); }
    bool number_integer(number_integer_t /*value*/) override { return element(); }
    bool number_unsigned(number_unsigned_t /*value*/) override { return element(); }
    bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return element(); }
    bool string(string_t& /*value*/) override { return element(); }
    bool binary(binary_t& /*value*/) override { return element(); }
    bool start_object(std::size_t /*elements*/) override { return open(); }
    bool start_array(std::size_t /*elements*/) override { return open(); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& key) override {
        Level& object = levels_.back();
        object.key = key;
        if (!object.keys.insert(key).second) repeated_.push_back(pointer());
        return true;
    }
    bool parse_error(std::size_t /*byte*/, const std::string& /*token*/, const nlohmann::json::exception& e) override {
        error_ = e.what();  // "[json.exception.parse_error.101] parse error at line 3, column 5: ..."
        if (const auto bracket = error_.find("] "); bracket != std::string::npos) error_ = error_.substr(bracket + 2);
        error_ = "not valid JSON: " + error_;
        return false;
    }

    // Empty where the text can be parsed.
    [[nodiscard]] const std::string& error() const { return error_; }
    [[nodiscard]] const std::vector<std::string>& repeated() const { return repeated_; }

private:
    struct Level {  // an object or an array that is open
        std::set<std::string> keys;
        std::string key;
        std::size_t elements = 0;
    };
    bool element() {
        if (!levels_.empty()) ++levels_.back().elements;
        return true;
    }
    bool open() {
        element();
        levels_.emplace_back();
        if (static_cast<int>(levels_.size()) <= max_depth) return true;
        error_ = "nested deeper than " + std::to_string(max_depth) + " levels";
        return false;
    }
    bool close() {
        levels_.pop_back();
        return true;
    }
    [[nodiscard]] std::string pointer() const {
        std::string text;
        for (const Level& l : levels_) text += '/' + (l.keys.empty() ? std::to_string(l.elements - 1) : escape_pointer_token(l.key));
        return text;
    }
    std::vector<Level> levels_;
    std::vector<std::string> repeated_;
    std::string error_;
};

// What is parsed is; what comes from a command line need not be, and no JSON could be written of it.
bool is_utf8(std::string_view text) {
    try {
        static_cast<void>(nlohmann::json(text).dump());
        return true;
    } catch (const nlohmann::json::type_error&) {
        return false;
    }
}

}  // namespace

void JsonNode::complain(std::string what, std::string hint) const { diagnostics->add({*file, pointer, std::move(what), std::move(hint)}); }
bool JsonNode::is_object() const { return value && value->is_object(); }
bool JsonNode::is_array() const { return value && value->is_array(); }
bool JsonNode::is_string() const { return value && value->is_string(); }
bool JsonNode::is_number() const { return value && value->is_number(); }

JsonNode JsonNode::child(std::string_view key) const {
    JsonNode n{nullptr, file, pointer + "/" + escape_pointer_token(key), diagnostics};
    if (!is_object()) return n;
    const auto it = value->find(std::string(key));
    if (it != value->end()) n.value = &*it;
    return n;
}

std::vector<JsonNode> JsonNode::elements() const {
    std::vector<JsonNode> out;
    if (!is_array()) return out;
    out.reserve(value->size());
    for (std::size_t i = 0; i < value->size(); ++i) out.push_back({&(*value)[i], file, pointer + "/" + std::to_string(i), diagnostics});
    return out;
}

std::vector<std::pair<std::string, JsonNode>> JsonNode::members() const {
    std::vector<std::pair<std::string, JsonNode>> out;
    if (!is_object()) return out;
    for (auto it = value->begin(); it != value->end(); ++it) out.emplace_back(it.key(), child(it.key()));
    return out;
}

JsonFile::JsonFile(std::string name, Diagnostics& diagnostics)
    : document_(std::make_unique<nlohmann::json>()), name_(std::make_unique<std::string>(std::move(name))), diagnostics_(&diagnostics) {}
JsonFile::JsonFile(JsonFile&&) noexcept = default;
JsonFile& JsonFile::operator=(JsonFile&&) noexcept = default;
JsonFile::~JsonFile() = default;

JsonFile JsonFile::load(const std::filesystem::path& path, Diagnostics& diagnostics) {
    if (const auto text = read_text_file(path, diagnostics)) return from_text(*text, path.string(), diagnostics);
    JsonFile file(path.string(), diagnostics);
    file.document_.reset();
    return file;
}

JsonFile JsonFile::from_text(std::string_view text, std::string name, Diagnostics& diagnostics) {
    JsonFile file(std::move(name), diagnostics);
    if (text.find('\0') != std::string_view::npos) {  // where the parser would stop
        diagnostics.add({*file.name_, "", "not valid JSON: a byte of zero", {}});
        file.document_.reset();
        return file;
    }
    StructureCheck check;
    if (!nlohmann::json::sax_parse(text.begin(), text.end(), &check)) {
        diagnostics.add({*file.name_, "", check.error(), {}});
        file.document_.reset();
        return file;
    }
    *file.document_ = nlohmann::json::parse(text.begin(), text.end());
    for (const std::string& pointer : check.repeated()) diagnostics.add({*file.name_, pointer, "stands twice", "one of them"});
    return file;
}

JsonNode JsonFile::root() const { return {document_.get(), name_.get(), "", diagnostics_}; }

void JsonFile::set(std::string_view assignment) {
    if (!document_) return;
    if (!is_utf8(assignment))
        return diagnostics_->add({"--set", "", "an assignment is no text in UTF-8", "letters as a terminal sends them"});
    // As strict with a structure as with a file; any other text is a text.
    const std::string_view value = assignment.substr(std::min(assignment.find('='), assignment.size() - 1) + 1);
    if (const std::string_view text = trimmed(value); text.starts_with('{') || text.starts_with('['))
        if (!JsonFile::from_text(value, "--set " + std::string(assignment), *diagnostics_).root().value) return;
    if (std::string wrong = assign(*document_, assignment); !wrong.empty())
        diagnostics_->add(
            {"--set " + std::string(assignment), "", std::move(wrong), "as in --set plan.tp=8 or --set 'hardware.device.memory=40 GiB'"});
}

}  // namespace sextant
