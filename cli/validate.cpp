// sextant validate: predicts published measurements and shows how far off the predictions are.
#include "cli/commands.hpp"
#include "cli/progress.hpp"
#include "model/cost/collectives.hpp"
#include "model/io/measurement_evaluation.hpp"
#include "model/io/validation_writer.hpp"
#include "model/sextant.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <memory>

namespace sextant {
namespace {

namespace fs = std::filesystem;

struct ValidateOptions {
    std::vector<std::string> files;
    std::string format = "text";
    std::string profiles;
    ValidationView view;
};

// Names are looked up in the library; what it lacks is no mistake of the caller but a reason to refuse a row.
template <class Find>
auto look_up(Find find) {
    return [find](std::string_view name) {
        Diagnostics unused;
        return find(name, unused);
    };
}

template <class T>
std::optional<T> copy_of(const T* found) {
    return found ? std::optional<T>(*found) : std::nullopt;
}

MeasurementSources measurement_sources(Library& library) {
    Catalog& catalog = library.catalog;
    MeasurementSources s;
    s.device = look_up([&](std::string_view name, Diagnostics& d) { return copy_of(find_device(catalog, name, d)); });
    s.link = look_up([&](std::string_view name, Diagnostics& d) { return copy_of(find_link(catalog, name, d)); });
    s.library = look_up([&](std::string_view name, Diagnostics& d) { return copy_of(find_library(catalog, name, d)); });
    s.framework = look_up([&](std::string_view name, Diagnostics& d) {
        const Framework found = load_framework(name, library.frameworks, d);
        return d.empty() ? std::optional<Framework>(found) : std::nullopt;
    });
    s.workload = [](std::string_view name) { return find_workload(name); };
    return s;
}

RowPrediction predict_training(const Scenario& scenario) {
    const Estimate e = estimate(prepare(scenario));
    return {e.step, e.peak_memory, e.fits};
}

Collective collective_named(const std::string& word) {
    for (const Collective c : {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter, Collective::all_to_all,
                               Collective::broadcast, Collective::reduce, Collective::send})
        if (to_text(c) == word) return c;
    if (word == "alltoall") return Collective::all_to_all;
    throw InputError(Diagnostic{"", "/collective", "\"" + word + "\" is no collective that is known here", ""});
}

Seconds predict_collective(const CollectiveScenario& c) {
    const Collective collective = collective_named(c.collective);
    const Topology topology = Topology::build(c.cluster, c.cluster.nodes, c.library.sockets_only);
    const std::vector<std::vector<DeviceIndex>> groups{c.members};
    const Group group = make_group(topology, c.members, groups, c.library.in_switch_reduction && c.cluster.node.peers.in_switch_reduction);
    return collective_time(collective, c.size, group, c.library);
}

Seconds predict_loading(const LoadingRow& row) {
    throw InputError(Diagnostic{row.header.file, row.header.pointer, "the input pipeline is not modelled yet", ""});
}

// What the repository carries, in the order of paths.
std::vector<std::string> bundled_measurements(const Library& library) {
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(library.frameworks / "measurements", error))
        if (entry.path().extension() == ".json") files.push_back(entry.path().string());
    if (files.empty())
        throw InputError(Diagnostic{(library.frameworks / "measurements").string(), "", "no measurements there", "name a file"});
    std::ranges::sort(files);
    return files;
}

std::vector<MeasurementFile> load_all(const std::vector<std::string>& paths) {
    Diagnostics diagnostics;
    std::vector<MeasurementFile> files;
    for (const std::string& path : paths) files.push_back(load_measurements(path, diagnostics));
    diagnostics.throw_if_any();
    return files;
}

Validation validate(const std::vector<MeasurementFile>& files, Library& library) {
    const MeasurementSources sources = measurement_sources(library);
    const Predictors predictors{predict_training, predict_collective, predict_loading};
    std::size_t total = 0, done = 0;
    for (const MeasurementFile& file : files) total += file.rows.size();
    Progress progress("predicting", total);
    Validation validation;
    for (const MeasurementFile& file : files) {
        FileValidation& v = validation.files.emplace_back(FileValidation{file.path, file.title, {}});
        for (const MeasurementRow& row : file.rows) {
            v.results.push_back(evaluate(row, sources, predictors));
            progress.show(++done);
        }
    }
    return validation;
}

void run_validate(const ValidateOptions& o) {
    Library library = open_library(o.profiles);
    const Validation validation = validate(load_all(o.files.empty() ? bundled_measurements(library) : o.files), library);
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
