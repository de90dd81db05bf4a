// `sextant gui`: opens the desktop program that lies beside this one.
#include "cli/commands.hpp"
#include "model/base/diagnostics.hpp"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

namespace sextant {
namespace {

// In place of this program.
[[noreturn]] void open_window(const std::vector<std::string>& arguments) {
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "sextant-gui";
    if (!std::filesystem::exists(program))
        throw BackendError(program.string() +
                           " is not there: sextant was built without it, or without Qt 6 (Debian: qt6-base-dev, qt6-svg-dev). "
                           "`./run gui` installs and builds what it needs");
    std::vector<std::string> words{program.string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv(program.c_str(), argv.data());
    throw BackendError("cannot start " + program.string() + ": " + std::strerror(errno));
}

}  // namespace

void add_gui(CLI::App& app, ExitCode& /*that of the other program*/) {
    auto* command = app.add_subcommand("gui", "open the desktop program");
    command->prefix_command();  // whatever follows is for the other program
    command->footer(
        "What follows is for sextant-gui: a scenario, --view NAME, --dark, --list-views,\n"
        "--screenshot OUT.png [--size WxH] to draw without a display.");
    command->callback([command] { open_window(command->remaining()); });
}

}  // namespace sextant
