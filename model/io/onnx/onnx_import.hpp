// An ONNX file as a workload: a chain of layers, with the wiring that the file has.
//
// Networks of convolutions, also transposed ones, dense layers, normalizations, poolings, upsamplings, additions, concatenations and gates
// are read, for inference or for training; the last linear layer becomes the classifier, of each pixel where it is a convolution of images.
// What a chain does not have (local response normalization, channel shuffles) is named in Workload::source. Transformers lie in ONNX
// operation by operation: their config.json says more (hf_import.hpp).
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/workload/workload.hpp"

#include <filesystem>
#include <string_view>

namespace sextant {

// Throws InputError with every problem: a file that is none, operators that no chain has, a network whose layers do not have as many
// parameters as the file.
Workload import_onnx(const std::filesystem::path&);
Workload import_onnx(std::string_view bytes, const std::string& file);

}  // namespace sextant
