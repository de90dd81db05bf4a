#include "backend/cuda/gpu.hpp"

#include "backend/cuda/check.hpp"
#include "model/base/diagnostics.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <system_error>
#include <utility>

namespace sextant::cuda {
namespace {

// The first readings of the two clocks wake the GPU up.
constexpr int clock_readings = 4;

constexpr std::int64_t copied_bytes = std::int64_t{256} << 20;
constexpr int copies = 5;  // of which the fastest counts

int attribute(cudaDeviceAttr which, int gpu) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, gpu), "cudaDeviceGetAttribute");
    return value;
}

// False: there is no room. Anything else that goes wrong, such as in a kernel before, is said as what it is.
bool is_granted(cudaError_t code, const char* call) {
    if (code == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();  // it is not to be found by whoever asks next
        return false;
    }
    check(code, call);
    return true;
}

Bandwidth speed_of_copies(int gpu) {
    const WorkStream stream(gpu);
    Marks marks(gpu, stream);
    const auto room = [](const MemorySource& source) {
        void* memory = source.allocate(copied_bytes);
        check(memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess, "the room for a copy");
        return std::shared_ptr<void>(memory, source.release);
    };
    const std::shared_ptr<void> from = room(pinned_memory(gpu)), to = room(gpu_memory(gpu, nullptr));
    Bandwidth fastest;
    for (int i = 0; i < copies; ++i) {
        const Mark begin = marks.make();
        check(cudaMemcpyAsync(to.get(), from.get(), static_cast<std::size_t>(copied_bytes), cudaMemcpyHostToDevice, stream.get()),
              "cudaMemcpyAsync");
        const Mark end = marks.make();
        stream.wait();
        fastest = max(fastest, static_cast<double>(copied_bytes) * units::B / (marks.time_of(end) - marks.time_of(begin)));
    }
    return fastest;
}

}  // namespace

int gpu_count() {
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaSuccess && count > 0) return count;
    (void)cudaGetLastError();
    throw BackendError("no CUDA device: " + std::string(cudaGetErrorString(code == cudaSuccess ? cudaErrorNoDevice : code)) +
                       " (nvidia-smi shows the GPUs and the driver)");
}

int gpu_files() {
    std::error_code none;
    const std::filesystem::directory_iterator files("/dev", none);
    return static_cast<int>(std::ranges::count_if(files, [](const auto& file) {
        const std::string name = file.path().filename().string();  // "nvidia0"
        return name.starts_with("nvidia") && name.size() > 6 &&
               std::ranges::all_of(name.substr(6), [](unsigned char c) { return std::isdigit(c); });
    }));
}

GpuFacts facts_of(int number) {
    GpuFacts f;
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, number), "cudaGetDeviceProperties");
    f.name = properties.name;
    f.capability = 10 * properties.major + properties.minor;
    std::array<char, 32> bus{};
    check(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), number), "cudaDeviceGetPCIBusId");
    f.bus = bus.data();
    f.clock = attribute(cudaDevAttrClockRate, number) * 1e3 * units::Hz;
    use(number);
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    f.free_bytes = static_cast<std::int64_t>(free);
    return f;
}

DeviceFacts described(int number) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, number), "cudaGetDeviceProperties");
    DeviceFacts d;
    d.name = properties.name;
    d.compute_capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
    d.multiprocessors = properties.multiProcessorCount;
    d.clock = attribute(cudaDevAttrClockRate, number) * 1e3 * units::Hz;
    d.memory = static_cast<double>(properties.totalGlobalMem) * units::B;
    d.l2 = properties.l2CacheSize * units::B;
    // Twice a clock, so many bits.
    const double bits = 2.0 * attribute(cudaDevAttrMemoryClockRate, number) * 1e3 * attribute(cudaDevAttrGlobalMemoryBusWidth, number);
    d.memory_bandwidth = bits / 8 * units::B / units::s;
    d.copies = speed_of_copies(number);
    return d;
}

bool reads_pages_of_host(int number) { return attribute(cudaDevAttrPageableMemoryAccess, number) != 0; }

