// Reads JSON that people write: every problem is reported with file and pointer, and all of them at once.
//
//     JsonFile file = JsonFile::load(path, diagnostics);
//     ObjectReader r(file.root());
//     r.required("name", device.name);
//     r.optional("memory", device.memory);          // a quantity: "80 GiB"
//     r.each("peaks", [&](JsonNode n) { ... });
//                                                    // the destructor reports keys that nobody asked for
//
// A reader never throws: it leaves the field as it was and adds a Diagnostic. Call Diagnostics::throw_if_any at the end.
#pragma once

#include "model/base/data_type.hpp"
#include "model/base/diagnostics.hpp"
#include "model/base/provenance.hpp"
#include "model/base/quantity_text.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// A value inside a document, with its place. Cheap to copy; valid as long as its JsonFile.
struct JsonNode {
    const nlohmann::json* value = nullptr;
    const std::string* file = nullptr;
    std::string pointer;
    Diagnostics* diagnostics = nullptr;

    void complain(std::string what, std::string hint = {}) const;
    [[nodiscard]] bool is_object() const;
    [[nodiscard]] bool is_array() const;
    [[nodiscard]] bool is_string() const;
    [[nodiscard]] bool is_number() const;
    [[nodiscard]] JsonNode child(std::string_view key) const;                     // null value when absent
    [[nodiscard]] std::vector<JsonNode> elements() const;                         // of an array; of anything else, none
    [[nodiscard]] std::vector<std::pair<std::string, JsonNode>> members() const;  // of an object, in the order of keys
};

// A parsed document. A file that is absent, unreadable, no JSON or larger than 256 MiB leaves root().value null and a Diagnostic.
class JsonFile {
public:
    static JsonFile load(const std::filesystem::path&, Diagnostics&);
    static JsonFile from_text(std::string_view text, std::string name, Diagnostics&);

    JsonFile(JsonFile&&) noexcept;
    JsonFile& operator=(JsonFile&&) noexcept;
    ~JsonFile();

    [[nodiscard]] JsonNode root() const;
    [[nodiscard]] const std::string& name() const { return *name_; }
    // Replaces or adds the value at a dotted path ("plan.tp=8"): what --set does. Text that is no JSON is taken as a string.
    void set(std::string_view assignment);

private:
    JsonFile(std::string name, Diagnostics&);
    std::unique_ptr<nlohmann::json> document_;
    std::unique_ptr<std::string> name_;
    Diagnostics* diagnostics_;
};

// Bounds that a number must keep, both inclusive.
struct Bounds {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
};
inline constexpr Bounds positive{std::numeric_limits<double>::min(), 1e30};
inline constexpr Bounds not_negative{0, 1e30};
inline constexpr Bounds fraction{0, 1};
inline constexpr Bounds sample_sizes{1, 1e15};  // bytes
inline constexpr Bounds count{1, 1e9};

// Readers of single values. Each returns false after complaining.
bool read_value(const JsonNode&, bool&);
bool read_value(const JsonNode&, std::string&);
bool read_value(const JsonNode&, double&, Bounds = {});
bool read_value(const JsonNode&, int&, Bounds = count);
bool read_value(const JsonNode&, std::int64_t&, Bounds = count);
bool read_value(const JsonNode&, DataType&);
bool read_value(const JsonNode&, std::vector<std::string>&);
bool read_quantity(const JsonNode&, const UnitTable&, Bounds, double& si);

template <int B, int F, int S, int J, int M>
bool read_value(const JsonNode& n, Quantity<B, F, S, J, M>& q, Bounds bounds = not_negative) {
    double si = 0;
    if (!read_quantity(n, unit_table<Quantity<B, F, S, J, M>>(), bounds, si)) return false;
    q = Quantity<B, F, S, J, M>::from_si(si);
    return true;
}

// Where programs write: a plain number in SI units, the unit being part of the key ("time_s").
struct InSi {
    Bounds bounds = not_negative;
};
template <int B, int F, int S, int J, int M>
bool read_value(const JsonNode& n, Quantity<B, F, S, J, M>& q, InSi si) {
    double number = 0;
    if (!read_value(n, number, si.bounds)) return false;
    q = Quantity<B, F, S, J, M>::from_si(number);
    return true;
}

// {"value": ..., "kind": "datasheet", "source": "..."}: splits off the provenance, returns the node of the value.
// The kind and source of an enclosing object may serve as default (see ObjectReader::default_source).
struct Provenance {
    SourceKind kind = SourceKind::estimated;
    std::string source;
};
JsonNode read_provenance(const JsonNode&, Provenance& into);

template <class T, class... Rules>
bool read_value(const JsonNode& n, Sourced<T>& field, const Provenance& inherited, const Rules&... rules) {
    Provenance p = inherited;
    const JsonNode value = read_provenance(n, p);
    if (!value.value || !read_value(value, field.value, rules...)) return false;
    field.kind = p.kind;
    field.source = std::move(p.source);
    return true;
}
template <class T, class... Rules>
bool read_value(const JsonNode& n, std::optional<T>& field, const Rules&... rules) {
    T v{};
    if (!read_value(n, v, rules...)) return false;
    field = std::move(v);
    return true;
}

