// A handle of cuDNN on a stream, and what all uses of cuDNN share. Internal to backend/cuda.
#pragma once

#include "backend/exec/array.hpp"

#include <cudnn.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace sextant::cuda {

// Destroyed with its last user.
using CudnnLibrary = std::shared_ptr<cudnnContext>;
// Throws BackendError where cuDNN cannot be initialized.
CudnnLibrary cudnn_on(cudaStream_t);

// Makes an array of so many fp32 numbers, which is valid until it is released.
using Scratch = std::function<Array(std::int64_t reals)>;
constexpr std::size_t most_workspace_bytes = std::size_t{1} << 30;  // that an engine may ask for: our choice
inline Array room_for(std::size_t bytes, const Scratch& scratch) { return scratch(static_cast<std::int64_t>((bytes + 3) / 4)); }

constexpr cudnnDataType_t cudnn_type(Element e) {
    return e == Element::bf16 ? CUDNN_DATA_BFLOAT16 : e == Element::fp16 ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
}

}  // namespace sextant::cuda
