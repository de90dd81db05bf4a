#include "backend/cpu/cpu_engine.hpp"

#include "backend/cpu/cpu_device.hpp"
#include "backend/exec/memory_check.hpp"
#include "backend/rank/mpi_transport.hpp"
#include "model/base/diagnostics.hpp"
#include "model/base/parse_number.hpp"
#include "model/io/profile/processor_info.hpp"

#include <sched.h>

#include <algorithm>

namespace sextant {
namespace {

constexpr int threads_of_core = 8;  // with more, a step that is divided among them all takes minutes

}  // namespace

std::unique_ptr<ComputeDevice> make_cpu_device(int threads, MemorySource memory) {
    const int cores = usable_cores();
    if (threads > threads_of_core * cores)
        throw BackendError(std::to_string(threads) + " threads on " + std::to_string(cores) +
                           " cores would wait for each other: --threads with fewer, as many as there are cores for each rank");
    return std::make_unique<CpuDevice>(threads, std::move(memory));
}

SharedMemory CpuEngine::memory(const MpiWorld& world) const { return {world.host(), available_memory()}; }

std::unique_ptr<ComputeDevice> CpuEngine::make_device(const MpiWorld&, const Job&, int threads) const { return make_cpu_device(threads); }

std::unique_ptr<Transport> CpuEngine::make_transport(const MpiWorld& world, const Job& job, ComputeDevice&) const {
    return std::make_unique<MpiTransport>(job.graph, world.rank());
}

std::vector<LibraryVersion> CpuEngine::libraries(ComputeDevice&) const { return {{"oneDNN", CpuDevice::library_version()}}; }

ProcessorFacts CpuEngine::processor() const {
    const int core = std::max(0, sched_getcpu());
    const double mhz = parse_number<double>(processor_fact("cpu MHz", core)).value_or(0);
    return {processor_fact("model name", core), mhz > 0 ? std::optional(Frequency::from_si(mhz * 1e6)) : std::nullopt};
}

}  // namespace sextant
