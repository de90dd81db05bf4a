#include "cli/sample_speeds.hpp"

#include "cli/data_program.hpp"
#include "cli/scratch_folder.hpp"
#include "model/base/diagnostics.hpp"
#include "model/io/format/json_reader.hpp"
#include "model/io/profile/profile_reader.hpp"

#include <unistd.h>

namespace sextant {
namespace {

// Where files lie in memory, so that no disk is measured.
std::filesystem::path folder_in_memory() {
    constexpr auto memory = "/dev/shm";
    return ::access(memory, W_OK) == 0 ? std::filesystem::path(memory) : temporary_folder();
}

}  // namespace

SampleSpeeds measured_sample_speeds(const std::string& source) {
    if (!has_data_program()) return {};
    const ScratchFolder scratch(folder_in_memory());
    const std::filesystem::path found = scratch.path() / "speeds.json";
    if (run_data_program({"speeds", scratch.path(), "--out", found, "--source", source}, "measuring samples") != ExitCode::done)
        throw BackendError("what a thread does with samples was not measured");
    Diagnostics problems;
    SampleSpeeds speeds;
    read_sample_speeds(JsonFile::load(found, problems).root(), {}, speeds);
    problems.throw_if_any();
    return speeds;
}

}  // namespace sextant
