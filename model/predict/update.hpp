// The update of weights at the end of a step: on the device, or in host memory for what is offloaded. Internal to predict.
#pragma once

#include "model/predict/state.hpp"

namespace sextant {

// A copy that all devices of a node make at the same time: the bytes over the link of each, and those
// that the host reads and writes for each.
Seconds host_copy_time(const Prepared::State&, Bytes over_link, Bytes in_host_memory, const Resources&);
// The copy of this many gradients to or from the host, once they are reduced.
Seconds gradient_copy_time(const Prepared::State&, double gradients, StepEnds, const Resources&);
// Optimizer offload: the update, in host memory, of what a rank owns, copies included.
Seconds offloaded_update_time(const Prepared::State&, std::size_t stage, const Resources&);

// What a stage does once its gradients are there: on the device, and in host memory with copies. The host launches the kernels of the
// update (`launches`) while the device works, or earlier, as far as it is ahead.
struct UpdateTime {
    Seconds device, launches, host;
    Bytes tied;  // gradients of a matrix that the other end of the pipeline has too, which are summed first
    [[nodiscard]] Seconds total() const { return device + host; }
};
UpdateTime update_time(const Prepared::State&, std::size_t stage, const Resources&);
// The time of that sum, which nothing hides (Megatron-LM, finalize_model_grads.py, _allreduce_word_embedding_grads).
Seconds tied_sum_time(const Prepared::State&, const UpdateTime&, const Resources&);

// The part of an update that is products of Muon's matrices. Ranks that share states have some of the matrices each, none less than one.
UpdateTime orthogonalization_time(const Prepared::State&, std::size_t stage, const Resources&);
// Launches of an update for each tensor of parameters: the optimizer's own, else the framework's.
double update_kernels_per_tensor(const Prepared::State&);
// Memory traffic of the gradients of these parameters on their way into the buckets of a step's exchanges and out again.
Bytes bucket_traffic(const Prepared::State&, const StageParameters&);

}  // namespace sextant
