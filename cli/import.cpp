// sextant import: models that others describe, as workloads.
#include "cli/commands.hpp"
#include "model/io/scenario/hf_import.hpp"
#include "model/io/scenario/workload_writer.hpp"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>

namespace sextant {
namespace {

struct ImportOptions {
    std::string config, out;
};

std::string billions(double parameters) { return number_text(parameters / 1e9, 4) + " billion parameters"; }

std::string size_text(const Workload& workload) {
    const WorkloadSize size = size_of(workload);
    std::string text = billions(size.parameters);
    if (size.active_parameters < size.parameters) text += ", " + number_text(size.active_parameters / 1e9, 4) + " of them active";
    return text + ", " + to_text(size.forward) + " forward per " + std::string(workload.sample_word());
}

void write_file(const std::string& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    out << text;
    out.close();
    if (!out) throw BackendError("cannot write " + path + ": " + std::strerror(errno));
}

ExitCode import_hf(const ImportOptions& o) {
    Diagnostics diagnostics;
    const JsonFile file = JsonFile::load(o.config, diagnostics);
    const Workload workload = import_hf_config(file);
    diagnostics.throw_if_any();
    const std::string summary =
        workload.name + ": " + size_text(workload) + '\n';  // builds the network: what cannot be built is not written
    if (o.out.empty()) {
        std::cout << write_workload(workload);
        std::cerr << summary;
    } else {
        write_file(o.out, write_workload(workload));
        std::cout << summary;
    }
    return ExitCode::done;
}

}  // namespace

void add_import(CLI::App& app, ExitCode& exit_code) {
    auto* command = app.add_subcommand("import", "a model that others describe, as a workload");
    command->require_subcommand(1);
    auto* hf = command->add_subcommand("hf", "the config.json of a Hugging Face model");
    auto options = std::make_shared<ImportOptions>();
    hf->add_option("config", options->config, "config.json")->required();
    hf->add_option("--out", options->out, "file to write the workload to; else it goes to standard output")->type_name("FILE");
    hf->callback([options, &exit_code] { exit_code = import_hf(*options); });
}

}  // namespace sextant
