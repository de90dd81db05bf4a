// Each of these throws a BackendError that names the call and the library's reason, unless the call succeeded.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime.h>
#include <cudnn.h>

namespace sextant::cuda {

void check(cudaError_t, const char* call);
void check(cublasStatus_t, const char* call);
void check(cudnnStatus_t, const char* call);

}  // namespace sextant::cuda
