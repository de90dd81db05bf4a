// An executor program run on all ranks of a scenario, as a child.
#pragma once

#include "cli/launch.hpp"
#include "cli/scenario_options.hpp"
#include "model/base/failure.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sextant {

// What an executor is asked to do, and where.
struct ExecutorJob {
    ScenarioOptions scenario;
    std::string backend = "cpu";
    int steps = 10;
    std::uint64_t seed = 1;
    std::optional<int> threads;  // of each rank; absent: its share of the cores, no more than its device has
    std::optional<double> learning_rate;
    std::string data;                 // a dataset to train on; empty: samples are made
    std::optional<int> data_workers;  // absent: the executor's usual
    std::string stage, stage_mode;    // a folder of each host for the dataset, and how it gets there; empty: it is read where it is
    std::string bad_samples;          // "fail" or "skip"; empty: the executor's usual
    bool operators = false;           // times of each go to the record
    std::filesystem::path out;        // of the record
    std::string host_file;            // empty: this machine
    std::vector<std::string> launch_options;
    std::string launcher;  // words in place of the usual ones: "srun --partition gpu"; empty: as usual
};

// The executor of a backend. Throws BackendError when it was not built.
std::filesystem::path executor_of(const std::string& backend);

// Throws as executor_of does, and as place() does.
Launch launch_of(const ExecutorJob&, const Scenario&, Launcher);

// Whether the executor accepts the scenario, and, where the ranks run `here`, this machine: `done`, or what it will end with. It says why
// on stderr, once: mpirun would have much to add.
ExitCode ask(const Launch&, bool here);

// Calls `progress` with the steps that are done, and how many there will be: whole walks, of several steps where workers go on without each
// other. The executor says on stderr why it ended otherwise than with `done`; throws BackendError where the machine refused.
ExitCode execute(const Launch&, const std::function<void(std::size_t done, std::size_t steps)>& progress);

}  // namespace sextant
