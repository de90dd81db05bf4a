// The arguments of an executor. `sextant run` passes them; people call that instead.
#pragma once

#include "backend/exec/job.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sextant {

struct ExecArguments {
    std::string scenario;
    std::vector<std::string> overrides;
    std::string profiles;
    int steps = 3;
    std::uint64_t seed = 1;
    std::optional<int> threads;  // that compute, on each rank; absent: OMP_NUM_THREADS, else one
    TrainingChoices training;
    std::filesystem::path out;        // file for the record of the run; empty: none is written
    std::filesystem::path data;       // a dataset to train on; empty: samples are generated
    std::optional<int> data_workers;  // threads of each rank that read and decode; absent: the scenario's, else two
    std::filesystem::path stage;      // a folder on each host to which the dataset is copied first; empty: it is read where it is
    bool unpack = false;              // staging unpacks a tar archive
    bool skip_bad_samples = false;
    Seconds hang_timeout = 5 * units::s;  // a rank that gives no sign of life for this long counts as lost
    bool runs_here = false;               // with a check of the scenario: also check that this machine can run it
    bool parameters = false;              // record sums over the final weights
    bool operators = false;               // record the times of each operator
};

// Throws InputError.
ExecArguments parse_exec_arguments(const std::vector<std::string>&);

}  // namespace sextant
