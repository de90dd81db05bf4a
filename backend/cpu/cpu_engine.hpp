// The engine of a rank that computes on cores.
#pragma once

#include "backend/exec/memory_pool.hpp"
#include "backend/rank/rank_engine.hpp"

namespace sextant {

// Throws BackendError where the cores of this machine cannot run so many threads at once.
std::unique_ptr<ComputeDevice> make_cpu_device(int threads, MemorySource = host_memory());

class CpuEngine final : public RankEngine {
public:
    [[nodiscard]] std::string name() const override { return "cpu"; }
    [[nodiscard]] Abilities abilities() const override { return {}; }
    void check_machine() const override {}
    [[nodiscard]] SharedMemory memory(const MpiWorld&) const override;
    [[nodiscard]] std::unique_ptr<ComputeDevice> make_device(const MpiWorld&, const Job&, int threads) const override;
    [[nodiscard]] std::unique_ptr<Transport> make_transport(const MpiWorld&, const Job&, ComputeDevice&) const override;
    [[nodiscard]] std::vector<LibraryVersion> libraries(ComputeDevice&) const override;
    [[nodiscard]] ProcessorFacts processor() const override;
};

}  // namespace sextant
