// All of sextant-exec-cuda but NVIDIA's calls: its kernels on the host, late, and exchanges that are copied out and back. A plan with
// graphs has its kernels noted, and run when somebody asks for a mark.
#include "backend/cpu/cpu_engine.hpp"
#include "backend/exec/memory_check.hpp"
#include "backend/rank/mpi_transport.hpp"
#include "backend/rank/rank_process.hpp"
#include "tests/backend/delayed_device.hpp"
#include "tests/backend/host_device.hpp"

namespace sextant {
namespace {

class DelayedEngine final : public RankEngine {
public:
    [[nodiscard]] std::string name() const override { return "delayed"; }
    [[nodiscard]] Abilities abilities() const override { return {.captures = true, .offloads = true}; }
    [[nodiscard]] const RankEngine& of_servers() const override { return servers_; }
    void check_machine() const override {}
    [[nodiscard]] SharedMemory memory(const MpiWorld& world) const override { return {world.host(), available_memory()}; }
    [[nodiscard]] std::unique_ptr<ComputeDevice> make_device(const MpiWorld&, const Job& job, int) const override {
        if (job.scenario.plan.cuda_graph) return std::make_unique<HostDevice>(1, true);
        return std::make_unique<DelayedDevice>(std::make_unique<HostDevice>(1));
    }
    [[nodiscard]] std::unique_ptr<ComputeDevice> make_host(const MpiWorld&, int threads) const override {
        return make_cpu_device(threads, pinned_memory());
    }
    [[nodiscard]] std::unique_ptr<Transport> make_transport(const MpiWorld& world, const Job& job, ComputeDevice&) const override {
        return std::make_unique<StagedTransport>(std::make_unique<MpiTransport>(job.graph, world.rank()),
                                                 std::make_unique<DelayedCopies>());
    }
    [[nodiscard]] std::vector<LibraryVersion> libraries(ComputeDevice& device) const override {
        auto* capturing = dynamic_cast<HostDevice*>(&device);
        if (capturing == nullptr) return {};
        return {{"graphs", to_text(*capturing->machine().graph_use())}};
    }
    [[nodiscard]] ProcessorFacts processor() const override { return {}; }

private:
    CpuEngine servers_;
};

}  // namespace
}  // namespace sextant

int main(int argc, char** argv) { return sextant::run_rank(argc, argv, sextant::DelayedEngine()); }
