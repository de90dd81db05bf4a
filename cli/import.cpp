// sextant import: models that others describe, as workloads; benchmarks of storage.
#include "cli/commands.hpp"
#include "cli/output_option.hpp"
#include "cli/writable.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/format/separate_files.hpp"
#include "model/io/onnx/onnx_import.hpp"
#include "model/io/storage_benchmark/dlio_import.hpp"
#include "model/io/torch/torch_import.hpp"
#include "model/io/workload/hf_import.hpp"
#include "model/io/workload/peft_import.hpp"
#include "model/io/workload/workload_writer.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <optional>

namespace sextant {
namespace {

struct ImportOptions {
    std::string file, adapters, out;
    std::optional<std::int64_t> seq_len;
};

std::string count_text(double parameters) {
    return parameters < 1e9 ? number_text(parameters / 1e6, 4) + " million" : number_text(parameters / 1e9, 4) + " billion";
}

std::string size_text(const Workload& workload) {
    const WorkloadSize size = size_of(workload);
    const std::string all = count_text(size.parameters);
    std::string text = all + " parameters";
    const auto part = [&](double parameters, const char* what) {
        if (const std::string some = count_text(parameters); some != all) text += ", " + some + what;
    };
    part(size.active_parameters, " of them active");
    part(size.trained_parameters, " trained");
    return text + ", " + to_text(size.forward) + " forward per " + std::string(workload.sample_word());
}

struct Imported {
    std::string document, summary;
};
Imported written(const Workload& workload, const std::string& file) {
    try {
        // The summary builds the network: what cannot be built is not written.
        return {write_workload(workload), workload.name + ": " + size_text(workload) + '\n'};
    } catch (const InputError& e) {  // points into the workload, which nobody has written
        std::vector<Diagnostic> problems;
        for (const Diagnostic& d : e.diagnostics()) problems.push_back({file, "", "is no network that can be built: " + d.what, d.hint});
        throw InputError(std::move(problems));
    }
}
// How long sequences are, and who says so.
std::string length_text(const HfModel& model, bool stated) {
    if (model.positions == 0) return "";
    const std::int64_t tokens = std::get<TransformerSpec>(model.workload.spec).seq_len;
    std::string text = "sequences of " + std::to_string(tokens) + " tokens";
    if (stated)
        text += ", as --seq-len says";
    else if (tokens == model.positions)
        text += ", as its config says";
    if (tokens > model.positions) text += "; its config states " + std::to_string(model.positions);
    if (tokens < model.positions) text += "; the model takes up to " + std::to_string(model.positions) + (stated ? "" : ": --seq-len");
    return text + '\n';
}
Imported read_hf(const ImportOptions& options) {
    Diagnostics diagnostics;
    const JsonFile file = JsonFile::load(options.file, diagnostics);
    HfModel model = import_hf_config(file, options.seq_len);
    if (!options.adapters.empty()) import_peft_config(JsonFile::load(options.adapters, diagnostics), model.workload);
    diagnostics.throw_if_any();
    Imported found = written(model.workload, options.file);
    found.summary += length_text(model, options.seq_len.has_value());
    return found;
}
Imported read_onnx(const ImportOptions& options) { return written(import_onnx(std::filesystem::path(options.file)), options.file); }
Imported read_torch(const ImportOptions& options) { return written(import_torch(std::filesystem::path(options.file)), options.file); }
Imported read_dlio(const ImportOptions& options) { return {import_dlio(std::filesystem::path(options.file)), ""}; }

ExitCode write(const Imported& found, const std::string& out) {
    if (out.empty()) {
        std::cout << found.document;
        std::cerr << found.summary;
    } else {
        replace_text_file(out, found.document);
        std::cout << found.summary;
    }
    return ExitCode::done;
}

using Read = Imported (*)(const ImportOptions&);

struct Format {
    CLI::App* command;
    std::shared_ptr<ImportOptions> options;
};

Format add_format(CLI::App& import, ExitCode& exit_code, const char* name, const char* what, const char* file, Read read) {
    auto* command = import.add_subcommand(name, what);
    auto options = std::make_shared<ImportOptions>();
    command->add_option("file", options->file, file)->required();
    add_output(*command, "--out", options->out, "output file; default: standard output", "FILE");
    command->callback([options, read, &exit_code] {
        check_writable(options->out);
        check_apart({options->out}, {options->file, options->adapters});
        exit_code = write(read(*options), options->out);
    });
    return {command, options};
}

}  // namespace

void add_import(CLI::App& app, ExitCode& exit_code) {
    auto* command = app.add_subcommand("import", "import a model of another format as a workload, or a storage benchmark");
    command->require_subcommand(1);
    const Format hf = add_format(*command, exit_code, "hf", "the config.json of a Hugging Face model", "config.json", read_hf);
    hf.command->add_option("--adapters", hf.options->adapters, "a PEFT adapter_config.json: train low-rank adapters only")
        ->type_name("FILE");
    hf.command
        ->add_option(
            "--seq-len", hf.options->seq_len,
            "sequence length in tokens; default: the longest that the model takes, up to " + std::to_string(longest_usual_sequence))
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000'000}))
        ->type_name("N");
    add_format(*command, exit_code, "onnx", "an ONNX file: convolutions, dense layers, a decoder, and how they are wired", "model.onnx",
               read_onnx);
    add_format(*command, exit_code, "torch", "a program of torch.export: whatever network a module of PyTorch is", "model.pt2", read_torch);
    add_format(*command, exit_code, "dlio", "a workload of DLIO, as MLPerf Storage has them: what predict answers, as JSON",
               "unet3d_h100.yaml", read_dlio);
}

}  // namespace sextant
