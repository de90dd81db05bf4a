#include "model/io/format/json_reader.hpp"

#include "model/base/spelling.hpp"
#include "model/io/format/json_assignment.hpp"
#include "model/io/format/text_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

namespace sextant {
namespace {

constexpr std::uintmax_t max_file_bytes = 256u << 20;
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

// What the parser lets pass: more levels than a stack holds, and a key that stands twice in one object, of which it keeps the last.
class StructureWatch {
public:
    // Whether to go on.
    bool see(nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
        using Event = nlohmann::json::parse_event_t;
        if (event == Event::key) {
            Level& object = levels_.back();
            object.key = parsed.get<std::string>();
            if (!object.keys.insert(object.key).second) repeated_.push_back(pointer());
            return true;
        }
        if (event == Event::object_end || event == Event::array_end) {
            levels_.pop_back();
            return true;
        }
        if (!levels_.empty()) ++levels_.back().elements;
        if (event != Event::value) levels_.emplace_back();
        return static_cast<int>(levels_.size()) <= max_depth;
    }
    [[nodiscard]] bool too_deep() const { return static_cast<int>(levels_.size()) > max_depth; }
    [[nodiscard]] const std::vector<std::string>& repeated() const { return repeated_; }

private:
    struct Level {  // an object or an array that is open
        std::set<std::string> keys;
        std::string key;
        std::size_t elements = 0;
    };
    [[nodiscard]] std::string pointer() const {
        std::string text;
        for (const Level& l : levels_) text += '/' + (l.keys.empty() ? std::to_string(l.elements - 1) : escape_pointer_token(l.key));
        return text;
    }
    std::vector<Level> levels_;
    std::vector<std::string> repeated_;
};

template <class Names>
std::string nearest(std::string_view word, const Names& names) {
    const auto found = nearest_names(word, std::vector<std::string_view>(names.begin(), names.end()));
    return found.empty() ? std::string() : found.front();
}

template <class Names>
std::string list_of(const Names& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : ", ") + std::string(name);
    return text;
}

std::string type_of(const JsonNode& n) { return n.value->is_number() ? "a number" : "a JSON " + std::string(n.value->type_name()); }

std::string in_quotes(const std::string& text) { return '"' + (text.size() > 80 ? text.substr(0, 77) + "..." : text) + '"'; }

bool check_bounds(const JsonNode& n, double value, Bounds bounds, const std::string& shown,
                  const std::function<std::string(double)>& show) {
    if (!std::isfinite(value)) {
        n.complain(shown + " is not a finite number");
        return false;
    }
    if (value < bounds.low) {
        const bool must_be_positive = bounds.low == std::numeric_limits<double>::min();
        n.complain(shown + (must_be_positive ? " must be greater than zero" : " must be at least " + show(bounds.low)));
        return false;
    }
    if (value > bounds.high) {
        n.complain(shown + " must be at most " + show(bounds.high));
        return false;
    }
    return true;
}

bool read_integer(const JsonNode& n, std::int64_t& out, Bounds bounds) {
    if (!n.value->is_number()) {
        n.complain("expected a whole number, found " + type_of(n));
        return false;
    }
    const double value = n.value->get<double>();
    const auto show = [](double x) { return number_text(x, 1); };  // all digits before the point, none after it
    if (!check_bounds(n, value, bounds, n.value->dump(), show)) return false;
    if (value != std::floor(value) || std::fabs(value) > 0x1p53) {
        n.complain(n.value->dump() + " is not a whole number");
        return false;
    }
    out = static_cast<std::int64_t>(value);
    return true;
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

std::optional<std::string> read_text_file(const std::filesystem::path& path, Diagnostics& diagnostics) {
    std::error_code error;
    const auto fail = [&](std::string what, std::string hint = {}) {
        diagnostics.add({path.string(), "", std::move(what), std::move(hint)});
        return std::nullopt;
    };
    if (std::filesystem::is_directory(path, error)) return fail("is a directory, not a JSON file");
    if (!check_regular_file(path, diagnostics)) return std::nullopt;
    if (std::filesystem::file_size(path, error) > max_file_bytes || error) return fail("larger than 256 MiB: not one of our files");
    diagnostics.opened(path);
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) return fail("cannot be read");
    return std::move(text).str();
}

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
    StructureWatch watch;
    const auto see = [&](int, nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
        return !watch.too_deep() && watch.see(event, parsed);
    };
    try {
        *file.document_ = nlohmann::json::parse(text.begin(), text.end(), see);
    } catch (const nlohmann::json::exception& e) {
        std::string what = e.what();  // "[json.exception.parse_error.101] parse error at line 3, column 5: ..."
        if (const auto bracket = what.find("] "); bracket != std::string::npos) what = what.substr(bracket + 2);
        diagnostics.add({*file.name_, "", "not valid JSON: " + what, {}});
        file.document_.reset();
        return file;
    }
    if (watch.too_deep()) {
        diagnostics.add({*file.name_, "", "nested deeper than " + std::to_string(max_depth) + " levels", {}});
        file.document_.reset();
    }
    for (const std::string& pointer : watch.repeated()) diagnostics.add({*file.name_, pointer, "stands twice", "one of them"});
    return file;
}

