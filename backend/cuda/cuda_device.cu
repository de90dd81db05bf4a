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
constexpr std::int64_t most_blocks = 1 << 20;
// A thread asks memory for so many elements before it waits for the first of them: with fewer, what is under way at a time is less than
// the memory of a large GPU can deliver.
constexpr int at_once = 8;
constexpr std::int64_t widest_of_warp = 1024;  // rows: wider ones take a block each

// The threads of a warp. Functions of rows are compiled for the host too, where these lanes and the next are never met.
struct WarpLanes : kernels::Reductions<WarpLanes> {
    [[nodiscard]] SEXTANT_KERNEL std::int64_t first() const {
#ifdef __CUDA_ARCH__
        return threadIdx.x % warp;
#else
        return 0;
#endif
    }
    [[nodiscard]] SEXTANT_KERNEL std::int64_t step() const { return warp; }
    // In the same order every time.
    template <class Value, class Combine>
    SEXTANT_KERNEL Value reduce(Value mine, const Combine& combine) const {
#ifdef __CUDA_ARCH__
        for (int away = warp / 2; away > 0; away /= 2) mine = combine(mine, __shfl_xor_sync(0xffffffffU, mine, away));
#endif
        return mine;
    }
};

// The threads of a block.
struct BlockLanes : kernels::Reductions<BlockLanes> {
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

    // In the same order every time: within warps, then over them.
    template <class Value, class Combine>
    SEXTANT_KERNEL Value reduce(Value mine, const Combine& combine) const {
#ifdef __CUDA_ARCH__
        __shared__ Value parts[most_warps];
        mine = WarpLanes{}.reduce(mine, combine);
        __syncthreads();  // somebody may still read the parts of the reduction before
        if (threadIdx.x % warp == 0) parts[threadIdx.x / warp] = mine;
        __syncthreads();
        mine = parts[0];
        for (unsigned w = 1; w < blockDim.x / warp; ++w) mine = combine(mine, parts[w]);
#endif
        return mine;
    }
};

// f of each `step`-th element from `begin` to before `end`, of a column where there is one.
template <class Function, class... Column>
__device__ void run_some(const Function& f, std::int64_t begin, std::int64_t step, std::int64_t end, Column... column) {
    if constexpr (kernels::in_two_parts<Function, std::int64_t, Column...>)
        if (begin + (at_once - 1) * step < end) {
            decltype(kernels::begin_at(f, begin, column...)) begun[at_once];
#pragma unroll
            for (int k = 0; k < at_once; ++k) begun[k] = kernels::begin_at(f, begin + k * step, column...);
#pragma unroll
            for (int k = 0; k < at_once; ++k) kernels::end_at(f, begun[k], begin + k * step, column...);
            return;
        }
    for (int k = 0; k < at_once; ++k)
        if (const std::int64_t i = begin + k * step; i < end) kernels::run_at(f, i, column...);
}

template <class Function>
__global__ void run_elements(std::int64_t count, Function f) {
    run_some(f, static_cast<std::int64_t>(blockIdx.x) * (at_once * block) + threadIdx.x, block, count);
}

// Blocks lie side by side in strips of columns.
struct Extents {
    std::int64_t rows, columns, strips;

    [[nodiscard]] __device__ std::int64_t column() const { return blockIdx.x % static_cast<unsigned>(strips) * blockDim.x + threadIdx.x; }
    [[nodiscard]] __device__ std::int64_t block_row() const { return blockIdx.x / static_cast<unsigned>(strips); }
};

// A thread has one column, of each `step`-th row of its block: what belongs to the column is read once.
template <class Function>
__global__ void run_matrix(Extents extents, Function f) {
    const std::int64_t column = extents.column(), step = blockDim.y;
    if (column < extents.columns) run_some(f, extents.block_row() * at_once * step + threadIdx.y, step, extents.rows, column);
}

// The rows of a segment, in parts of so many.
struct TotalledParts {
    Extents extents;
    std::int64_t rows, of_segment;
};

