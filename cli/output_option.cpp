#include "cli/output_option.hpp"

#include <CLI/CLI.hpp>

namespace sextant {

CLI::Option* add_output(CLI::App& command, const std::string& option, std::string& file, const std::string& about,
                        const std::string& type) {
    const auto problem_of = [](const std::string& name) {
        return std::string(name.empty() ? "name a file" : name == "-" ? "\"-\" is no file; /dev/stdout is one" : "");
    };
    return command.add_option(option, file, about)->type_name(type)->check(problem_of);
}

}  // namespace sextant