JsonNode JsonFile::root() const { return {document_.get(), name_.get(), "", diagnostics_}; }

// What is parsed is; what comes from a command line need not be, and no JSON could be written of it.
bool is_utf8(std::string_view text) {
    try {
        static_cast<void>(nlohmann::json(text).dump());
        return true;
    } catch (const nlohmann::json::type_error&) {
        return false;
    }
}

void JsonFile::set(std::string_view assignment) {
    if (!document_) return;
    if (!is_utf8(assignment))
        return diagnostics_->add({"--set", "", "an assignment is no text in UTF-8", "letters as a terminal sends them"});
    // As strict with a structure as with a file; any other text is a text.
    const std::string_view value = assignment.substr(std::min(assignment.find('='), assignment.size() - 1) + 1);
    const auto first = value.find_first_not_of(" \t\n");
    if (first != std::string_view::npos && (value[first] == '{' || value[first] == '['))
        if (!JsonFile::from_text(value, "--set " + std::string(assignment), *diagnostics_).root().value) return;
    if (std::string wrong = assign(*document_, assignment); !wrong.empty())
        diagnostics_->add(
            {"--set " + std::string(assignment), "", std::move(wrong), "as in --set plan.tp=8 or --set 'hardware.device.memory=40 GiB'"});
}

bool read_value(const JsonNode& n, bool& out) {
    if (!n.value->is_boolean()) {
        n.complain("expected true or false, found " + type_of(n));
        return false;
    }
    out = n.value->get<bool>();
    return true;
}

bool read_value(const JsonNode& n, std::string& out) {
    if (!n.value->is_string()) {
        n.complain("expected a text, found " + type_of(n));
        return false;
    }
    const std::string& text = n.value->get_ref<const std::string&>();
    if (printable(text) != text) {
        n.complain("a text with control characters", "letters, digits and signs; what colours a terminal belongs into no file");
        return false;
    }
    out = text;
    return true;
}

bool read_value(const JsonNode& n, double& out, Bounds bounds) {
    if (!n.value->is_number()) {
        n.complain("expected a number, found " + type_of(n));
        return false;
    }
    const double value = n.value->get<double>();
    if (!check_bounds(n, value, bounds, n.value->dump(), [](double x) { return number_text(x, 6); })) return false;
    out = value;
    return true;
}

bool read_value(const JsonNode& n, int& out, Bounds bounds) {
    std::int64_t wide = 0;
    bounds.high = std::min(bounds.high, 2147483647.0);
    bounds.low = std::max(bounds.low, -2147483648.0);
    if (!read_integer(n, wide, bounds)) return false;
    out = static_cast<int>(wide);
    return true;
}

bool read_value(const JsonNode& n, std::int64_t& out, Bounds bounds) { return read_integer(n, out, bounds); }

bool read_value(const JsonNode& n, DataType& out) {
    std::string text;
    if (!read_value(n, text)) return false;
    if (const auto type = parse_data_type(text)) {
        out = *type;
        return true;
    }
    std::vector<std::string_view> known;
    for (const DataType t : all_data_types()) known.push_back(to_text(t));
    complain_about_word(n, text, known);
    return false;
}

