// The subcommands of `sextant`.
//
// Each has a file of its own with one function `add_<name>`: it declares the options and a callback that does the work and
// leaves the outcome in `exit_code`. The callback throws InputError for wrong input and BackendError for a machine that refuses.
// To add one: declare it here, and add it to the list in commands.cpp.
#pragma once

#include "model/base/failure.hpp"

namespace CLI {
class App;
}

namespace sextant {

void add_compare(CLI::App& app, ExitCode& exit_code);
void add_calibrate(CLI::App& app, ExitCode& exit_code);
void add_data(CLI::App& app, ExitCode& exit_code);
void add_export(CLI::App& app, ExitCode& exit_code);
void add_gui(CLI::App& app, ExitCode& exit_code);
void add_import(CLI::App& app, ExitCode& exit_code);
void add_plan(CLI::App& app, ExitCode& exit_code);
void add_predict(CLI::App& app, ExitCode& exit_code);
void add_profiles(CLI::App& app, ExitCode& exit_code);
void add_replay(CLI::App& app, ExitCode& exit_code);
void add_run(CLI::App& app, ExitCode& exit_code);
void add_scale(CLI::App& app, ExitCode& exit_code);
void add_simulate(CLI::App& app, ExitCode& exit_code);
void add_validate(CLI::App& app, ExitCode& exit_code);

// Adds every subcommand. `exit_code` must outlive the parse.
void add_commands(CLI::App& app, ExitCode& exit_code);

}  // namespace sextant