// A closed vocabulary: the words that may stand there, and what each means.
template <class E>
struct Word {
    std::string_view text;
    E value;
};
// The word for a value; empty where there is none.
template <class E, std::size_t N>
constexpr std::string_view word_of(const E& value, const Word<E> (&words)[N]) {
    for (const Word<E>& w : words)
        if (w.value == value) return w.text;
    return {};
}
// "none, crossbar or pairs"
std::string one_of(const std::vector<std::string_view>& words);
void complain_about_type(const JsonNode&, std::string_view expected, const std::vector<std::string_view>& known = {});
void complain_about_word(const JsonNode&, const std::string& found, const std::vector<std::string_view>& known);
void complain_unknown(const JsonNode&, const std::string& found, std::string hint);  // the same with a hint of one's own

template <class E, std::size_t N>
std::vector<std::string_view> texts_of(const Word<E> (&words)[N]) {
    std::vector<std::string_view> texts;
    for (const Word<E>& w : words) texts.push_back(w.text);
    return texts;
}
template <class E, std::size_t N>
bool read_word(const JsonNode& n, E& field, const Word<E> (&words)[N]) {
    std::string text;
    if (!n.is_string()) {
        complain_about_type(n, "a text", texts_of(words));
        return false;
    }
    if (!read_value(n, text)) return false;
    for (const Word<E>& w : words)
        if (w.text == text) {
            field = w.value;
            return true;
        }
    complain_about_word(n, text, texts_of(words));
    return false;
}
template <class E, std::size_t N>
bool read_word(const JsonNode& n, std::optional<E>& field, const Word<E> (&words)[N]) {
    E value{};
    if (!read_word(n, value, words)) return false;
    field = value;
    return true;
}

inline constexpr Word<SourceKind> source_kind_words[] = {{"datasheet", SourceKind::datasheet},
                                                         {"measured", SourceKind::measured},
                                                         {"published", SourceKind::published},
                                                         {"estimated", SourceKind::estimated}};

class ObjectReader {
public:
    explicit ObjectReader(JsonNode);
    ObjectReader(const ObjectReader&) = delete;
    ObjectReader& operator=(const ObjectReader&) = delete;
    ~ObjectReader();  // reports unknown keys, with the nearest known one as hint

    // Whether there is an object.
    explicit operator bool() const { return node_.value != nullptr; }
    // Numbers inside this object that do not name their own source have this one.
    void default_source(Provenance p) { inherited_ = std::move(p); }
    [[nodiscard]] const Provenance& default_source() const { return inherited_; }

    [[nodiscard]] bool has(std::string_view key);
    // Keys that nobody asked for are somebody else's business here, and not reported.
    void ignore_others() { reports_unknown_ = false; }
    // What a key that nobody asked for may mean instead, such as "plan.tp"; empty where nothing.
    void meant_elsewhere(std::function<std::string(const std::string& key)> meant) { meant_elsewhere_ = std::move(meant); }
    // The child, marked as known; value null when absent (or JSON null).
    JsonNode get(std::string_view key);
    // As get, and complains when absent.
    JsonNode need(std::string_view key, std::string_view hint = {});

    template <class T, class... Rules>
    bool required(std::string_view key, T& field, const Rules&... rules) {
        return read(need(key), field, rules...);
    }
    template <class T, class... Rules>
    bool optional(std::string_view key, T& field, const Rules&... rules) {
        return read(get(key), field, rules...);
    }
    // A child, where it is there. Sourced numbers inherit the object's source.
    template <class T, class... Rules>
    bool read(const JsonNode& n, T& field, const Rules&... rules) const {
        return n.value && read_value(n, field, rules...);
    }
    template <class T, class... Rules>
    bool read(const JsonNode& n, Sourced<T>& field, const Rules&... rules) const {
        return n.value && read_value(n, field, inherited_, rules...);
    }
    template <class T, class... Rules>
    bool read(const JsonNode& n, std::optional<Sourced<T>>& field, const Rules&... rules) const {
        return n.value && read_value(n, field, inherited_, rules...);
    }
    template <class T, class E, std::size_t N>
    bool word(std::string_view key, T& field, const Word<E> (&words)[N]) {
        const JsonNode n = get(key);
        return n.value && read_word(n, field, words);
    }
    template <class T, class E, std::size_t N>
    bool required_word(std::string_view key, T& field, const Word<E> (&words)[N]) {
        const JsonNode n = need(key, one_of(texts_of(words)));
        return n.value && read_word(n, field, words);
    }
    // Calls `visit` for every element of the array at `key`; an absent key is an empty array.
    void each(std::string_view key, const std::function<void(const JsonNode&)>& visit);
    // Every word of the array at `key` that is known.
    template <class E, std::size_t N>
    void words(std::string_view key, std::vector<E>& list, const Word<E> (&words)[N]) {
        each(key, [&](const JsonNode& n) {
            E value{};
            if (read_word(n, value, words)) list.push_back(value);
        });
    }
    // `"schema": "scenario/1"` must stand there and match.
    bool schema(std::string_view expected);

    [[nodiscard]] const JsonNode& node() const { return node_; }

private:
    JsonNode node_;
    Provenance inherited_;
    bool reports_unknown_ = true;
    std::function<std::string(const std::string& key)> meant_elsewhere_;
    std::set<std::string, std::less<>> known_;
};

}  // namespace sextant
