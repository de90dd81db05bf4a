// Runs an executor program on all ranks of a scenario, as a child process.
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
    std::optional<int> threads;  // of each rank; absent: its share of the cores, at most as many as its device has
    std::optional<double> learning_rate;
    std::string data;                 // a dataset to train on; empty: samples are generated
    std::optional<int> data_workers;  // absent: the executor's default
    std::string stage, stage_mode;    // a folder on each host for the dataset, and how it gets there; empty: it is read where it is
    std::string bad_samples;          // "fail" or "skip"; empty: the executor's default
    bool operators = false;           // record the times of each operator
    std::filesystem::path out;        // file for the record
    std::string host_file;            // empty: this machine
    std::vector<std::string> launch_options;
    std::string launcher;  // a launcher's command: "srun --partition gpu"; empty: the usual one
};

// The path of a backend's executor. Throws BackendError when it was not built.
std::filesystem::path executor_of(const std::string& backend);

// Throws as executor_of does, and as place() does.
Launch launch_of(const ExecutorJob&, const Scenario&, Launcher);

// Asks the executor whether it accepts the scenario, and, where the ranks run `here`, whether it accepts this machine. Returns `done`, or
// the exit code with which a run would end. The executor prints the reason on stderr, without the lines that mpirun would add.
ExitCode ask(const Launch&, bool here);

// Calls `progress` with the number of steps done and the total. Where workers do not wait for each other, several steps are done at once.
// Where the executor ends otherwise than with `done`, it says why on stderr. Throws BackendError where the machine refused.
ExitCode execute(const Launch&, const std::function<void(std::size_t done, std::size_t steps)>& progress);

}  // namespace sextant
