#include "backend/cuda/check.hpp"

#include "model/base/diagnostics.hpp"

#include <array>
#include <string>

namespace sextant::cuda {
namespace {

[[noreturn]] void refuse(const char* call, const std::string& why) { throw BackendError(std::string(call) + ": " + why); }

}  // namespace

void check(cudaError_t code, const char* call) {
    if (code == cudaErrorMemoryAllocation) refuse(call, "out of memory");
    if (code != cudaSuccess) refuse(call, std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code));
}

void check(cublasStatus_t code, const char* call) {
    if (code != CUBLAS_STATUS_SUCCESS) refuse(call, cublasLtGetStatusString(code));
}

void check(cudnnStatus_t code, const char* call) {
    if (code == CUDNN_STATUS_SUCCESS) return;
    std::array<char, 256> more{};  // "cuLibraryLoadData returned error ..."
    cudnnGetLastErrorString(more.data(), more.size());
    refuse(call, std::string(cudnnGetErrorString(code)) + (more[0] == 0 ? "" : ": ") + more.data());
}

}  // namespace sextant::cuda
