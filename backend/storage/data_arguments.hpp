// The arguments of sextant-data. People call `sextant data`, which explains itself.
#pragma once

#include "backend/storage/bench.hpp"
#include "backend/storage/make_dataset.hpp"

#include <variant>

namespace sextant {

struct DataArguments {
    std::variant<MakeSettings, ConvertSettings, BenchSettings> task;
    bool json = false;  // of a bench
};

// Throws InputError.
DataArguments parse_data_arguments(const std::vector<std::string>&);

}  // namespace sextant
