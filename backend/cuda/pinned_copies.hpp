// Copies between a GPU and pinned memory of its host, on a stream of their own. Internal to backend/cuda.
#pragma once

#include "backend/cuda/gpu.hpp"
#include "backend/exec/staged_transport.hpp"

#include <vector>

namespace sextant::cuda {

class PinnedCopies final : public StagingCopies {
public:
    explicit PinnedCopies(int gpu) : gpu_(gpu), stream_(gpu) {}

    [[nodiscard]] MemorySource host_memory() const override { return pinned_memory(gpu_); }
    Mark begin(const Array& from, const Array& to, bool to_device) override;
    bool ended(const Mark&) override;

private:
    int gpu_;
    WorkStream stream_;
    std::vector<Event> events_;      // owns all events
    std::vector<cudaEvent_t> idle_;  // those that no copy uses
};

}  // namespace sextant::cuda
