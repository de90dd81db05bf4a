#include "cli/commands.hpp"

#include <vector>

namespace sextant {

void add_commands(CLI::App& app, ExitCode& exit_code) {
    using AddCommand = void (*)(CLI::App&, ExitCode&);
    // In the order of --help.
    const std::vector<AddCommand> commands = {add_predict,   add_simulate, add_replay,   add_plan, add_scale,  add_run,    add_compare,
                                              add_calibrate, add_validate, add_profiles, add_data, add_import, add_export, add_gui};
    for (const AddCommand add : commands) add(app, exit_code);
}

}  // namespace sextant
