// What prepare() works out once and estimate() reads: kernels by block template, stages, groups on the topology. Internal to predict.
#pragma once

#include "model/cost/collectives.hpp"
#include "model/cost/compute.hpp"
#include "model/cost/kernel.hpp"
#include "model/plan/buckets.hpp"
#include "model/plan/offload.hpp"
#include "model/plan/partition.hpp"
#include "model/predict/estimate.hpp"
#include "model/predict/groups.hpp"
#include "model/predict/input.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

namespace sextant {

// The blocks of one chunk of a stage, in the order of forward, and the buckets of their gradients, in the order of backward: bucket b holds
// blocks b.first_block .. of this list.
struct ChunkBlocks {
    struct Block {
        int block_template = 0;
        std::optional<int> layer;  // if the block is a layer: its number among those of its stage
        BlockParameters parameters;
        [[nodiscard]] bool is_recomputed(const StageBlocks& stage) const { return layer && *layer < stage.recomputed_layers; }
        [[nodiscard]] bool is_like(const Block& b) const { return block_template == b.block_template && parameters == b.parameters; }
    };
    // Consecutive blocks that are alike.
    struct Run {
        Block first;
        int count = 0;
        // The recomputed layers of a stage are its first.
        [[nodiscard]] int recomputed(const StageBlocks& stage) const {
            return first.layer ? std::clamp(stage.recomputed_layers - *first.layer, 0, count) : 0;
        }
    };
    std::vector<Block> blocks;
    std::vector<Run> runs;  // the same blocks
    std::vector<Bucket> buckets;
    int first_layer = 0, layers = 0;  // its layers among those of its stage
    std::size_t alike = 0;            // how many chunks right before it in its stage hold the same
    void add(const Block& block) {
        if (blocks.empty() || !blocks.back().is_like(block)) runs.push_back({block});
        ++runs.back().count;
        blocks.push_back(block);
    }
    [[nodiscard]] int recomputed_layers(const StageBlocks& stage) const {
        return std::clamp(stage.recomputed_layers - first_layer, 0, layers);
    }
};
// How many chunks right before this one hold the same and recompute as much of it.
inline std::size_t alike_before(std::span<const ChunkBlocks> chunks, std::size_t chunk, const StageBlocks& stage) {
    std::size_t alike = chunks[chunk].alike;
    while (alike > 0 && chunks[chunk - alike].recomputed_layers(stage) != chunks[chunk].recomputed_layers(stage)) --alike;
    return alike;
}

// How many blocks of a template run forward again.
inline int recomputed_blocks(std::span<const ChunkBlocks> chunks, const StageBlocks& stage, std::size_t block_template) {
    int recomputed = 0;
    for (const ChunkBlocks& chunk : chunks)
        for (const ChunkBlocks::Run& run : chunk.runs)
            if (run.first.block_template == static_cast<int>(block_template)) recomputed += run.recomputed(stage);
    return recomputed;
}

class PlayedSchedule;

// The nodes that the job's ranks fill, and what each of them offers beside its devices.
struct UsedNodes {
    int count = 1;
    int devices = 1;            // that the job uses on each
    Bandwidth host_copy;        // between the memory of a device and pinned host memory
    Bandwidth host_memory;      // of all devices of a node together
    Bandwidth network;          // all network links of a node together; zero where there is no network
    double cores = 1;           // of a node, where its devices are ranks on them
    double ranks_per_core = 1;  // where ranks share cores: the scenario's rates are then those of a part of a core (shared_cores.hpp)
    Seconds turn;               // of the other ranks on a core, for which each call waits; zero where no ranks share one
};

struct Prepared::State {
    Scenario scenario;
    Precision precision;  // as the framework keeps it (kept_precision)
    DeviceRates rates;
    std::vector<BlockKernels> templates;
    std::vector<BlockRole> roles;
    std::vector<StageBlocks> stages;
    std::vector<std::vector<ChunkBlocks>> chunks;  // by stage
    BucketRule bucket_rule;
    std::shared_ptr<const Topology> topology;
    StageGroups groups;
    std::int64_t micro_batches = 1;
    double added_gradients = 1;                    // the fraction of the gradients that a rank adds up (added_gradients())
    Flops needed_for_sample;                       // what the mathematics needs, whatever the plan does twice or on several ranks
    std::shared_ptr<const PlayedSchedule> played;  // where no formula covers the schedule
    UsedNodes nodes;
    std::optional<InputJob> input;  // none where samples are synthetic

    [[nodiscard]] int used_devices() const { return std::min(nodes.devices, scenario.plan.devices()); }  // that the job uses
    // While all devices of the node copy: those behind one PCIe switch share its uplink.
    [[nodiscard]] Bandwidth host_copy_beside_others() const {
        return nodes.host_copy / std::clamp(scenario.cluster.node.devices_per_switch, 1, used_devices());
    }
    // Whether hosts wait for the samples of a micro-batch before they issue any of it: nobody reads ahead.
    [[nodiscard]] bool hosts_load() const { return input && !(input->ahead > 0); }
    // The time on a thread of this host for what takes `work` on one of speed 1.
    [[nodiscard]] Seconds on_host(const Sourced<Seconds>& work, const Resources& r = {}) const {
        return work.value / (scenario.cluster.node.host.thread_speed.value * r.host);
    }
    // How many times as long kernels take beside an exchange.
    [[nodiscard]] double overlap_slowdown(const Resources& r) const {
        return 1 + (scenario.framework.overlap_slowdown.value - 1) / r.overlap;
    }
    // How long a call waits for its core where each rank does this much work between two calls: a turn of the others, or until they are
    // done, each with the core to itself.
    [[nodiscard]] Seconds wait_for_core(Seconds work_between) const { return min(nodes.turn, work_between / nodes.ranks_per_core); }
};

// Whether the sharded weights are the FP32 master weights themselves, with no other copy.
bool shards_are_masters(const Prepared::State&);
// The bytes of so many gradients as they travel, and of so many weights as they are stored.
Bytes gradient_bytes(const Prepared::State&, double parameters);
Bytes weight_bytes(const Prepared::State&, double parameters);
// All that lies in memory of trained parameters between two steps: weights, gradients, states.
Bytes kept_bytes(const Prepared::State&, double parameters);
// The same of a network's blocks, whose kernels these are, as one rank has them where nothing but layers is cut.
Bytes kept_bytes(const Prepared::State&, const Network&, const std::vector<BlockKernels>& templates);

// Local parameters of a stage. Tied weights are counted once, where their owner is in another stage.
struct StageParameters {
    ParameterCount trained, frozen;
    ParameterCount narrowed{};                  // of all, the weights that products in FP8 or narrower read
    ParameterCount matrices{};                  // of the trained ones, those that the optimizer treats apart
    decltype(ParameterCount::shared) shared{};  // of the trained ones, matrices that blocks of other stages may have too
    int tensors = 0;                            // that are trained
    int blocks = 0;                             // with any such tensor
};
// How many of the local parameters one rank holds: all, or its shard of them.
double held_parameters(const ParameterCount&, const Plan&, bool sharded);
// The parameters whose optimizer states a rank holds.
double owned_parameters(const Prepared::State&, std::size_t stage);
StageParameters parameters_of(const Prepared::State&, std::size_t stage);
// What matrices that a rank owns save of the optimizer's states.
Bytes spared_states(const Prepared::State&, const StageParameters&);

}  // namespace sextant
