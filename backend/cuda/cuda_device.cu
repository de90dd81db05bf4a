#include "backend/cuda/check.hpp"
#include "backend/cuda/convolutions.hpp"
#include "backend/cuda/cuda_device.hpp"
#include "backend/cuda/fused_attention.hpp"
#include "backend/cuda/gpu.hpp"
#include "backend/cuda/products.hpp"
#include "backend/kernels/kernel_device.hpp"

#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <string>

namespace sextant::cuda {
namespace {

constexpr int warp = 32, block = 256, most_warps = 32;
constexpr std::int64_t most_blocks = 1 << 20, most_block_rows = 65535;  // along the second extent of a grid

// The threads of a block. Functions of rows are compiled for the host too, where these lanes are never met.
struct BlockLanes {
    [[nodiscard]] SEXTANT_KERNEL std::int64_t first() const {
#ifdef __CUDA_ARCH__
        return threadIdx.x;
#else
        return 0;
#endif
    }
    [[nodiscard]] SEXTANT_KERNEL std::int64_t step() const {
#ifdef __CUDA_ARCH__
        return blockDim.x;
#else
        return 1;
#endif
    }
    template <class Value>
    SEXTANT_KERNEL Value sum(Value mine) const {
        return reduce(mine, Sum{});
    }
    template <class Value>
    SEXTANT_KERNEL Value max(Value mine) const {
        return reduce(mine, Largest{});
    }

private:
    struct Sum {
        template <class Value>
        SEXTANT_KERNEL Value operator()(Value a, Value b) const {
            return a + b;
        }
    };
    struct Largest {
        template <class Value>
        SEXTANT_KERNEL Value operator()(Value a, Value b) const {
            return a < b ? b : a;
        }
    };
    // In the same order every time: within warps, then over them.
    template <class Value, class Combine>
    SEXTANT_KERNEL Value reduce(Value mine, const Combine& combine) const {
#ifdef __CUDA_ARCH__
        __shared__ Value parts[most_warps];
        for (int away = warp / 2; away > 0; away /= 2) mine = combine(mine, __shfl_xor_sync(0xffffffffU, mine, away));
        __syncthreads();  // somebody may still read the parts of the reduction before
        if (threadIdx.x % warp == 0) parts[threadIdx.x / warp] = mine;
        __syncthreads();
        mine = parts[0];
        for (unsigned w = 1; w < blockDim.x / warp; ++w) mine = combine(mine, parts[w]);
#endif
        return mine;
    }
};

template <class Function>
__global__ void run_elements(std::int64_t count, Function f) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) f(i);
}

template <class Function>
__global__ void run_matrix(std::int64_t rows, std::int64_t columns, Function f) {
    const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * blockDim.y;
    for (std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y; row < rows; row += step) f(row, column);
}

template <class Function>
__global__ void run_rows(std::int64_t count, Function f) {
    for (std::int64_t row = blockIdx.x; row < count; row += gridDim.x) f(BlockLanes{}, row);
}

// The least power of two that is not less, between two of them.
int threads_for(std::int64_t width, int least, int most) {
    int threads = least;
    while (threads < width && threads < most) threads *= 2;
    return threads;
}

class CudaMachine {
public:
    CudaMachine(int gpu, bool tf32)
        : gpu_(gpu),
          stream_(gpu),
          marks_(std::make_shared<Marks>(gpu, stream_)),
          memory_(gpu_memory(gpu, marks_)),
          products_(stream_.get(), tf32),
          cudnn_(cudnn_on(stream_.get())),
          convolutions_(cudnn_, tf32, [this](std::int64_t reals) { return scratch(reals); }),
          fused_attention_(cudnn_, [this](std::int64_t reals) { return scratch(reals); }),
          workspace_(std::shared_ptr<void>(gpu_memory(gpu, marks_).allocate(workspace_bytes), cudaFree)) {}
    ~CudaMachine() { cudaStreamSynchronize(stream_.get()); }

    MemoryPool& memory() { return memory_; }
    [[nodiscard]] const MemoryPool& memory() const { return memory_; }
    Array scratch(std::int64_t count, Element element = Element::real) { return {memory_.take(count * bytes_of(element)), count, element}; }

