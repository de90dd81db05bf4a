// One GPU as a rank uses it: a stream of work, instants in it, memory, and copies beside it. Internal to backend/cuda.
#pragma once

#include "backend/exec/memory_pool.hpp"
#include "model/hardware/device_facts.hpp"

#include <cuda_runtime.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace sextant::cuda {

// How many there are: at least one. Throws the driver's reason where it finds none, or is itself not found or too old.
int gpu_count();
// The same, without waking CUDA up: those that this process may open.
int gpu_files();

struct GpuFacts {
    std::string name, bus;        // "NVIDIA H200", "0000:1b:00.0"
    int capability = 0;           // 90: sm_90
    std::int64_t free_bytes = 0;  // now
    Frequency clock;
};
GpuFacts facts_of(int number);

// Whether it finds its way to any memory of the host, which the driver then need not copy first: as in a GH200, or with Linux's HMM.
bool reads_pages_of_host(int number);

// What a calibration begins with. Copies to it for some milliseconds.
DeviceFacts described(int number);

// A stream, destroyed with its last user. Operations on the default stream do not wait for it.
class WorkStream {
public:
    explicit WorkStream(int gpu);
    [[nodiscard]] cudaStream_t get() const { return stream_.get(); }
    void wait() const;

private:
    std::shared_ptr<CUstream_st> stream_;
};

// An instant in a stream, destroyed with its last user.
using Event = std::shared_ptr<CUevent_st>;
enum class Timing { on, off };
Event make_event(Timing);

// Instants in a stream, and when they were, by the clock of this process. The thread that works on the stream makes most of them; any may
// make or ask for one.
class Marks {
public:
    Marks(int gpu, WorkStream);

    // Waits for the stream, and sets the two clocks. Marks made before are void.
    void begin();
    Mark make();
    [[nodiscard]] static bool reached(const Mark&);
    [[nodiscard]] Seconds time_of(const Mark&) const;

private:
    int gpu_;
    WorkStream stream_;
    Event base_;
    Seconds base_at_;
    std::mutex mutex_;
    std::vector<Event> events_;
    std::size_t next_ = 0;
};

// Memory of the GPU, which comes back while its stream may still use it; and of the host, from which it copies without waiting.
MemorySource gpu_memory(int gpu, const std::shared_ptr<Marks>&);
MemorySource pinned_memory(int gpu);

// CUDA asks of every thread which GPU it means.
void use(int gpu);

}  // namespace sextant::cuda
