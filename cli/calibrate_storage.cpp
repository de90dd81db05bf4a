#include "cli/calibrate_storage.hpp"

#include "cli/data_program.hpp"
#include "cli/machine.hpp"
#include "cli/writable.hpp"
#include "model/io/format/separate_files.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>

namespace sextant {

CLI::Option* add_storage_options(CLI::App& calibrate, StorageCalibration& s) {
    auto* of = calibrate
                   .add_option("--storage", s.of,
                               "measure the storage behind this directory instead, or read what fio measured of it "
                               "(--output-format=json)")
                   ->type_name("DIR|FIO.json");
    calibrate.add_option("--name", s.name, "name of the storage; default: its path")->type_name("NAME")->needs(of);
    return of;
}

ExitCode calibrate_storage(const StorageCalibration& s, const std::string& out) {
    check_writable(out);
    check_apart({out}, {s.of});
    std::vector<std::string> words{"probe", s.of, "--out", out};
    if (!s.name.empty()) words.insert(words.end(), {"--name", s.name});
    const bool measured = std::filesystem::is_directory(s.of);
    words.insert(words.end(), {"--source", "sextant calibrate --storage" +
                                               (measured ? " on " + facts_of_this_machine().host : " of " + s.of) + ", " + today()});
    const ExitCode end = run_data_program(std::move(words), "measuring");
    if (end == ExitCode::done) std::cout << written_line(out, "data.storage");
    return end;
}

}  // namespace sextant
