#include "backend/cuda/cudnn_library.hpp"

#include "backend/cuda/check.hpp"

namespace sextant::cuda {

CudnnLibrary cudnn_on(cudaStream_t stream) {
    cudnnHandle_t made = nullptr;
    check(cudnnCreate(&made), "cudnnCreate");
    CudnnLibrary library(made, [](cudnnHandle_t h) { cudnnDestroy(h); });
    check(cudnnSetStream(made, stream), "cudnnSetStream");
    return library;
}

}  // namespace sextant::cuda
