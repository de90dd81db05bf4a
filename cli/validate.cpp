// sextant validate: predicts published measurements and shows how far off the predictions are.
#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "model/io/validation_writer.hpp"
#include "model/sextant.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

namespace sextant {
namespace {

namespace fs = std::filesystem;

struct ValidateOptions {
    std::vector<std::string> files;
    std::string format = "text";
    std::string profiles;
    ValidationView view;
};

void run_validate(const ValidateOptions& o) {
    Library library = open_library(o.profiles);
    const std::vector<fs::path> files =
        o.files.empty() ? bundled_measurements(library) : std::vector<fs::path>(o.files.begin(), o.files.end());
    std::optional<Progress> progress;
    const Validation validation = validate(library, files, [&](std::size_t done, std::size_t total) {
        if (!progress) progress.emplace("predicting", total);
        progress->show(done);
    });
    progress.reset();
    const auto write = o.format == "json" ? validation_json : o.format == "markdown" ? validation_markdown : validation_text;
    std::cout << write(validation, o.view);
}

}  // namespace

void add_validate(CLI::App& app, ExitCode& exit_code) {
    auto* command = app.add_subcommand("validate", "how far predictions are off from published measurements");
    auto options = std::make_shared<ValidateOptions>();
    command->add_option("file", options->files, "measurement files (measurements/FORMAT.md); none: all that are bundled")
        ->type_name("FILE");
    command->add_option("--format", options->format, "text, json or markdown")->check(CLI::IsMember({"text", "json", "markdown"}));
    command->add_flag("--rows", options->view.rows, "each row too (json always has them)");
    command->add_option("--group-by", options->view.group_by, "also one line for each value of a field")
        ->check(
            CLI::IsMember({"gpu", "gpus", "framework", "model", "precision", "collective", "ranks", "system", "workload", "submitter"}));
    command->add_option("--profiles", options->profiles, "directory of hardware profiles")->type_name("DIR");
    command->callback([options, &exit_code] {
        run_validate(*options);
        exit_code = ExitCode::done;
    });
}

}  // namespace sextant
