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
        std::optional<int> layer;  // where it is one: its number among those of its stage
        BlockParameters parameters;
        [[nodiscard]] bool runs_again(const StageBlocks& stage) const { return layer && *layer < stage.recomputed_layers; }
        [[nodiscard]] bool is_like(const Block& b) const { return block_template == b.block_template && parameters == b.parameters; }
    };
    // Blocks one after another that are alike.
    struct Run {
        Block first;
        int count = 0;
        // Those of a stage that run again come first.
        [[nodiscard]] int again(const StageBlocks& stage) const {
            return first.layer ? std::clamp(stage.recomputed_layers - *first.layer, 0, count) : 0;
        }
    };
    std::vector<Block> blocks;
    std::vector<Run> runs;  // of them
    std::vector<Bucket> buckets;
    int first_layer = 0, layers = 0;  // of those of its stage
    std::size_t alike = 0;            // chunks right before it in its stage that hold the same
    void add(const Block& block) {
        if (blocks.empty() || !blocks.back().is_like(block)) runs.push_back({block});
        ++runs.back().count;
        blocks.push_back(block);
    }
    [[nodiscard]] int layers_again(const StageBlocks& stage) const { return std::clamp(stage.recomputed_layers - first_layer, 0, layers); }
};
// Chunks right before this one of a stage that hold the same, and run as much of it again: what runs again comes first.
inline std::size_t alike_before(std::span<const ChunkBlocks> chunks, std::size_t chunk, const StageBlocks& stage) {
    std::size_t alike = chunks[chunk].alike;
    while (alike > 0 && chunks[chunk - alike].layers_again(stage) != chunks[chunk].layers_again(stage)) --alike;
    return alike;
}

class PlayedSchedule;

struct Prepared::State {
    Scenario scenario;
    Precision precision;  // as the framework really keeps it
    DeviceRates rates;
    std::vector<BlockKernels> templates;
    std::vector<BlockRole> roles;
    std::vector<StageBlocks> stages;
    std::vector<std::vector<ChunkBlocks>> chunks;  // by stage
    BucketRule bucket_rule;
    std::shared_ptr<const Topology> topology;
    StageGroups groups;
    std::int64_t micro_batches = 1;
    double added_gradients = 1;                    // added_gradients() of the plan
    Flops needed_for_sample;                       // by the mathematics: whatever the plan, and whatever is done again or by several ranks
    std::shared_ptr<const PlayedSchedule> played;  // where no formula has the schedule
    Bandwidth host_copy;                           // device to host memory, pinned
    Bandwidth host_bandwidth;                      // of the memory of the node, shared by its devices
    Bandwidth network;                             // of one node, all its network links together; zero where there is no network
    int devices_per_node = 1;
    double ranks_per_core = 1;  // where they share them; the scenario's rates are those of a part then (shared_cores.hpp)
    Seconds turn;               // of the others on a core, which a call waits for; zero where nobody shares
    int nodes = 1;
    std::optional<InputJob> input;  // none where samples are synthetic

    [[nodiscard]] int used_devices() const { return std::min(devices_per_node, scenario.plan.devices()); }  // of a node
    // While all devices of the node copy: those behind one PCIe switch share its uplink.
    [[nodiscard]] Bandwidth host_copy_beside_others() const {
        return host_copy / std::clamp(scenario.cluster.node.devices_per_switch, 1, used_devices());
    }
    // On a thread of the host, what takes so long on one of speed 1.
    [[nodiscard]] Seconds on_host(const Sourced<Seconds>& work, const Resources& r = {}) const {
        return work.value / (scenario.cluster.node.host.thread_speed.value * r.host);
    }
    // Of kernels beside an exchange: how many times as long they take.
    [[nodiscard]] double overlap_slowdown(const Resources& r) const {
        return 1 + (scenario.framework.overlap_slowdown.value - 1) / r.overlap;
    }
    // Of a call, where ranks do so much between two of them: a turn, or until the others are done, each of which has the core alone then.
    [[nodiscard]] Seconds wait_for_core(Seconds work_between) const { return min(turn, work_between / ranks_per_core); }
};

// The weights in shards are those in FP32 that the optimizer updates: there are no others.
bool shards_are_masters(const Prepared::State&);
// Gradients as they travel, weights as they are stored.
Bytes gradient_bytes(const Prepared::State&, double parameters);
Bytes weight_bytes(const Prepared::State&, double parameters);

// Local parameters of a stage. Tied weights are counted once, where their owner is in another stage.
struct StageParameters {
    ParameterCount trained, frozen;
    ParameterCount narrowed{};                  // of both, the weights that products in FP8 or narrower read
    decltype(ParameterCount::shared) shared{};  // of the former, matrices that blocks of other stages may have too
    int tensors = 0, blocks = 0;                // of those that are trained, and that have some
};
// Of local parameters those that one rank holds: all, or its shard.
double held_parameters(const ParameterCount&, const Plan&, bool sharded);
double owned_parameters(const Prepared::State&, std::size_t stage);  // whose optimizer states a rank holds
StageParameters parameters_of(const Prepared::State&, std::size_t stage);

}  // namespace sextant