    // From memory that is not pinned the call returns once the bytes are taken.
    void upload(const void* from, void* to, std::int64_t bytes) { transfer(from, to, bytes, cudaMemcpyHostToDevice); }
    void download(const void* from, void* to, std::int64_t bytes) {
        transfer(from, to, bytes, cudaMemcpyDeviceToHost);
        finish();
    }
    template <class Value>
    void copy(const Value* from, Value* to, std::int64_t count) {
        transfer(from, to, count * static_cast<std::int64_t>(sizeof(Value)), cudaMemcpyDeviceToDevice);
    }
    template <class Value>
    void clear(Value* to, std::int64_t count) {
        check(cudaMemsetAsync(to, 0, static_cast<std::size_t>(count) * sizeof(Value), stream_.get()), "cudaMemsetAsync");
    }

    template <class Function>
    void elements(std::int64_t count, const Function& f) {
        if (count == 0) return;
        run_elements<<<static_cast<unsigned>(std::min(most_blocks, (count + block - 1) / block)), block, 0, stream_.get()>>>(count, f);
        check(cudaGetLastError(), "the launch of a kernel");
    }
    template <class Function>
    void matrix(std::int64_t rows, std::int64_t columns, const Function& f) {
        if (rows == 0 || columns == 0) return;
        const int wide = threads_for(columns, 1, block), high = block / wide;
        const dim3 grid(static_cast<unsigned>((columns + wide - 1) / wide),
                        static_cast<unsigned>(std::min(most_block_rows, (rows + high - 1) / high)));
        run_matrix<<<grid, dim3(static_cast<unsigned>(wide), static_cast<unsigned>(high)), 0, stream_.get()>>>(rows, columns, f);
        check(cudaGetLastError(), "the launch of a kernel");
    }
    // About four elements of a row for each thread.
    template <class Function>
    void rows(std::int64_t count, std::int64_t width, const Function& f) {
        if (count == 0) return;
        const int threads = threads_for(width / 4, warp, 2 * block);
        run_rows<<<static_cast<unsigned>(std::min(most_blocks, count)), static_cast<unsigned>(threads), 0, stream_.get()>>>(count, f);
        check(cudaGetLastError(), "the launch of a kernel");
    }

    void multiply(const kernels::Product& p) {
        products_.multiply(kernels::column_major(p), workspace_.get(), workspace_ ? static_cast<std::size_t>(workspace_bytes) : 0);
    }
    void convolve(const kernels::ConvolutionShape& s, const void* x, const void* filter, void* y) {
        convolutions_.convolve(s, x, filter, y);
    }
    void convolve_back(const kernels::ConvolutionShape& s, const void* filter, const void* dy, void* dx) {
        convolutions_.convolve_back(s, filter, dy, dx);
    }
    void filter_gradient(const kernels::ConvolutionShape& s, const void* x, const void* dy, void* d_filter) {
        convolutions_.filter_gradient(s, x, dy, d_filter);
    }
    [[nodiscard]] std::string fused_attention() const { return fused_attention_.passes(); }
    bool attend(const Attention& a, const OperatorCall& c) { return fused_attention_.forward(a, c); }
    bool attend_back(const Attention& a, const OperatorCall& c) { return fused_attention_.backward(a, c); }

    void begin_step() { marks_->begin(); }
    Mark mark() { return marks_->make(); }
    bool reached(const Mark& m) {
        use(gpu_);  // a thread that never said so would wake another GPU up
        return Marks::reached(m);
    }
    Seconds time_of(const Mark& m) { return marks_->time_of(m); }
    void finish() { stream_.wait(); }
    void enter(const std::function<std::string()>& name) { nvtxRangePushA(name().c_str()); }
    void leave() { nvtxRangePop(); }

private:
    static constexpr std::int64_t workspace_bytes = 32 << 20;  // what NVIDIA advises for its largest GPUs

    void transfer(const void* from, void* to, std::int64_t bytes, cudaMemcpyKind kind) {
        check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), kind, stream_.get()), "cudaMemcpyAsync");
    }

    int gpu_;
    WorkStream stream_;
    std::shared_ptr<Marks> marks_;
    MemoryPool memory_;
    Products products_;
    CudnnLibrary cudnn_;
    Convolutions convolutions_;
    FusedAttention fused_attention_;
    std::shared_ptr<void> workspace_;  // no array of the job: it does not count as one
};

}  // namespace

std::unique_ptr<ComputeDevice> make_device(int gpu, bool tf32) {
    use(gpu);
    return std::make_unique<kernels::KernelDevice<CudaMachine>>(gpu, tf32);
}

std::string fused_attention(ComputeDevice& device) {
    return static_cast<kernels::KernelDevice<CudaMachine>&>(device).machine().fused_attention();
}

}  // namespace sextant::cuda
