// Options of every subcommand about one scenario: the file, what is overridden, and how the report is printed.
#pragma once

#include "model/sextant.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sextant {

struct ScenarioOptions {
    std::string scenario;
    std::vector<std::string> overrides;
    std::string profiles;  // directory of hardware profiles; empty: the bundled ones

    void add_to(CLI::App& command);
    // Both throw InputError, also where one of the `outputs` that a command writes would replace a file that is read.
    [[nodiscard]] Scenario load(const std::vector<std::filesystem::path>& outputs = {}) const;
    [[nodiscard]] Predictable load_predictable(const std::vector<std::filesystem::path>& outputs = {}) const;
};

struct ReportOptions {
    std::string format = "text";
    std::vector<std::string> fail_if;

    void add_to(CLI::App& command);
    [[nodiscard]] bool json() const { return format == "json"; }
};

}  // namespace sextant
