#include "model/io/format/json_reader.hpp"

#include "model/base/enum_names.hpp"
#include "model/base/list_text.hpp"
#include "model/base/spelling.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

std::string in_quotes(const std::string& text) { return '"' + (text.size() > 80 ? text.substr(0, 77) + "..." : text) + '"'; }

// What stands there, or of what kind it is where it may be long.
std::string found_at(const JsonNode& n) {
    if (n.is_string()) return in_quotes(n.value->get_ref<const std::string&>());
    if (n.value->is_boolean()) return n.value->dump();
    return n.value->is_number() ? "a number" : "a JSON " + std::string(n.value->type_name());
}

// Complains, and says that nothing was read.
bool refuse(const JsonNode& n, std::string what, std::string hint = {}) {
    n.complain(std::move(what), std::move(hint));
    return false;
}
bool refuse_type(const JsonNode& n, std::string_view expected) {
    complain_about_type(n, expected);
    return false;
}

bool check_bounds(const JsonNode& n, double value, Bounds bounds, const std::string& shown,
                  const std::function<std::string(double)>& show) {
    if (!std::isfinite(value)) return refuse(n, shown + " is not a finite number");
    const bool must_be_positive = bounds.low == std::numeric_limits<double>::min();
    if (value < bounds.low)
        return refuse(n, shown + (must_be_positive ? " must be greater than zero" : " must be at least " + show(bounds.low)));
    if (value > bounds.high) return refuse(n, shown + " must be at most " + show(bounds.high));
    return true;
}

bool read_integer(const JsonNode& n, std::int64_t& out, Bounds bounds) {
    if (!n.value->is_number()) return refuse_type(n, "a whole number");
    const double value = n.value->get<double>();
    const auto show = [](double x) { return number_text(x, 1); };  // all digits before the point, none after it
    if (!check_bounds(n, value, bounds, n.value->dump(), show)) return false;
    if (value != std::floor(value) || std::fabs(value) > 0x1p53) return refuse(n, n.value->dump() + " is not a whole number");
    out = static_cast<std::int64_t>(value);
    return true;
}

}  // namespace

bool read_value(const JsonNode& n, bool& out) {
    if (!n.value->is_boolean()) return refuse_type(n, "true or false");
    out = n.value->get<bool>();
    return true;
}

bool read_value(const JsonNode& n, std::string& out) {
    if (!n.value->is_string()) return refuse_type(n, "a text");
    const std::string& text = n.value->get_ref<const std::string&>();
    if (printable(text) != text)
        return refuse(n, "a text with control characters", "letters, digits and signs; what colors a terminal belongs into no file");
    out = text;
    return true;
}

bool read_value(const JsonNode& n, double& out, Bounds bounds) {
    if (!n.value->is_number()) return refuse_type(n, "a number");
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
    complain_about_word(n, text, enumerator_names(all_data_types));
    return false;
}

bool read_value(const JsonNode& n, std::vector<std::string>& out) {
    if (!n.is_array()) return refuse_type(n, "a list of texts");
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
    if (n.value->is_number())
        return refuse(n, "unit missing: a " + std::string(table.dimension) + " is written as a text with its unit", "as in " + example);
    if (!n.value->is_string())
        return refuse(n, "expected a " + std::string(table.dimension) + ", found " + found_at(n), "as in " + example);
    const std::string text = n.value->get<std::string>();
    const ParsedQuantity parsed = parse_quantity(text.size() > 200 ? text.substr(0, 200) : text, table);
    if (!parsed.si) return refuse(n, parsed.error);
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

void complain_about_type(const JsonNode& n, std::string_view expected, const std::vector<std::string_view>& known) {
    n.complain("expected " + std::string(expected) + ", found " + found_at(n), hint_for("", known));
}

void complain_about_word(const JsonNode& n, const std::string& found, const std::vector<std::string_view>& known) {
    complain_unknown(n, found, hint_for(found, known));
}

void complain_unknown(const JsonNode& n, const std::string& found, std::string hint) {
    n.complain(in_quotes(found) + " is not known here", std::move(hint));
}

ObjectReader::ObjectReader(JsonNode n) : node_(std::move(n)) {
    if (node_.value && !node_.is_object()) {
        complain_about_type(node_, "an object");
        node_.value = nullptr;
    }
}

ObjectReader::~ObjectReader() {
    if (!node_.value || !reports_unknown_) return;
    for (auto it = node_.value->begin(); it != node_.value->end(); ++it) {
        if (known_.contains(it.key())) continue;
        std::vector<std::string> near;
        if (meant_elsewhere_) near = {meant_elsewhere_(it.key())};
        const bool readable = known_.size() <= 60;
        if (near.empty() || near.front().empty()) near = nearest_names(it.key(), {known_.begin(), known_.end()}, readable ? 1 : 3);
        std::string hint = did_you_mean(near);
        if (hint.empty())
            hint =
                readable ? "known here: " + joined(known_) : "none of the " + std::to_string(known_.size()) + " keys known here is like it";
        node_.child(it.key()).complain("unknown key " + in_quotes(it.key()), std::move(hint));
    }
}

bool ObjectReader::has(std::string_view key) { return get(key).value != nullptr; }

JsonNode ObjectReader::get(std::string_view key) {
    if (reports_unknown_) known_.emplace(key);
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
        complain_about_type(n, "a list");
        return;
    }
    for (const JsonNode& e : n.elements()) visit(e);
}

bool ObjectReader::schema(std::string_view expected) {
    std::string found;
    if (!required("schema", found)) return false;
    if (found == expected) return true;
    return refuse(get("schema"), in_quotes(found) + " is not the schema expected here", "expected \"" + std::string(expected) + "\"");
}

}  // namespace sextant
