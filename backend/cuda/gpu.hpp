// One GPU as a rank uses it: a stream of work, marks in it, and memory. Internal to backend/cuda. All of this throws BackendError where
// CUDA refuses.
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

// The number of GPUs, at least one. Throws BackendError with the driver's reason where there is none, or where the driver is missing or too
// old.
int gpu_count();
// The number of GPUs that this process may open, without initializing CUDA.
int gpu_files();

struct GpuFacts {
    std::string name, bus;        // "NVIDIA H200", "0000:1b:00.0"
    int capability = 0;           // 90: sm_90
    std::int64_t free_bytes = 0;  // now
    Frequency clock;
};
// `number`: of the GPU among those that this process sees, as everywhere here.
GpuFacts facts_of(int number);

// Whether the GPU can read any memory of the host directly, without a copy by the driver, as in a GH200 or with Linux's HMM.
bool reads_pages_of_host(int number);

// The facts with which a calibration begins. Measures copies to the GPU for some milliseconds.
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

// An event in a stream, destroyed with its last user.
using Event = std::shared_ptr<CUevent_st>;
enum class Timing { on, off };
Event make_event(Timing);

// Marks in a stream, and when they were reached, by the clock of this process. Any thread may make a mark or ask about one.
class Marks {
public:
    Marks(int gpu, WorkStream);

    // Waits for the stream, and compares the GPU's clock with that of this process. Earlier marks become invalid.
    void begin();
    Mark make();
    [[nodiscard]] static bool reached(const Mark&);
    // Of a mark that has been reached.
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

// Memory of the GPU, which may be released while its stream still uses it, and pinned memory of the host. Where there is no room,
// allocate() returns null.
MemorySource gpu_memory(int gpu, const std::shared_ptr<Marks>&);
MemorySource pinned_memory(int gpu);

// Selects the GPU of the calling thread, as CUDA wants of every thread.
void use(int gpu);

}  // namespace sextant::cuda
