// Turns failures of NVIDIA's libraries into BackendErrors that name the call and the reason.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime.h>
#include <cudnn.h>

namespace sextant::cuda {

void check(cudaError_t, const char* call);
void check(cublasStatus_t, const char* call);
void check(cudnnStatus_t, const char* call);

}  // namespace sextant::cuda
