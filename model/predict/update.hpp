// The update of weights at the end of a step, on the device or, of what is offloaded, in host memory. Internal to predict.
#pragma once

#include "model/predict/state.hpp"

namespace sextant {

// What all devices of a node do at once: copies over the link of each, and what the host reads and writes for each.
Seconds host_copy_time(const Prepared::State&, Bytes over_link, Bytes in_host_memory, const Resources&);
// So many gradients that a rank owns, behind their reduction.
Seconds gradient_copy_time(const Prepared::State&, double gradients, StepEnds, const Resources&);
// Optimizer offload: the update of what a rank owns in host memory with its copies.
Seconds offloaded_update_time(const Prepared::State&, std::size_t stage, const Resources&);

// What a stage does when its gradients are there: on the device, and in host memory with copies. The host's time to launch the former
// passes beside the device's, and before, as far as it is ahead.
struct UpdateTime {
    Seconds device, launches, host;
    Bytes tied;  // of gradients of a matrix that the other end of the pipeline has too: summed before
    [[nodiscard]] Seconds total() const { return device + host; }
};
UpdateTime update_time(const Prepared::State&, std::size_t stage, const Resources&);
// Of that sum, which nothing hides (Megatron-LM, finalize_model_grads.py, _allreduce_word_embedding_grads).
Seconds tied_sum_time(const Prepared::State&, const UpdateTime&, const Resources&);

// Of the gradients of all these parameters, on their way into the buckets of a step's exchanges and out again.
Bytes bucket_traffic(const Prepared::State&, const StageParameters&);

}  // namespace sextant
