#include "model/predict/estimate.hpp"

#include "model/predict/stage_memory.hpp"
#include "model/predict/step_price.hpp"

#include <algorithm>

namespace sextant {
namespace {

void count_flops(Estimate& e, const Prepared::State& job) {
    Flops of_pipeline;  // what one rank of each stage does for a micro-batch
    for (std::size_t s = 0; s < job.stages.size(); ++s) {
        const StageBlocks& stage = job.stages[s];
        for (std::size_t t = 0; t < job.templates.size(); ++t) {
            const BlockKernels& k = job.templates[t];
            const double n = stage.count[t];
            of_pipeline += n * k.forward_flops;
            if (job.scenario.plan.forward_only) continue;
            of_pipeline += n * k.backward_flops;
            Flops again;
            for (const Kernel& kernel : k.recompute) again += kernel.flops;
            of_pipeline += recomputed_blocks(job.chunks[s], stage, t) * again;
        }
    }
    const Plan& plan = job.scenario.plan;
    const double pipelines = static_cast<double>(job.micro_batches) * plan.dp;
    e.model_flops = pipelines * static_cast<double>(plan.micro_batch) * job.needed_for_sample;
    e.hardware_flops = pipelines * plan.tp * plan.cp * of_pipeline;
}

}  // namespace

std::string_view to_text(Term t) {
    static constexpr std::string_view names[term_count] = {"forward",
                                                           "backward",
                                                           "recompute",
                                                           "optimizer",
                                                           "tensor_communication",
                                                           "context_communication",
                                                           "expert_communication",
                                                           "pipeline_communication",
                                                           "data_communication",
                                                           "bubble",
                                                           "input",
                                                           "launch",
                                                           "offload",
                                                           "straggler",
                                                           "overhead"};
    return names[static_cast<std::size_t>(t)];
}

std::string_view to_text(MemoryKind k) {
    static constexpr std::string_view names[memory_kind_count] = {
        "weights", "gradients", "optimizer", "activations", "logits", "gathered_weights", "communication", "context", "fragmentation"};
    return names[static_cast<std::size_t>(k)];
}

Seconds Terms::total() const {
    Seconds sum;
    for (const Seconds t : of) sum += t;
    return sum;
}

Bytes StageMemory::total() const {
    Bytes sum;
    for (const Bytes b : of) sum += b;
    return sum;
}

Bytes StageMemory::allocated() const {
    return total() - (*this)[MemoryKind::communication] - (*this)[MemoryKind::context] - (*this)[MemoryKind::fragmentation];
}

std::size_t Estimate::fullest_stage() const {
    return static_cast<std::size_t>(std::ranges::max_element(memory, {}, &StageMemory::total) - memory.begin());
}

Bytes Estimate::peak_allocated() const { return std::ranges::max(memory, {}, &StageMemory::allocated).allocated(); }

Estimate estimate(const Prepared& prepared, const Resources& r) {
    const Prepared::State& job = prepared.state();
    const OwnStagePrices stages = price_stages(job, r);
    const WholeStepPrice step = price_step(job, stages, r);

    Estimate e;
    e.step = step.terms.total();
    e.terms = step.terms;
    e.last_stage = static_cast<int>(step.last_stage);
    e.taking = step.taking;
    const StagePrice& finisher = stages[step.last_stage];
    const Seconds hidden = finisher.data.hidden + step.caught_up;
    e.overlapped[Term::data_communication] = (1 - finisher.data.copied) * hidden;
    e.overlapped[Term::offload] = finisher.data.copied * hidden;
    const SegmentPrice& blocks = finisher.blocks();
    const PhasePrice passes = blocks.forward + blocks.backward + blocks.recompute;
    const double times = static_cast<double>(job.micro_batches);
    for (const InLayer kind : all_in_layer)
        e.overlapped[term_of(kind)] = max(Seconds{}, times * passes.hidden[kind] - times * passes.meeting[kind]);
    e.slowest_stage = static_cast<int>(step.slowest_stage);
    e.slowest = step.slowest;
    e.slowest[Term::bubble] += max(Seconds{}, e.step - e.slowest.total());  // it waits for the rank that finishes last
    e.memory = stage_memory(job);
    e.peak_memory = e.memory[e.fullest_stage()].total();
    e.device_memory = device_memory(job);
    e.host = host_memory(job);
    count_flops(e, job);
    return e;
}

}  // namespace sextant
