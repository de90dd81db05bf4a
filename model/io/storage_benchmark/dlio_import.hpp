// A workload of DLIO, as MLPerf Storage has them (unet3d_h100.yaml), as a benchmark of schema "storage-benchmark/1".
//
// What decides how much is read and written when is taken over, with what DLIO assumes where the file is silent; its notes name what has no
// influence here or is not known. The storage is for the user to add.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace sextant {

// Throws InputError with every problem, "line:column" as its place: no YAML, values of the wrong kind, nothing to predict.
std::string import_dlio(const std::filesystem::path&);
std::string import_dlio(std::string_view yaml, const std::string& file);

}  // namespace sextant
