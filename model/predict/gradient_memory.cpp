#include "model/predict/gradient_memory.hpp"

#include "model/plan/gradient_accumulation.hpp"

#include <algorithm>

namespace sextant {
namespace {

// The fraction of a stage's gradients that is there unsharded at a time, where they are scattered once a step.
double part_adding_up(const Prepared::State& job) {
    const Plan& plan = job.scenario.plan;
    if (reduces_every_micro_batch(plan, job.scenario.framework)) return 0;
    switch (gradient_accumulation(plan, job.micro_batches)) {
        case GradientAccumulation::none: return 0;
        case GradientAccumulation::of_two_chunks:  // of that at work, while those of the one before are scattered
            return 2.0 / plan.vpp;
        case GradientAccumulation::all: break;
    }
    return 1;
}

// The gradients of the fullest so many neighboring buckets of a stage's chunks, or blocks of theirs.
double gradients_of_neighbors(const std::vector<ChunkBlocks>& chunks, bool blocks, std::size_t count) {
    std::vector<double> elements;
    for (const ChunkBlocks& chunk : chunks) {
        if (blocks)
            for (const ChunkBlocks::Block& b : chunk.blocks) elements.push_back(b.parameters.trained.total());
        else
            for (const Bucket& b : chunk.buckets) elements.push_back(b.dense + b.expert);
    }
    // Behind the last of a micro-batch comes the first of the next.
    double most = 0;
    for (std::size_t i = 0; i < elements.size(); ++i) {
        double neighbors = 0;
        for (std::size_t j = i; j < i + std::min(count, elements.size()); ++j) neighbors += elements[j % elements.size()];
        most = std::max(most, neighbors);
    }
    return most;
}

// Where what reductions bring is added up apart: the gradients that backward makes, beside these sums. Those that a rank gives up once they
// are reduced stand a bucket at a time, or under ZeRO-3 a block, and another one while the first is on its way.
double gradients_beside_sums(const Prepared::State& job, std::size_t stage, double all) {
    const Plan& plan = job.scenario.plan;
    const Framework& f = job.scenario.framework;
    const bool every = reduces_every_micro_batch(plan, f);
    if (!gives_up_reduced_gradients(plan, f, job.micro_batches) || plan.shard_ranks() == 1)
        return plan.data_parallel == DataParallel::all_reduce && plan.dp * plan.cp > 1 && every && job.micro_batches > 1 ? all : 0;
    if (!every && gradient_accumulation(plan, job.micro_batches) == GradientAccumulation::of_two_chunks) return 2.0 / plan.vpp * all;
    if (plan.shards_parameters()) return gradients_of_neighbors(job.chunks[stage], true, overlaps_scatters(plan, f) ? 2 : 1);
    if (overlaps_gradients(plan, f)) return gradients_of_neighbors(job.chunks[stage], false, 2);
    return all / plan.vpp;
}

}  // namespace

Bytes gradient_memory(const Prepared::State& job, std::size_t stage, const ParameterCount& trained) {
    const Plan& plan = job.scenario.plan;
    const Framework& f = job.scenario.framework;
    const DataParallel dp = plan.data_parallel;
    const auto held = [&](bool sharded) { return held_parameters(trained, plan, sharded); };
    const DataType type = job.precision.gradient_type();
    Bytes gradients;
    const bool leave = gradients_leave(plan, f);
    if (!leave) gradients = held(plan.shards_gradients()) * size_of(type);
    if (f.sums_gradients_apart && !leave) {
        const bool gives_up = gives_up_reduced_gradients(plan, f, job.micro_batches);
        gradients = (held(gives_up) + gradients_beside_sums(job, stage, held(false))) * size_of(type);
    } else if (leave || plan.shards_gradients()) {
        gradients = min(held(false) * size_of(type), gradients + part_adding_up(job) * held(false) * size_of(type));
    }
    if (f.keeps_both_gradients && type != job.precision.parameter) gradients += held(false) * size_of(job.precision.parameter);
    const bool whole = dp == DataParallel::all_reduce || (dp == DataParallel::zero1 && f.reduces_whole_gradients);
    if (f.copies_gradients_to_buckets && whole && plan.dp > 1) gradients += held(false) * size_of(type);
    return gradients + gradient_placeholders(job, stage);
}

Bytes gradient_copies_of_update(const Prepared::State& job, std::size_t stage) {
    const Plan& plan = job.scenario.plan;
    const Framework& f = job.scenario.framework;
    if (!f.flattens_gradients_to_update || !plan.updates_weights() || offloads_gradients(plan, f)) return {};
    const DataType type = job.precision.gradient_type();
    const Bytes in_fp32 = type == DataType::fp32 ? Bytes{} : size_of(DataType::fp32);
    const ParameterCount trained = parameters_of(job, stage).trained;
    if (plan.shards_states()) return held_parameters(trained, plan, true) * (size_of(type) + in_fp32);
    return plan.data_parallel == DataParallel::all_reduce ? held_parameters(trained, plan, false) * 2 * in_fp32 : Bytes{};
}

Bytes gradient_placeholders(const Prepared::State& job, std::size_t stage) {
    std::vector<const WeightMatrix*> shapes;
    Bytes placeholders;
    for (std::size_t t = 0; t < job.templates.size(); ++t) {
        if (job.stages[stage].count[t] == 0) continue;
        for (const WeightMatrix& m : job.templates[t].placeholders) {
            if (std::ranges::any_of(shapes, [&](const WeightMatrix* other) { return m.is_like(*other); })) continue;
            shapes.push_back(&m);
            placeholders += static_cast<double>(m.rows * m.columns) * size_of(job.precision.activation);
        }
    }
    return placeholders;
}

}  // namespace sextant
