// Copies between a GPU and pinned memory of its host, on a stream of their own. Internal to backend/cuda.
#pragma once

#include "backend/cuda/gpu.hpp"
#include "backend/exec/routing.hpp"
#include "backend/exec/staged_transport.hpp"

#include <vector>

namespace sextant::cuda {

class PinnedCopies final : public StagingCopies {
public:
    explicit PinnedCopies(int gpu) : gpu_(gpu), stream_(gpu), memory_(pinned_memory(gpu)) {}

    // Rows for experts are others in every step: in room of a few sizes, which fits again.
    Array on_host(std::int64_t elements, Element element) override {
        return {memory_.take(sextant::room_for(elements) * bytes_of(element)), elements, element};
    }
    Mark begin(const Array& from, const Array& to, bool to_device) override;
    bool ended(const Mark&) override;

private:
    int gpu_;
    WorkStream stream_;
    MemoryPool memory_;
    std::vector<Event> events_;      // all that were made
    std::vector<cudaEvent_t> idle_;  // those that no copy waits for
};

}  // namespace sextant::cuda
