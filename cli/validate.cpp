// sextant validate: predicts published measurements and shows how far off the predictions are.
#include "cli/commands.hpp"
#include "cli/output_option.hpp"
#include "cli/progress.hpp"
#include "cli/writable.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/format/separate_files.hpp"
#include "model/io/measurement/validation_reader.hpp"
#include "model/io/measurement/validation_writer.hpp"
#include "model/sextant.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <set>

namespace sextant {
namespace {

namespace fs = std::filesystem;

struct ValidateOptions {
    std::vector<std::string> files;
    std::string format = "text";
    std::string profiles, base, html;
    ValidationView view;
};

std::string written(const Validation& validation, const std::optional<Validation>& base, const ValidateOptions& o) {
    if (base) {
        const ValidationDiff moved = diff(*base, validation);
        return o.format == "json" ? validation_diff_json(moved) : validation_diff_text(moved, o.view);
    }
    const auto write = o.format == "json" ? validation_json : o.format == "markdown" ? validation_markdown : validation_text;
    return write(validation, o.view);
}

void run_validate(const ValidateOptions& o) {
    check_writable(o.html);
    std::optional<Validation> base;
    if (!o.base.empty()) base = load_validation(o.base);  // before the long work: it may be refused
    Library library = open_library(o.profiles);
    const std::vector<fs::path> files =
        o.files.empty() ? bundled_measurements(library) : std::vector<fs::path>(o.files.begin(), o.files.end());
    check_named_once(files);
    std::set<fs::path> read(files.begin(), files.end());
    read.insert(o.base);
    check_apart({o.html}, read);
    std::optional<Progress> progress;
    const Validation validation = validate(library, files, [&](std::size_t done, std::size_t total) {
        if (!progress) progress.emplace("predicting", total);
        progress->show(done);
    });
    progress.reset();
    check_apart({o.html}, library.files);  // profiles that the rows name
    std::cout << written(validation, base, o);
    if (!o.html.empty()) replace_text_file(o.html, validation_html(validation));
}

}  // namespace

void add_validate(CLI::App& app, ExitCode& exit_code) {
    auto* command = app.add_subcommand("validate", "compare predictions with published measurements");
    auto options = std::make_shared<ValidateOptions>();
    command->add_option("file", options->files, "measurement files (measurements/FORMAT.md); default: all bundled ones")->type_name("FILE");
    command->add_option("--format", options->format, "text, json or markdown")->check(CLI::IsMember({"text", "json", "markdown"}));
    command->add_flag("--rows", options->view.rows, "show each row too (json always has them)");
    command->add_option("--group-by", options->view.group_by, "also show one line for each value of a field")
        ->check(
            CLI::IsMember({"gpu", "gpus", "framework", "model", "precision", "collective", "ranks", "system", "workload", "submitter"}));
    auto* base = command->add_option("--diff", options->base, "show what changed since an earlier `validate --format json`");
    base->type_name("BASE.json")->check(CLI::ExistingFile);
    add_output(*command, "--html", options->html, "also write an HTML page with plots", "PAGE.html");
    command->add_option("--profiles", options->profiles, "directory of hardware profiles")->type_name("DIR");
    command->callback([options, &exit_code] {
        run_validate(*options);
        exit_code = ExitCode::done;
    });
}

}  // namespace sextant