// A block sums some columns of a part: every thread some of its rows, then one of them what the others have.
template <class Value, class Term>
__global__ void run_totals(TotalledParts of, Term term, Value* to) {
    alignas(Value) __shared__ std::byte room[block * sizeof(Value)];
    Value* sums = reinterpret_cast<Value*>(room);
    const std::int64_t column = of.extents.column(), part = of.extents.block_row();
    const std::int64_t segment = part / of.of_segment, begin = part % of.of_segment * of.rows;
    const std::int64_t end = begin + of.rows < of.extents.rows ? begin + of.rows : of.extents.rows;
    Value sum{};
    if (column < of.extents.columns) {
#pragma unroll 8
        for (std::int64_t row = begin + threadIdx.y; row < end; row += blockDim.y) sum += term(segment, row, column);
    }
    sums[threadIdx.y * blockDim.x + threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || column >= of.extents.columns) return;
    for (unsigned other = 1; other < blockDim.y; ++other) sum += sums[other * blockDim.x + threadIdx.x];
    to[part * of.extents.columns + column] = sum;
}

template <class Function>
__global__ void run_rows(std::int64_t count, Function f) {
    for (std::int64_t row = blockIdx.x; row < count; row += gridDim.x) f(BlockLanes{}, row);
}

template <class Function>
__global__ void run_narrow_rows(std::int64_t count, Function f) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * (block / warp) + threadIdx.x / warp;
    if (row < count) f(WarpLanes{}, row);
}

// The smallest power of two that is at least `width`, from `least` to `most`, which are powers of two.
int threads_for(std::int64_t width, int least, int most) {
    int threads = least;
    while (threads < width && threads < most) threads *= 2;
    return threads;
}

using kernels::ceil_div;

class CudaMachine {
public:
    CudaMachine(int gpu, bool tf32, bool captures)
        : gpu_(gpu),
          stream_(gpu),
          launches_(std::make_shared<Launches>(GraphStream(gpu, stream_), captures)),
          marks_(std::make_shared<Marks>(gpu, stream_)),
          memory_(memory_behind(launches_, gpu_memory(gpu, marks_))),
          products_(*launches_, stream_.get(), tf32),
          cudnn_(cudnn_on(stream_.get())),
          convolutions_(*launches_, cudnn_, tf32, [this](std::int64_t reals) { return scratch(reals); }),
          fused_attention_(*launches_, cudnn_, [this](std::int64_t reals) { return scratch(reals); }),
          workspace_(std::shared_ptr<void>(gpu_memory(gpu, marks_).allocate(product_workspace_bytes), cudaFree)) {}
    ~CudaMachine() {
        launches_->forget();
        cudaStreamSynchronize(stream_.get());
    }

    MemoryPool& memory() { return memory_; }
    [[nodiscard]] const MemoryPool& memory() const { return memory_; }
    Array scratch(std::int64_t count, Element element = Element::real) { return {memory_.take(count * bytes_of(element)), count, element}; }

    // From memory that is not pinned the call returns once the bytes are taken: unless the GPU reads the host's pages itself.
    void upload(const void* from, void* to, std::int64_t bytes) {
        launches_->flushed([&] { transfer(from, to, bytes, cudaMemcpyHostToDevice); });
        if (reads_pages_) stream_.wait();
    }
    void download(const void* from, void* to, std::int64_t bytes) {
        launches_->flushed([&] { transfer(from, to, bytes, cudaMemcpyDeviceToHost); });
        finish();
    }
    template <class Value>
    void copy(const Value* from, Value* to, std::int64_t count) {
        const auto bytes = count * static_cast<std::int64_t>(sizeof(Value));
        if (count == 0) return;
        launches_->call(
            "cudaMemcpyAsync", [=, this] { transfer(from, to, bytes, cudaMemcpyDeviceToDevice); }, from, to, bytes);
    }
    template <class Value>
    void clear(Value* to, std::int64_t count) {
        const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(Value);
        if (count == 0) return;
        launches_->call(
            "cudaMemsetAsync", [=, this] { check(cudaMemsetAsync(to, 0, bytes, stream_.get()), "cudaMemsetAsync"); }, to, bytes);
    }

    template <class Function>
    void elements(std::int64_t count, const Function& f) {
        if (count == 0) return;
        launch(run_elements<Function>, {ceil_div(count, at_once * block), 1}, {block, 1}, count, f);
    }
    template <class Function>
    void matrix(std::int64_t rows, std::int64_t columns, const Function& f) {
        if (rows == 0 || columns == 0) return;
        const int wide = threads_for(columns, 1, block), high = block / wide;
        const std::int64_t strips = ceil_div(columns, wide);
        launch(run_matrix<Function>, {strips * ceil_div(rows, at_once * high), 1}, {wide, high}, Extents{rows, columns, strips}, f);
    }
    template <class Term, class Value>
    void totals(std::int64_t segments, std::int64_t rows, std::int64_t columns, std::int64_t chunk, const Term& term, Value* to) {
        if (segments == 0 || columns == 0) return;
        const int wide = threads_for(columns, 1, warp), high = block / wide;
        const std::int64_t strips = ceil_div(columns, wide), parts = std::max<std::int64_t>(1, ceil_div(rows, chunk));
        launch(run_totals<Value, Term>, {strips * segments * parts, 1}, {wide, high}, TotalledParts{{rows, columns, strips}, chunk, parts},
               term, to);
    }
    // A warp for each, or a block with a thread for about four elements.
    template <class Function>
    void rows(std::int64_t count, std::int64_t width, const Function& f) {
        if (count == 0) return;
        if (width <= widest_of_warp) return launch(run_narrow_rows<Function>, {ceil_div(count, block / warp), 1}, {block, 1}, count, f);
        const int threads = threads_for(width / 4, warp, 2 * block);
        launch(run_rows<Function>, {std::min(most_blocks, count), 1}, {threads, 1}, count, f);
    }

