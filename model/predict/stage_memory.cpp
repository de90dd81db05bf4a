#include "model/predict/stage_memory.hpp"

#include "model/cost/kernel_rules.hpp"
#include "model/predict/fragmentation.hpp"
#include "model/predict/gradient_memory.hpp"

namespace sextant {
namespace {

// The bytes of a weight for products in FP8 or narrower, which read it along rows in forward and along columns in backward.
Bytes narrow_weight(const Prepared::State& job, DataType type) {
    const bool one_layout = job.scenario.plan.forward_only || (type == DataType::fp8 && job.scenario.cluster.node.device.fp8_any_layout);
    return (one_layout ? 1.0 : 2.0) * size_of(type);
}

// The bytes of all weights of a stage, `masters` of which are the optimizer's. Gathered weights are
// narrowed anew, unless the shards are narrow.
Bytes held_weights(const Prepared::State& job, const StageParameters& parameters, double masters) {
    const bool sharded = job.scenario.plan.shards_parameters();
    const auto held = [&](const ParameterCount& p) { return held_parameters(p, job.scenario.plan, sharded); };
    const Bytes wide = size_of(job.precision.parameter);
    const Bytes weights = held(parameters.trained + parameters.frozen) * wide + masters * (size_of(DataType::fp32) - wide);
    const DataType type = product_type(job.precision, BlockRole::layer);
    const NarrowWeights are = job.scenario.framework.narrow_weights;
    if (are == NarrowWeights::passing || !is_16_bit_or_wider(job.precision.parameter)) return weights;
    const Bytes narrow = held(parameters.narrowed) * narrow_weight(job, type);
    if (are == NarrowWeights::in_primary && type != DataType::nvfp4) return weights + narrow - held(parameters.narrowed) * wide;
    return sharded ? weights : weights + narrow;
}

// A rank has one for each dimension along which it exchanges.
int communicators(const Plan& p) { return (p.tp > 1) + (p.dp * p.cp > 1) + (p.cp > 1) + (p.ep > 1) + (p.pp > 1); }

// What is there from beginning to end, by what it is for.
StageMemory held_memory(const Prepared::State& job, std::size_t stage) {
    const Plan& plan = job.scenario.plan;
    const Framework& f = job.scenario.framework;
    const Precision& precision = job.precision;
    const StageParameters parameters = parameters_of(job, stage);
    const auto held = [&](bool sharded) { return held_parameters(parameters.trained, plan, sharded); };

    StageMemory memory;
    const bool masters = shards_are_masters(job) && !updates_on_host(plan);
    if (!plan.offloads_parameters())
        memory[MemoryKind::weights] = (1 - plan.pruned_fraction) * held_weights(job, parameters, masters ? held(true) : 0);
    if (!plan.forward_only) {
        memory[MemoryKind::gradients] = gradient_memory(job, stage, parameters.trained);
        const Bytes states = size_of_states(plan.optimizer, precision.optimizer_state) +
                             (precision.master_weights && !masters ? size_of(DataType::fp32) : Bytes{});
        if (plan.updates_weights() && !updates_on_host(plan))
            memory[MemoryKind::optimizer] = held(plan.has_shards()) * states - spared_states(job, parameters);
    }
    memory[MemoryKind::communication] = communicators(plan) * f.communication_buffers.value;
    memory[MemoryKind::context] = f.context.value;
    return memory;
}

// The allocator keeps what was in flight for the next step, and the update's copies beside it.
Bytes unused_memory(const Prepared::State& job, Bytes in_flight, const HeldBytes& held) {
    const Bytes needed = held.throughout + max(in_flight, held.in_update);
    const Bytes unused = job.scenario.framework.fragmentation.value * in_flight + min(in_flight, held.in_update);
    const Bytes left = left_unused(unused, needed, device_memory(job));
    return left < unused ? (1 - 1e-9) * left : unused;  // sums of parts round
}

}  // namespace

Bytes fragmentation(const Prepared& job, int stage, Bytes in_flight) {
    return unused_memory(job.state(), in_flight, held_bytes(job.state(), static_cast<std::size_t>(stage)));
}

std::vector<StageMemory> stage_memory(const Prepared::State& job) {
    std::vector<StageMemory> stages;
    stages.reserve(job.stages.size());
    for (std::size_t s = 0; s < job.stages.size(); ++s) {
        StageMemory& memory = stages.emplace_back(held_memory(job, s));
        const HeldBytes held{memory.total(), gradient_copies_of_update(job, s)};
        const InFlightBytes bytes = in_flight_bytes(job, s);
        memory[MemoryKind::activations] = bytes.activations;
        memory[MemoryKind::logits] = bytes.logits;
        memory[MemoryKind::gathered_weights] = gathered_weights(job, s, bytes.weights_in_use);
        const Bytes all = bytes.activations + bytes.logits + memory[MemoryKind::gathered_weights];
        memory[MemoryKind::gradients] += max(held.in_update - all, Bytes{});
        memory[MemoryKind::fragmentation] = unused_memory(job, all, held);
    }
    return stages;
}

HeldBytes held_bytes(const Prepared::State& job, std::size_t stage) {
    return {held_memory(job, stage).total(), gradient_copies_of_update(job, stage)};
}

Bytes peak_bytes(const Prepared::State& job, std::size_t stage, const HeldBytes& held, const InFlightBytes& bytes) {
    const Bytes all = bytes.activations + bytes.logits + gathered_weights(job, stage, bytes.weights_in_use);
    return held.throughout + max(all, held.in_update) + unused_memory(job, all, held);
}

Bytes host_states(const Prepared::State& job, std::size_t stage) {
    const Plan& plan = job.scenario.plan;
    if (plan.offload == Offload::none) return {};
    const StageParameters p = parameters_of(job, stage);
    Bytes states;
    if (plan.offloads_parameters()) states += weight_bytes(job, held_parameters(p.trained + p.frozen, plan, plan.shards_parameters()));
    if (!updates_on_host(plan)) return states;
    // What the host holds for a parameter: a gradient, the weight that it updates (the fp32 master where there is one) unless the weight
    // that devices read is there and is the same, and its states.
    const Bytes wide = size_of(job.precision.parameter), updated = job.precision.master_weights ? size_of(DataType::fp32) : wide;
    const bool weight_is_there = plan.offloads_parameters() && updated == wide;
    Bytes each = (weight_is_there ? 1 : 2) * updated + size_of_states(plan.optimizer, job.precision.optimizer_state);
    if (keeps_sum_on_host(plan, job.scenario.framework, job.micro_batches)) each += size_of(job.precision.gradient_type());
    return states + held_parameters(p.trained, plan, plan.has_shards()) * each;
}

HostMemory host_memory(const Prepared::State& job) {
    HostMemory most{{}, {}, job.scenario.cluster.node.host.memory.value};
    for (std::size_t s = 0; s < job.stages.size(); ++s) {
        const HostMemory of_stage{job.used_devices() * host_states(job, s), job.used_devices() * in_flight_bytes(job, s).offloaded,
                                  most.there};
        if (of_stage.total() > most.total()) most = of_stage;
    }
    return most;
}

// The smaller of two kinds of devices, since any rank may be on one.
Bytes device_memory(const Prepared::State& job) {
    const Bytes usual = memory_for_programs(job.scenario.cluster.node.device);
    const auto& slow = job.scenario.straggler;
    return slow && slow->device ? min(usual, memory_for_programs(*slow->device)) : usual;
}

}  // namespace sextant
