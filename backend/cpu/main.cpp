// sextant-exec-cpu: one rank of a job on CPUs.
#include "backend/cpu/cpu_device.hpp"
#include "backend/exec/memory_check.hpp"
#include "backend/rank/mpi_transport.hpp"
#include "backend/rank/rank_process.hpp"
#include "model/base/diagnostics.hpp"
#include "model/base/parse_number.hpp"
#include "model/io/profile/processor_info.hpp"

#include <sched.h>

#include <algorithm>
#include <string>
#include <thread>

namespace sextant {
namespace {

constexpr int threads_of_core = 8;  // with more, a step that is divided among them all takes minutes

class CpuEngine final : public RankEngine {
public:
    [[nodiscard]] std::string name() const override { return "cpu"; }
    [[nodiscard]] Abilities abilities() const override { return {}; }
    void check_machine() const override {}
    [[nodiscard]] SharedMemory memory(const MpiWorld& world) const override { return {world.host(), available_memory()}; }
    [[nodiscard]] std::unique_ptr<ComputeDevice> make_device(const MpiWorld&, const Job&, int threads) const override {
        const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
        if (threads > threads_of_core * cores)
            throw BackendError(std::to_string(threads) + " threads on " + std::to_string(cores) +
                               " cores would wait for each other: --threads with fewer, as many as there are cores for each rank");
        return std::make_unique<CpuDevice>(threads);
    }
    [[nodiscard]] std::unique_ptr<Transport> make_transport(const MpiWorld& world, const Job& job, ComputeDevice&) const override {
        return std::make_unique<MpiTransport>(job.graph, world.rank());
    }
    [[nodiscard]] std::vector<LibraryVersion> libraries(ComputeDevice&) const override {
        return {{"oneDNN", CpuDevice::library_version()}};
    }
    [[nodiscard]] ProcessorFacts processor() const override {
        const int core = std::max(0, sched_getcpu());
        const double mhz = parse_number<double>(processor_fact("cpu MHz", core)).value_or(0);
        return {processor_fact("model name", core), mhz > 0 ? std::optional(Frequency::from_si(mhz * 1e6)) : std::nullopt};
    }
};

}  // namespace
}  // namespace sextant

int main(int argc, char** argv) { return sextant::run_rank(argc, argv, sextant::CpuEngine()); }