    void multiply(const kernels::Product& p) {
        products_.multiply(kernels::column_major(p), workspace_.get(), workspace_ ? static_cast<std::size_t>(product_workspace_bytes) : 0);
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
    bool attend(const kernels::AttentionPart& p, const OperatorCall& c) { return fused_attention_.forward(p, c); }
    bool attend_back(const kernels::AttentionPart& p, const OperatorCall& c, const Array& d_keys, const Array& d_values) {
        return fused_attention_.backward(p, c, d_keys, d_values);
    }

    // Graphs that are forgotten must have run.
    void begin_step() {
        launches_->flushed([&] { marks_->begin(); });
        launches_->begin_step();
    }
    Mark mark() {
        return launches_->flushed([&] { return marks_->make(); });
    }
    bool reached(const Mark& m) {
        use(gpu_);  // a thread that never said so would wake another GPU up
        return Marks::reached(m);
    }
    Seconds time_of(const Mark& m) { return marks_->time_of(m); }
    void finish() {
        launches_->flushed([] {});
        stream_.wait();
    }
    void enter(const std::function<std::string()>& name) {
        nvtxRangePushA(name().c_str());
        launches_->enter(name);
    }
    void leave() {
        launches_->leave();
        nvtxRangePop();
    }
    [[nodiscard]] std::optional<kernels::GraphUse> graph_use() const { return launches_->use(); }

private:
    using Extent = std::array<std::int64_t, 2>;

    // Memory that others get, or nobody, may be used by what is noted and not launched yet.
    static MemorySource memory_behind(const std::shared_ptr<Launches>& launches, MemorySource source) {
        source.mark = [launches, mark = source.mark]() -> Mark {
            try {
                return launches->flushed(mark);
            } catch (const BackendError&) {  // as there: whoever asks next hears of it
                return {};
            }
        };
        source.release = [launches, release = source.release](void* memory) { launches->flushed([&] { release(memory); }); };
        return source;
    }
    template <class... Arguments>
    void launch(void (*kernel)(Arguments...), const Extent& blocks, const Extent& threads, const Arguments&... arguments) {
        const auto extent = [](const Extent& e) { return std::array{static_cast<std::uint32_t>(e[0]), static_cast<std::uint32_t>(e[1])}; };
        launches_->kernel({reinterpret_cast<const void*>(kernel), extent(blocks), extent(threads)}, arguments...);
    }
    void transfer(const void* from, void* to, std::int64_t bytes, cudaMemcpyKind kind) {
        check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), kind, stream_.get()), "cudaMemcpyAsync");
    }

    int gpu_;
    bool reads_pages_ = reads_pages_of_host(gpu_);
    WorkStream stream_;
    std::shared_ptr<Launches> launches_;
    std::shared_ptr<Marks> marks_;
    MemoryPool memory_;
    Products products_;
    CudnnLibrary cudnn_;
    Convolutions convolutions_;
    FusedAttention fused_attention_;
    std::shared_ptr<void> workspace_;  // no array of the job: it does not count as one
};

}  // namespace

std::unique_ptr<ComputeDevice> make_device(int gpu, bool tf32, bool captures) {
    use(gpu);
    return std::make_unique<kernels::KernelDevice<CudaMachine>>(gpu, tf32, captures);
}

std::string fused_attention(ComputeDevice& device) {
    return static_cast<kernels::KernelDevice<CudaMachine>&>(device).machine().fused_attention();
}

std::optional<kernels::GraphUse> graph_use(ComputeDevice& device) {
    return static_cast<kernels::KernelDevice<CudaMachine>&>(device).machine().graph_use();
}

}  // namespace sextant::cuda
