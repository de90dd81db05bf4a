// sextant data: datasets made, converted and measured, by the program sextant-data, which links the libraries of their formats.
#include "cli/commands.hpp"
#include "cli/data_program.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace sextant {
namespace {

constexpr auto formats = "files, tar, zip, hdf5, lmdb, tfrecord, npy or raw";
constexpr auto encodings = "raw, png or jpeg";

// What was given, as the child takes it: both know the same options.
std::vector<std::string> words_of(const CLI::App& command) {
    std::vector<std::string> words{command.get_name()};
    for (const CLI::Option* option : command.get_options()) {
        if (option->count() == 0) continue;
        if (!option->get_lnames().empty()) words.push_back("--" + option->get_lnames().front());
        if (option->get_items_expected_max() > 0) words.insert(words.end(), option->results().begin(), option->results().end());
    }
    return words;
}

ExitCode run_data(const CLI::App& command, const std::string& label) { return run_data_program(words_of(command), label); }

CLI::App& add_task(CLI::App& data, const std::string& name, const std::string& about, const std::string& label, ExitCode& exit_code) {
    CLI::App* command = data.add_subcommand(name, about);
    command->callback([command, label, &exit_code] { exit_code = run_data(*command, label); });
    return *command;
}

// Its value is the child's to judge.
CLI::Option* option(CLI::App& command, const std::string& name, const std::string& about) {
    return command.add_option(name)->description(about);
}

void add_make(CLI::App& data, ExitCode& exit_code) {
    CLI::App& make = add_task(data, "make", "make a dataset that a network can learn, the same for the same seed", "making", exit_code);
    option(make, "OUT", "file, or folder of the format `files`; a dataset that lies there is replaced when the new one is whole")
        ->required();
    option(make, "--samples", "number of samples; default: 1000")->type_name("N");
    option(make, "--size", "HxWxC of an image, or the length of a byte sequence; default: 224x224x3")->type_name("SIZE");
    option(make, "--classes", "number of classes; default: 10")->type_name("N");
    option(make, "--format", std::string(formats) + "; default: files")->type_name("FORMAT");
    option(make, "--encoding", std::string(encodings) + "; default: jpeg for images, where the format takes it")->type_name("ENCODING");
    option(make, "--seed", "random seed; default: 1")->type_name("N");
}

void add_convert(CLI::App& data, ExitCode& exit_code) {
    CLI::App& convert = add_task(data, "convert", "write a dataset in another format", "converting", exit_code);
    option(convert, "IN", "any dataset, also a folder of pictures in folders of their classes")->required();
    option(convert, "OUT", "as of make")->required();
    option(convert, "--format", formats)->required()->type_name("FORMAT");
    option(convert, "--encoding", std::string(encodings) + "; default: unchanged")->type_name("ENCODING");
    option(convert, "--resize", "images, once for all")->type_name("HxW");
    option(convert, "--bad-samples", "what to do with damaged samples: fail or skip; default: fail")->type_name("POLICY");
}

void add_bench(CLI::App& data, ExitCode& exit_code) {
    CLI::App& bench =
        add_task(data, "bench", "measure how fast a dataset is opened, read and decoded where it lies", "measuring", exit_code);
    option(bench, "PATH", "any dataset")->required();
    option(bench, "--workers", "reader threads, one number for each row; default: 1,2")->type_name("N,N");
    bench.add_flag("--cold")->description("from disk: drop the page cache before each measurement, as far as possible");
    bench.add_flag("--warm")->description("from the page cache; the default unless --cold is given");
    bench.add_flag("--random")->description("only in shuffled order");
    option(bench, "--epochs", "times that each row is measured; default: 3")->type_name("N");
    bench.add_flag("--write")->description("also write the same samples, beside the dataset");
    option(bench, "--resize", "resize images when they are decoded")->type_name("HxW");
    option(bench, "--seed", "seed of the order; default: 1")->type_name("N");
    option(bench, "--bad-samples", "what to do with damaged samples: fail or skip; default: fail")->type_name("POLICY");
    option(bench, "--format", "text or json")->type_name("FORMAT");
}

}  // namespace

void add_data(CLI::App& app, ExitCode& exit_code) {
    auto* data = app.add_subcommand("data", "make, convert and benchmark datasets");
    data->require_subcommand(1);
    add_make(*data, exit_code);
    add_convert(*data, exit_code);
    add_bench(*data, exit_code);
}

}  // namespace sextant
