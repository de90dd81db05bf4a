#include "backend/cuda/pinned_copies.hpp"

#include "backend/cuda/check.hpp"

namespace sextant::cuda {

Mark PinnedCopies::begin(const Array& from, const Array& to, bool to_device) {
    use(gpu_);
    if (idle_.empty()) idle_.push_back(events_.emplace_back(make_event(Timing::off)).get());
    cudaEvent_t event = idle_.back();
    idle_.pop_back();
    check(cudaMemcpyAsync(to.memory.get(), from.memory.get(), static_cast<std::size_t>(to.bytes()),
                          to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream_.get()),
          "cudaMemcpyAsync");
    check(cudaEventRecord(event, stream_.get()), "cudaEventRecord");
    return {{}, event};
}

bool PinnedCopies::ended(const Mark& m) {
    if (!Marks::reached(m)) return false;
    idle_.push_back(static_cast<cudaEvent_t>(m.event));
    return true;
}

}  // namespace sextant::cuda