bool read_value(const JsonNode& n, std::vector<std::string>& out) {
    if (!n.is_array()) {
        n.complain("expected a list of texts, found " + type_of(n));
        return false;
    }
    bool ok = true;
    for (const JsonNode& e : n.elements()) {
        std::string text;
        ok = read_value(e, text) && ok;
        out.push_back(std::move(text));
    }
    return ok;
}

bool read_quantity(const JsonNode& n, const UnitTable& table, Bounds bounds, double& si) {
    const std::string example = "\"" + std::string(table.example) + "\"";
    if (n.value->is_number()) {
        n.complain("unit missing: a " + std::string(table.dimension) + " is written as a text with its unit", "as in " + example);
        return false;
    }
    if (!n.value->is_string()) {
        n.complain("expected a " + std::string(table.dimension) + ", found " + type_of(n), "as in " + example);
        return false;
    }
    const std::string text = n.value->get<std::string>();
    const ParsedQuantity parsed = parse_quantity(text.size() > 200 ? text.substr(0, 200) : text, table);
    if (!parsed.si) {
        n.complain(parsed.error);
        return false;
    }
    if (!check_bounds(n, *parsed.si, bounds, in_quotes(text), [&](double x) { return format_quantity(x, table); })) return false;
    si = *parsed.si;
    return true;
}

JsonNode read_provenance(const JsonNode& n, Provenance& into) {
    if (!n.is_object()) return n;
    ObjectReader r(n);
    r.word("kind", into.kind, source_kind_words);
    r.optional("source", into.source);
    return r.need("value", "a number with its source is {\"value\": ..., \"kind\": ..., \"source\": ...}");
}

std::string one_of(const std::vector<std::string_view>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) text.append(i == 0 ? "" : i + 1 == words.size() ? " or " : ", ").append(words[i]);
    return text;
}

void complain_about_word(const JsonNode& n, const std::string& found, const std::vector<std::string_view>& known) {
    complain_unknown(n, found, hint_for(found, known));
}

void complain_unknown(const JsonNode& n, const std::string& found, std::string hint) {
    n.complain(in_quotes(found) + " is not known here", std::move(hint));
}

ObjectReader::ObjectReader(JsonNode n) : node_(std::move(n)) {
    if (node_.value && !node_.is_object()) {
        node_.complain("expected an object, found " + type_of(node_));
        node_.value = nullptr;
    }
}

ObjectReader::~ObjectReader() {
    if (!node_.value) return;
    for (auto it = node_.value->begin(); it != node_.value->end(); ++it) {
        if (known_.contains(it.key())) continue;
        const std::string near = nearest(it.key(), known_);
        node_.child(it.key()).complain("unknown key " + in_quotes(it.key()),
                                       near.empty() ? "known here: " + list_of(known_) : "did you mean \"" + near + "\"?");
    }
}

bool ObjectReader::has(std::string_view key) { return get(key).value != nullptr; }

void ObjectReader::ignore_others() {
    for (const auto& [key, value] : node_.members()) known_.emplace(key);
}

JsonNode ObjectReader::get(std::string_view key) {
    known_.emplace(key);
    JsonNode n = node_.child(key);
    if (n.value && n.value->is_null()) n.value = nullptr;
    return n;
}

JsonNode ObjectReader::need(std::string_view key, std::string_view hint) {
    JsonNode n = get(key);
    if (!n.value && node_.value) node_.complain("\"" + std::string(key) + "\" is missing", std::string(hint));
    return n;
}

void ObjectReader::each(std::string_view key, const std::function<void(const JsonNode&)>& visit) {
    const JsonNode n = get(key);
    if (!n.value) return;
    if (!n.is_array()) {
        n.complain("expected a list, found " + type_of(n));
        return;
    }
    for (const JsonNode& e : n.elements()) visit(e);
}

bool ObjectReader::schema(std::string_view expected) {
    std::string found;
    if (!required("schema", found)) return false;
    if (found == expected) return true;
    get("schema").complain(in_quotes(found) + " is not the schema expected here", "expected \"" + std::string(expected) + "\"");
    return false;
}

}  // namespace sextant
