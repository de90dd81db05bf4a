// Settings that a plan may leave to its framework: what the plan states counts, else what the framework does.
#pragma once

#include "model/hardware/device.hpp"
#include "model/plan/framework.hpp"
#include "model/plan/plan.hpp"
#include "model/workload/workload.hpp"

namespace sextant {

inline bool overlaps_gradients(const Plan& p, const Framework& f) { return p.gradient_overlap.value_or(f.overlaps_gradients); }
inline bool overlaps_gathers(const Plan& p, const Framework& f) { return p.gather_overlap.value_or(f.overlaps_parameter_gather); }
// For ZeRO-3, whose gathers and scatters share a stream: kernels that wait for a gather wait for the scatters before it, too.
inline bool overlaps_scatters(const Plan& p, const Framework& f) { return overlaps_gathers(p, f) && p.gradient_overlap.value_or(true); }
// The buffers through which products and exchanges hand each other their parts do not carry NVFP4
// (NVIDIA/TransformerEngine v2.18, module/base.py).
inline bool overlaps_tensor(const Plan& p, const Framework& f) {
    return p.tensor_overlap.value_or(f.overlaps_tensor && p.precision.compute != DataType::nvfp4);
}
// Integer weights are stored as integers: nothing is cast from FP32 at each use.
inline bool casts_each_use(const Plan& p, const Framework& f) {
    return p.autocast.value_or(f.casts_each_use) && !is_quantized(p.precision.compute);
}
inline bool deduplicates_tokens(const Plan& p, const Framework& f) { return p.token_deduplication.value_or(f.deduplicates_tokens); }
inline bool overlaps_pipeline(const Plan& p, const Framework& f) { return p.pipeline_overlap.value_or(f.overlaps_pipeline); }
// Whether what stages send each other is cut over the tensor group and gathered after the transfer.
inline bool scatters_boundaries(const Plan& p, const Framework& f) { return f.scatters_pipeline && !p.sequence_parallel && p.tp > 1; }
inline bool waits_for_transfers(const Plan& p, const Framework& f) { return p.pp > 1 && f.waits_for_transfers && !overlaps_pipeline(p, f); }

// NCCL is for NVIDIA's devices; on AMD's the same calls are RCCL's.
inline std::string library_on(const Device& d, const std::string& usual) {
    return d.architecture.starts_with("cdna") && usual.starts_with("nccl") ? "rccl" : usual;
}

// The library of a job that states none.
inline std::string usual_library(const Framework& f, const Device& d, bool over_ethernet) {
    return library_on(d, over_ethernet && !f.socket_library.empty() ? f.socket_library : f.library);
}

// Whoever trains adapters alone loads the model below them in 16 bits (Hugging Face PEFT's guides), also where the framework keeps weights
// that it trains in fp32 and casts them for each use.
inline bool loads_frozen_weights_narrow(const Plan& p, const Framework& f, const Workload& w) {
    const auto* network = w.transformer();
    const bool narrow = size_of(p.precision.compute) < size_of(DataType::fp32);
    return network != nullptr && network->adapters && !p.autocast && f.casts_each_use && narrow;
}

// Micro-batches are interleaved layer by layer where all layers are alike: Megatron Core has no such schedule for hybrids
// (NVIDIA-NeMo/Megatron-Bridge, issue 4975).
inline bool overlaps_experts(const Plan& p, const Framework& f, const Workload& w) {
    const auto* network = w.transformer();
    const bool hybrid = network != nullptr && !network->layer_pattern.empty();
    return p.expert_overlap.value_or(f.overlaps_experts && !hybrid);
}

// Workers that do not wait for each other have nothing to add up.
inline bool sums_on_host(const Plan& p, const Framework& f) { return f.sums_on_host && p.data_parallel == DataParallel::parameter_server; }

// Whether gradients are reduced after each micro-batch rather than once a step. Sharded gradients have no memory to add up in, unless the
// plan says so.
inline bool reduces_every_micro_batch(const Plan& p, const Framework& f) {
    return p.reduce_every_micro_batch.value_or(f.reduces_every_micro_batch || p.shards_gradients());
}

// The fraction of a micro-batch's gradients that a rank adds to those of earlier micro-batches: only its shard where each micro-batch's
// gradients are scattered.
inline double added_gradients(const Plan& p, const Framework& f) {
    return p.shards_gradients() && reduces_every_micro_batch(p, f) ? 1.0 / p.shard_ranks() : 1;
}

}  // namespace sextant
