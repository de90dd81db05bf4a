// The few arguments of an executor. People call `sextant run`, which explains itself.
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
    std::optional<int> threads;  // of each rank that compute; absent: OMP_NUM_THREADS, else one
    TrainingChoices training;
    std::filesystem::path out;        // empty: nothing is written
    std::filesystem::path data;       // a dataset to train on; empty: samples are made
    std::optional<int> data_workers;  // threads of each rank that read and decode; absent: the scenario's, else two
    std::filesystem::path stage;      // a folder of each host to which the dataset is brought first; empty: it is read where it is
    bool unpack = false;              // a tar archive, there
    bool skip_bad_samples = false;
    Seconds hang_timeout = 5 * units::s;  // without a sign of life, after which a rank counts as lost
    bool runs_here = false;               // where it is only asked whether the scenario runs: and whether this machine has what it takes
    bool parameters = false;              // sums over the final weights go to the record
    bool operators = false;               // so do the times of each operator
};

// Throws InputError.
ExecArguments parse_exec_arguments(const std::vector<std::string>&);

}  // namespace sextant
