// Products of matrices by cuBLASLt. Internal to backend/cuda.
#pragma once

#include "backend/cuda/graph_stream.hpp"
#include "backend/kernels/column_major.hpp"

#include <cublasLt.h>

#include <array>
#include <map>
#include <memory>

namespace sextant::cuda {

constexpr std::int64_t product_workspace_bytes = 32 << 20;  // what NVIDIA advises for its largest GPUs

class Products {
public:
    Products(Launches&, cudaStream_t, bool tf32);
    ~Products();

    // On the stream. Asks for the library's first choice once for each shape, alignment and type. `workspace`: memory that it may use.
    // Throws BackendError where cuBLASLt cannot multiply such matrices.
    void multiply(const kernels::ColumnMajor&, void* workspace, std::size_t workspace_bytes);

private:
    using Key = std::array<std::int64_t, 19>;
    struct Setup;
    void run(const Key&, const kernels::ColumnMajor&, void* workspace, std::size_t workspace_bytes);

    Launches& launches_;
    cudaStream_t stream_;
    cublasComputeType_t compute_;  // of fp32
    std::shared_ptr<cublasLtContext> library_;
    std::map<Key, std::unique_ptr<Setup>> setups_;
};

}  // namespace sextant::cuda
