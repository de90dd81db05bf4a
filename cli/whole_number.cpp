#include "cli/whole_number.hpp"

#include <CLI/CLI.hpp>

#include <charconv>

namespace sextant {

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
    const auto problem_of = [=](const std::string& text) {
        std::uint64_t value = 0;
        const char* end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, value);
        if (error == std::errc{} && rest == end && value >= least && value <= most) return std::string();
        return "\"" + text.substr(0, 80) + "\" is no whole number from " + std::to_string(least) + " to " + std::to_string(most);
    };
    return CLI::Validator(problem_of, "");
}

}  // namespace sextant
