// A prepared job put together by hand: ten equal layers of 100 million parameters on each stage of the round machine.
#pragma once

#include "model/predict/state.hpp"
#include "tests/cost/round_machine.hpp"

namespace sextant {

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
    job.groups.which.assign(job.stages.size(), 0);
    job.groups.mates.resize(job.stages.size());
    job.host_copy = 20 * units::GB / units::s;
    job.host_bandwidth = 200 * units::GB / units::s;
    job.network = 10 * units::GB / units::s;
    job.devices_per_node = 4;
    return job;
}

// Ten blocks of the first template on every stage, and their buckets as the framework makes them.
inline void deal_out_blocks(Prepared::State& job) {
    const BlockKernels& k = job.templates.front();
    const BlockParameters p{k.trained, k.frozen, k.trained_tensors};
    job.bucket_rule = bucket_rule(job.scenario.plan, job.scenario.framework, job.precision);
    ChunkBlocks chunk;
    chunk.blocks.assign(10, {0, {}, p});
    chunk.buckets = job.bucket_rule.buckets(std::vector<BlockParameters>(10, p), 0, 10);
    job.chunks.assign(job.stages.size(), {chunk});
}

}  // namespace sextant
