// What the targets dataset_*.cpp share.
#pragma once

#include "backend/storage/formats.hpp"

#include <string_view>

namespace sextant::fuzz {

// A file as a dataset of this format: opened, and its first samples read and decoded.
void read_as(const DatasetFormat&, std::string_view input);

}  // namespace sextant::fuzz
