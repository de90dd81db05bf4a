// Products of matrices by cuBLASLt. Internal to backend/cuda.
#pragma once

#include "backend/kernels/column_major.hpp"

#include <cublasLt.h>

#include <array>
#include <map>
#include <memory>

namespace sextant::cuda {

class Products {
public:
    Products(cudaStream_t, bool tf32);

    // The library's first choice for a shape is asked for once. `workspace`: room that it may use.
    void multiply(const kernels::ColumnMajor&, void* workspace, std::size_t workspace_bytes);

private:
    using Key = std::array<std::int64_t, 17>;

    cudaStream_t stream_;
    cublasComputeType_t compute_;  // of fp32
    std::shared_ptr<cublasLtContext> library_;
    std::map<Key, cublasLtMatmulAlgo_t> chosen_;
};

}  // namespace sextant::cuda
