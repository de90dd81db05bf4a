// The command line: declares the subcommands, runs the one that was asked for, turns every failure into an exit code.
#include "cli/commands.hpp"
#include "cli/held_signals.hpp"
#include "model/base/list_text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

using namespace sextant;

constexpr auto about =
    "Sextant predicts how fast a deep-learning training job runs under a parallel plan on given hardware,\n"
    "whether it fits in memory, and what holds it back.";

// Options that want others, or do not go with them.
void add_company(std::vector<std::string>& problems, const CLI::Option& option) {
    for (const CLI::Option* other : option.get_needs())
        if (other->count() == 0) problems.emplace_back(CLI::RequiresError(option.get_name(), other->get_name()).what());
    for (const CLI::Option* other : option.get_excludes())
        if (other->count() > 0) problems.emplace_back(CLI::ExcludesError(option.get_name(), other->get_name()).what());
}

// Collects, of a command and the subcommand that was named, what each option says of its values and which options are missing.
void add_problems(std::vector<std::string>& problems, CLI::App& command) {
    for (CLI::Option* option : command.get_options()) {
        if (option->count() == 0) {
            if (option->get_required()) problems.emplace_back(CLI::RequiredError(option->get_name()).what());
            continue;
        }
        try {
            option->run_callback();
        } catch (const CLI::ParseError& e) {
            problems.emplace_back(e.what());
        }
        add_company(problems, *option);
    }
    for (CLI::App* named : command.get_subcommands()) add_problems(problems, *named);
}

// What stands where a command was to be named, and which there are; nothing where one was.
std::string unknown_command(const CLI::App& app) {
    if (const auto named = app.get_subcommands(); !named.empty()) return unknown_command(*named.front());
    const std::vector<std::string> words = app.remaining();
    std::string known;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) append_to_list(known, command->get_name());
    if (known.empty() || words.empty() || words.front().starts_with("-")) return {};
    return "there is no command \"" + words.front() + "\": one of " + known;
}

// CLI11 throws the first thing that is wrong; this is all of them, one a line.
std::string all_problems(CLI::App& app, const CLI::ParseError& first) {
    if (std::string unknown = unknown_command(app); !unknown.empty()) return unknown;  // its options cannot be judged
    std::vector<std::string> problems;
    add_problems(problems, app);
    if (auto unknown = app.remaining(true); !unknown.empty()) {
        std::ranges::reverse(unknown);  // CLI11 turns them round
        problems.emplace_back(CLI::ExtrasError(unknown).what());
    }
    const bool said = first.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) ||
                      std::ranges::find(problems, first.what()) != problems.end();
    if (!said) problems.insert(problems.begin(), first.what());
    return joined(problems, {}, "\n");
}

// What CLI11 throws is either a request (--help, --version) or a usage error.
ExitCode report(CLI::App& app, const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return static_cast<ExitCode>(app.exit(e, std::cout, std::cerr));
    app.exit(CLI::ParseError(all_problems(app, e), CLI::ExitCodes::BaseClass), std::cout, std::cerr);
    return ExitCode::wrong_input;
}

ExitCode run(int argc, char** argv) {
    CLI::App app(about, "sextant");
    app.set_version_flag("--version", "sextant " SEXTANT_VERSION);
    app.require_subcommand(0, 1);
    auto exit_code = ExitCode::done;
    add_commands(app, exit_code);
    try {
        app.parse(argc, argv);
        if (app.get_subcommands().empty()) std::cout << app.help();
    } catch (const CLI::ParseError& e) {
        return report(app, e);
    }
    return exit_code;
}

ExitCode explain(const Failure& failure) {
    std::cerr << to_text(failure) << '\n';
    return failure.code;
}

ExitCode run_and_explain_failures(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (...) {
        return explain(failure_of(std::current_exception()));
    }
}

// As whoever sent the signal expects it: a shell ends its script, too.
[[noreturn]] void end_by(int signal) {
    std::cout.flush();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    std::abort();
}

ExitCode run_or_end(int argc, char** argv) {
    try {
        return run_and_explain_failures(argc, argv);
    } catch (const Interrupted& by) {
        end_by(by.signal);
    }
}

}  // namespace

int main(int argc, char** argv) {
    ExitCode code = run_or_end(argc, argv);
    std::cout.flush();
    if (!std::cout && code == ExitCode::done)
        code = explain({ExitCode::machine_refused, "cannot write all of its output: is the disk full?"});
    return static_cast<int>(code);
}
