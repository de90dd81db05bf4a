// The arguments of sextant-data. People call `sextant data`, which explains itself.
#pragma once

#include "backend/storage/bench.hpp"
#include "backend/storage/make_dataset.hpp"

#include <variant>

namespace sextant {

// Of a directory, which is measured, or of a file, which fio wrote.
struct ProbeTask {
    std::filesystem::path of, out;  // out: the profile
    std::string name, source;       // of the class, and of its numbers; name: the path unless given
};

// What a thread of this host does with samples, from files in a folder.
struct SpeedsTask {
    std::filesystem::path in, out;
    std::string source;
};

struct DataArguments {
    std::variant<MakeSettings, ConvertSettings, BenchSettings, ProbeTask, SpeedsTask> task;
    bool json = false;  // of a bench
};

// Throws InputError.
DataArguments parse_data_arguments(const std::vector<std::string>&);

}  // namespace sextant