void use(int gpu) { check(cudaSetDevice(gpu), "cudaSetDevice"); }

WorkStream::WorkStream(int gpu) {
    use(gpu);
    cudaStream_t made = nullptr;
    check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    stream_.reset(made, [](cudaStream_t s) { cudaStreamDestroy(s); });
}

void WorkStream::wait() const { check(cudaStreamSynchronize(get()), "cudaStreamSynchronize"); }

Event make_event(Timing timing) {
    cudaEvent_t made = nullptr;
    check(cudaEventCreateWithFlags(&made, timing == Timing::on ? cudaEventDefault : cudaEventDisableTiming), "cudaEventCreateWithFlags");
    return {made, [](cudaEvent_t e) { cudaEventDestroy(e); }};
}

Marks::Marks(int gpu, WorkStream stream) : gpu_(gpu), stream_(std::move(stream)) {
    use(gpu);
    base_ = make_event(Timing::on);
    begin();
}

void Marks::begin() {
    stream_.wait();
    for (int i = 0; i < clock_readings; ++i) {
        const Seconds before = now();
        check(cudaEventRecord(base_.get(), stream_.get()), "cudaEventRecord");
        check(cudaEventSynchronize(base_.get()), "cudaEventSynchronize");
        base_at_ = 0.5 * (before + now());
    }
    const std::lock_guard lock(mutex_);
    next_ = 0;
}

Mark Marks::make() {
    use(gpu_);
    const std::lock_guard lock(mutex_);
    if (next_ == events_.size()) events_.push_back(make_event(Timing::on));
    cudaEvent_t event = events_[next_++].get();
    check(cudaEventRecord(event, stream_.get()), "cudaEventRecord");
    return {{}, event};
}

bool Marks::reached(const Mark& m) {
    if (m.event == nullptr) return true;
    const cudaError_t state = cudaEventQuery(static_cast<cudaEvent_t>(m.event));
    if (state == cudaErrorNotReady) return false;
    check(state, "cudaEventQuery");
    return true;
}

Seconds Marks::time_of(const Mark& m) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, base_.get(), static_cast<cudaEvent_t>(m.event)), "cudaEventElapsedTime");
    return base_at_ + static_cast<double>(milliseconds) * units::ms;
}

// cudaMalloc and cudaFree wait for all that goes on in the GPU. Here memory comes and goes in the order of a stream that has nothing else
// to do; what goes waits there for the work that may still use it.
MemorySource gpu_memory(int gpu, const std::shared_ptr<Marks>& marks) {
    const WorkStream driver(gpu);
    const auto mark = [marks]() -> Mark {
        try {
            return marks == nullptr ? Mark{} : marks->make();
        } catch (const BackendError&) {  // whoever asks next hears of it; memory that comes back is no place for it
            return {};
        }
    };
    return {.alignment = 256,
            .allocate = [gpu, driver](std::int64_t bytes) -> void* {
                use(gpu);
                void* memory = nullptr;
                if (!is_granted(cudaMallocAsync(&memory, static_cast<std::size_t>(bytes), driver.get()), "cudaMallocAsync")) return nullptr;
                driver.wait();  // it is there for every stream
                return memory;
            },
            .release =
                [driver, mark](void* memory) {
                    if (void* event = mark().event) cudaStreamWaitEvent(driver.get(), static_cast<cudaEvent_t>(event), 0);
                    cudaFreeAsync(memory, driver.get());
                },
            .mark = mark,
            .reached =
                [gpu](const Mark& m) {
                    use(gpu);
                    return Marks::reached(m);
                },
            .repeats = true};
}

MemorySource pinned_memory(int gpu) {
    return {.alignment = 4096,
            .allocate = [gpu](std::int64_t bytes) -> void* {
                use(gpu);
                void* memory = nullptr;
                const cudaError_t code = cudaMallocHost(&memory, static_cast<std::size_t>(bytes));
                return is_granted(code, "cudaMallocHost") ? memory : nullptr;
            },
            .release = [](void* memory) { cudaFreeHost(memory); }};
}

}  // namespace sextant::cuda
