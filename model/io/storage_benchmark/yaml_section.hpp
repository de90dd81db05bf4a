// Sections of a YAML file that another program wrote: values are checked as they are read, and keys that nobody asked for are remembered.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/io/format/json_reader.hpp"

#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// "line:column", as Diagnostic::pointer; empty where YAML does not know.
std::string place_of(const YAML::Mark&);

// A text or a key of the file, as it can be shown; "?" for what is neither.
std::string text_of(const YAML::Node&);

// What reading a file has found so far: its problems, and the keys that were passed over.
struct YamlReading {
    std::string file;
    Diagnostics diagnostics;
    std::vector<std::string> notes;
    std::vector<std::string> unused, unknown;  // "section.key": known to the program that wrote it, or not

    void complain(const YAML::Node&, std::string what, std::string hint = {});
};

// A mapping of the file, which may be absent. Keys that nobody asked for are told to the reading when it is left.
// Where a value is absent, null or complained about, readers return nothing or what is assumed.
class YamlSection {
public:
    // `keys`: those that are known, read or not.
    YamlSection(YamlReading&, const YAML::Node&, std::string name, std::vector<std::string_view> keys);
    YamlSection(const YamlSection&) = delete;
    YamlSection& operator=(const YamlSection&) = delete;
    ~YamlSection();

    // Undefined where it is absent or null.
    YAML::Node get(const std::string& key);
    std::optional<double> number(const std::string& key, Bounds);
    std::optional<std::int64_t> integer(const std::string& key, Bounds);
    bool flag(const std::string& key, bool assumed);
    std::string text(const std::string& key, std::string assumed);
    // Seconds, or the mean of a distribution of them.
    std::optional<double> time(const std::string& key);

    // Of what is missing.
    void complain(std::string what, std::string hint) const;
    [[nodiscard]] YamlReading& reading() const { return reading_; }

private:
    [[nodiscard]] bool is_mapping() const;
    std::optional<double> number(const YAML::Node&, const std::string& key, Bounds);

    YamlReading& reading_;
    const YAML::Node node_;
    std::string name_;
    std::vector<std::string_view> keys_;
    std::vector<std::string> read_;
};

}  // namespace sextant
