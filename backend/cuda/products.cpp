#include "backend/cuda/products.hpp"

#include "backend/cuda/check.hpp"
#include "model/base/diagnostics.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace sextant::cuda {
namespace {

using kernels::ColumnMajor;
using kernels::Operand;

template <class Handle, cublasStatus_t (*Destroy)(Handle)>
struct Owned {
    Handle handle = nullptr;
    Owned() = default;
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    ~Owned() {
        if (handle != nullptr) Destroy(handle);
    }
};
using Description = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

cudaDataType_t type_of(Element e) { return e == Element::bf16 ? CUDA_R_16BF : e == Element::fp16 ? CUDA_R_16F : CUDA_R_32F; }

struct Layout : Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy> {
    // Rows and columns as they are multiplied; memory holds them the other way round where they are to be transposed.
    Layout(const Operand& x, std::int64_t rows, std::int64_t columns, std::int64_t batch) {
        if (x.transpose) std::swap(rows, columns);
        check(cublasLtMatrixLayoutCreate(&handle, type_of(x.element), static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns),
                                         x.leading),
              "cublasLtMatrixLayoutCreate");
        const auto count = static_cast<std::int32_t>(batch);
        set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count);
        set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, x.stride);
    }

private:
    template <class Value>
    void set(cublasLtMatrixLayoutAttribute_t what, const Value& value) {
        check(cublasLtMatrixLayoutSetAttribute(handle, what, &value, sizeof value), "cublasLtMatrixLayoutSetAttribute");
    }
};

// Bytes that divide an address, as far as the library looks. Parameters lie one behind the other, wherever that may be.
std::uint32_t alignment_of(const void* address) {
    const auto bits = reinterpret_cast<std::uintptr_t>(address);
    return static_cast<std::uint32_t>(std::min<std::uintptr_t>(256, bits & (~bits + 1)));
}

// What is read beside the result, as the result is, begins where it does as far as the library is told.
std::uint32_t alignment_of_result(const ColumnMajor& p) {
    const std::uint32_t own = alignment_of(p.c.data);
    return p.bias == nullptr ? own : std::min(own, alignment_of(p.bias));
}

void set_bias(Description& d, const void* bias) {
    check(cublasLtMatmulDescSetAttribute(d.handle, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias),
          "cublasLtMatmulDescSetAttribute");
}

void describe(Description& d, const ColumnMajor& p, cublasComputeType_t compute) {
    check(cublasLtMatmulDescCreate(&d.handle, compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
    const cublasOperation_t a = p.a.transpose ? CUBLAS_OP_T : CUBLAS_OP_N, b = p.b.transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
    check(cublasLtMatmulDescSetAttribute(d.handle, CUBLASLT_MATMUL_DESC_TRANSA, &a, sizeof a), "cublasLtMatmulDescSetAttribute");
    check(cublasLtMatmulDescSetAttribute(d.handle, CUBLASLT_MATMUL_DESC_TRANSB, &b, sizeof b), "cublasLtMatmulDescSetAttribute");
    if (p.bias == nullptr) return;
    const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    check(cublasLtMatmulDescSetAttribute(d.handle, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue),
          "cublasLtMatmulDescSetAttribute");
    set_bias(d, p.bias);
}

cublasLtMatmulAlgo_t choose(cublasLtHandle_t library, const Description& d, const Layout& a, const Layout& b, const Layout& c,
                            const ColumnMajor& p, std::size_t workspace_bytes) {
    Preference preference;
    check(cublasLtMatmulPreferenceCreate(&preference.handle), "cublasLtMatmulPreferenceCreate");
    const auto set = [&](cublasLtMatmulPreferenceAttributes_t what, const auto& value) {
        check(cublasLtMatmulPreferenceSetAttribute(preference.handle, what, &value, sizeof value), "cublasLtMatmulPreferenceSetAttribute");
    };
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes);
    // Parts of a sum in 16 bits are summed in fp32, as the whole is.
    set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(p.a.data));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(p.b.data));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(p.c.data));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of_result(p));
    cublasLtMatmulHeuristicResult_t result{};
    int found = 0;
    check(cublasLtMatmulAlgoGetHeuristic(library, d.handle, a.handle, b.handle, c.handle, c.handle, preference.handle, 1, &result, &found),
          "cublasLtMatmulAlgoGetHeuristic");
    if (found == 0)
        throw BackendError("cuBLASLt has no way to multiply " + std::to_string(p.m) + " x " + std::to_string(p.k) + " by " +
                           std::to_string(p.k) + " x " + std::to_string(p.n));
    return result.algo;
}

}  // namespace

// What the library is told of products of one key, and the algorithm that it chose. To describe a product takes the host as long as to
// launch it, so this is kept.
struct Products::Setup {
    Description d;
    Layout a, b, c;
    cublasLtMatmulAlgo_t algo;

    Setup(cublasLtHandle_t library, const ColumnMajor& p, cublasComputeType_t compute, std::size_t workspace_bytes)
        : a(p.a, p.m, p.k, p.batch), b(p.b, p.k, p.n, p.batch), c(p.c, p.m, p.n, p.batch) {
        describe(d, p, compute);
        algo = choose(library, d, a, b, c, p, workspace_bytes);
    }
};

Products::~Products() = default;

Products::Products(Launches& launches, cudaStream_t stream, bool tf32)
    : launches_(launches), stream_(stream), compute_(tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F) {
    cublasLtHandle_t made = nullptr;
    check(cublasLtCreate(&made), "cublasLtCreate");
    library_.reset(made, [](cublasLtHandle_t h) { cublasLtDestroy(h); });
}

void Products::multiply(const ColumnMajor& p, void* workspace, std::size_t workspace_bytes) {
    if (p.m == 0 || p.n == 0 || p.batch == 0) return;
    const Key key{p.m,
                  p.n,
                  p.k,
                  p.batch,
                  p.a.transpose,
                  p.b.transpose,
                  p.a.leading,
                  p.b.leading,
                  p.c.leading,
                  p.a.stride,
                  p.b.stride,
                  p.c.stride,
                  alignment_of(p.a.data),
                  alignment_of(p.b.data),
                  alignment_of(p.c.data),
                  alignment_of_result(p),
                  p.bias == nullptr ? 0 : 1,
                  bytes_of(p.c.element),
                  static_cast<std::int64_t>(p.a.element)};
    launches_.call(
        "cublasLtMatmul", [=, this] { run(key, p, workspace, workspace_bytes); }, key, p.a.data, p.b.data, p.c.data, p.scale, p.keep,
        p.bias);
}

void Products::run(const Key& key, const ColumnMajor& p, void* workspace, std::size_t workspace_bytes) {
    std::unique_ptr<Setup>& setup = setups_[key];
    if (setup == nullptr)
        setup = std::make_unique<Setup>(library_.get(), p, p.a.element == Element::real ? compute_ : CUBLAS_COMPUTE_32F, workspace_bytes);
    else if (p.bias != nullptr)
        set_bias(setup->d, p.bias);
    check(cublasLtMatmul(library_.get(), setup->d.handle, &p.scale, p.a.data, setup->a.handle, p.b.data, setup->b.handle, &p.keep, p.c.data,
                         setup->c.handle, p.c.data, setup->c.handle, &setup->algo, workspace, workspace_bytes, stream_),
          "cublasLtMatmul");
}

}  // namespace sextant::cuda
