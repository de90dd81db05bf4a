#include "cli/whole_number.hpp"

#include "model/base/parse_number.hpp"

#include <CLI/CLI.hpp>

namespace sextant {

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
    const auto problem_of = [=](const std::string& text) {
        const auto value = parse_number<std::uint64_t>(text);
        if (value && *value >= least && *value <= most) return std::string();
        return "\"" + text.substr(0, 80) + "\" is no whole number from " + std::to_string(least) + " to " + std::to_string(most);
    };
    return CLI::Validator(problem_of, "");
}

}  // namespace sextant
