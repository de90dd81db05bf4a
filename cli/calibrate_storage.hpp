// sextant calibrate --storage: makes a storage class by measuring a directory, or from the output of fio.
#pragma once

#include "model/base/failure.hpp"

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sextant {

struct StorageCalibration {
    std::string of;  // the directory or the file of fio; empty: no storage is calibrated
    std::string name;
};

// Returns the option --storage.
CLI::Option* add_storage_options(CLI::App& calibrate, StorageCalibration&);
ExitCode calibrate_storage(const StorageCalibration&, const std::string& out);

}  // namespace sextant
