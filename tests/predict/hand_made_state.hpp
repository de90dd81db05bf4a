// A prepared job put together by hand: ten equal layers of 100 million parameters on each stage of the round machine.
#pragma once

#include "model/predict/stage_memory.hpp"
#include "tests/cost/round_machine.hpp"

namespace sextant {

// A chunk of so many layers of the first template, the first of them that of a stage with this number.
inline ChunkBlocks chunk_of(int layers, const BlockParameters& parameters = {}, int first = 0) {
    ChunkBlocks chunk;
    chunk.first_layer = first;
    chunk.layers = layers;
    for (int i = 0; i < layers; ++i) chunk.add({0, first + i, parameters});
    return chunk;
}

inline Prepared::State ten_layers(int stages = 1) {
    Prepared::State job;
    job.scenario.cluster = round_machine::cluster();
    job.scenario.framework = round_machine::framework();
    job.scenario.library = round_machine::library();
    job.scenario.plan.pp = stages;
    job.rates = device_rates(job.scenario.cluster.node.device, job.scenario.framework, job.scenario.plan);
    BlockKernels layer;
    layer.trained.dense = 100e6;
    layer.trained_tensors = 1;
    job.templates = {layer};
    job.roles = {BlockRole::layer};
    job.stages.assign(static_cast<std::size_t>(stages), StageBlocks{.count = {10}, .layers = 10});
    job.chunks.assign(job.stages.size(), {chunk_of(10)});
    job.groups.kind_of.assign(job.stages.size(), 0);
    job.groups.mates.resize(job.stages.size());
    job.nodes.host_copy = 20 * units::GB / units::s;
    job.nodes.host_memory = 200 * units::GB / units::s;
    job.nodes.network = 10 * units::GB / units::s;
    job.nodes.devices = 4;
    return job;
}

// Ten blocks of the first template on every stage, and their buckets as the framework makes them.
inline void deal_out_blocks(Prepared::State& job) {
    const BlockKernels& k = job.templates.front();
    const BlockParameters p{k.trained, k.frozen, k.trained_tensors};
    job.bucket_rule = bucket_rule(job.scenario.plan, job.scenario.framework, job.precision);
    ChunkBlocks chunk = chunk_of(10, p);
    chunk.buckets = job.bucket_rule.buckets(std::vector<BlockParameters>(10, p), 0, 10);
    job.chunks.assign(job.stages.size(), {chunk});
}

// Activations of a stage in GB, where each of its ten layers keeps 0.1 GB of a micro-batch: a micro-batch in flight is 1 GB.
inline double activations_gb(const Prepared::State& job, std::size_t stage) {
    return stage_memory(job).at(stage)[MemoryKind::activations] / units::GB;
}

inline Prepared::State with_activations(int stages, std::int64_t micro_batches, Schedule schedule) {
    Prepared::State job = ten_layers(stages);
    job.micro_batches = micro_batches;
    job.scenario.plan.schedule = schedule;
    job.templates[0].saved = 0.1 * units::GB;
    job.templates[0].kept_input = 0.01 * units::GB;
    job.templates[0].made_again = 0.09 * units::GB;  // the layer keeps its input all the time
    return job;
}

// The ten layers of each stage, as evenly as possible over its chunks.
inline void cut_into_chunks(Prepared::State& job, int chunks) {
    job.scenario.plan.vpp = chunks;
    std::vector<ChunkBlocks> of_stage;
    for (int c = 0; c < chunks; ++c) of_stage.push_back(chunk_of(10 * (c + 1) / chunks - 10 * c / chunks, {}, 10 * c / chunks));
    job.chunks.assign(job.stages.size(), of_stage);
}

}  // namespace sextant
