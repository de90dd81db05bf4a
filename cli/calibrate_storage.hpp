// sextant calibrate --storage: a storage class from a directory, which is measured, or from what fio wrote.
#pragma once

#include "model/base/failure.hpp"

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sextant {

struct StorageCalibration {
    std::string of;  // empty: not asked for
    std::string name;
};

// Returns the option that asks for it.
CLI::Option* add_storage_options(CLI::App& calibrate, StorageCalibration&);
ExitCode calibrate_storage(const StorageCalibration&, const std::string& out);

}  // namespace sextant
