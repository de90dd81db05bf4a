// What one rank holds of the network from step to step: programs and parameters of its blocks, gradients, the optimizer's states.
#pragma once

#include "backend/exec/block_program.hpp"
#include "model/graph/task_graph.hpp"

#include <array>
#include <functional>
#include <map>
#include <optional>

namespace sextant {

// This rank's share in ZeRO: of every block's run of parameters the part of that number.
struct ShardCut {
    int rank = 0, ranks = 1;
};

// Parameters of a block that lie together, as the same ranks have and reduce them, and what belongs to them.
struct ParameterRun {
    std::int64_t own = 0;       // elements of the block itself
    std::int64_t elements = 0;  // with copies of shared matrices, and padding to equal shards
    ShardCut shard{};
    bool sharded = false;         // each rank owns a part
    Array weights{};              // the run; none between uses where parameters are sharded
    Array gradients{};            // the run: of what backward made since the last reduction. None between uses where they are sharded
    Array owned{}, sums{};        // what this rank updates: all of the run or its shard, and the gradients for it
    Array masters{};              // `owned` in fp32, where weights are 16 bits or the host updates: what the optimizer updates
    std::vector<Array> states{};  // of the optimizer, for `owned`
    Array received{};             // where gradients are sharded: what the reduction under way brings
    Array lowered{};              // where the host updates: `sums` in its memory; then new weights on their way up
    Array parked{};               // where weights are offloaded too: `owned` in that memory, and none on the device

    [[nodiscard]] const Array& updated() const { return masters ? masters : owned; }
    [[nodiscard]] Array owned_in(const Array& whole) const { return whole.part(shard.rank * owned.elements, owned.elements); }
    // `owned` where it is as the run is gathered: what was parked has been fetched to where it belongs.
    [[nodiscard]] Array given_to(const Array& whole) const { return parked ? owned_in(whole) : owned; }
    [[nodiscard]] const Array& updates_with() const { return lowered ? lowered : sums; }
};

struct HeldBlock {
    BlockProgram program;
    ParameterRun dense{}, experts{};  // those that are trained
    ParameterRun frozen{}, biases{};  // weights, and nothing that belongs to training

    [[nodiscard]] std::array<ParameterRun*, 2> runs() { return {&dense, &experts}; }
    [[nodiscard]] ParameterRun& run_of(const ParameterTensor& p) {
        if (p.run == RunKind::biases) return biases;
        return p.frozen ? frozen : p.run == RunKind::experts ? experts : dense;
    }
};

// Where on a rank a SharedMatrix lies: in the first of its blocks that use it, with the block's own parameters or, as a copy of what a
// block of another rank owns, behind them.
struct SharedHome {
    int block = 0;
    ParameterRun HeldBlock::*run = {};  // dense or frozen
    std::int64_t offset = 0, elements = 0;
    bool copied = false;
    std::int64_t of_run = 0;  // elements of all that it lies with

    // Elements of the matrix.
    struct Part {
        std::int64_t first = 0, count = 0;
    };
    [[nodiscard]] Part part_of(ShardCut) const;  // that a rank updates
};
using SharedHomes = EnumArray<SharedMatrix, std::optional<SharedHome>, shared_matrix_count>;

// Of each run of a block.
struct RunArrays {
    Array dense{}, experts{}, frozen{};
};
// Of a block; frozen ones behind the dense. Empty where nothing was gathered.
struct GatheredWeights {
    Array dense{}, experts{};
};

// How gradients become what the optimizer reads.
struct GradientFlow {
    bool sharded = false;             // each rank owns a part
    bool sharded_parameters = false;  // and holds no more than that of the weights
    bool accumulates = false;         // reduced several times in a step
    bool served = false;              // pushed to servers, who have the states and make the updates
};

class RankMemory {
public:
    // `serial`: the network as nothing cuts it. `host`: has masters and states, and updates, where the plan offloads; else null.
    RankMemory(ComputeDevice&, const TaskGraph&, GraphRank, const Network& serial, const Plan&, const BlockCut&, ShardCut dense,
               ShardCut experts, GradientFlow, ComputeDevice* host = nullptr);

    void draw_weights(std::uint64_t seed);
    [[nodiscard]] HeldBlock& block(int b) { return blocks_.at(b); }
    [[nodiscard]] std::map<int, HeldBlock>& blocks() { return blocks_; }
    [[nodiscard]] const GradientFlow& flow() const { return flow_; }
    [[nodiscard]] const std::optional<SharedHome>& home(SharedMatrix m) const { return homes_[m]; }
    // On the ranks of another stage.
    [[nodiscard]] const std::optional<SharedHome>& home(SharedMatrix m, int stage) const { return homes_elsewhere_.at(stage)[m]; }

    // For a pass over a block: weights as they are, or, of this block or of one whose matrix it shares, those that were gathered.
    ParameterArrays weights_of(int b, const std::function<GatheredWeights(int block)>& gathered);
    ParameterArrays gradients_of(int b);  // makes room where there is none
    // Gradients of these blocks, which lie one behind another where they are not sharded.
    Array gradient_run(int first, int count, ParameterRun HeldBlock::*of);

    // Of offloaded weights: brings those that the rank owns of a block to where they belong in room for all of them.
    GatheredWeights fetch(int b);
    void fetch_all();  // to stay

    void settle(int b);  // what was reduced goes to the sums
    void clear_gradients();
    // The device given, which is to run the update, or the host in its place: see ComputeDevice. An update that is made in parts begins
    // with lower_gradients() and ends with take_masters().
    [[nodiscard]] ComputeDevice& updater(ComputeDevice& device) const { return host_ != nullptr ? *host_ : device; }
    void update(ComputeDevice&, const OptimizerSettings&, int step);
    void lower_gradients();             // to the host, if that updates
    void take_masters(ComputeDevice&);  // weights become what their masters are

private:
    // Of the runs of the block, and of those that are home to its tied parameters, which are left out where that has none.
    [[nodiscard]] ParameterArrays split(int b, const std::function<RunArrays(int block)>&) const;
    void make_room(ParameterRun HeldBlock::*of, const Plan&, bool trained);
    void make_room_to_update(ParameterRun&, std::int64_t part, const Plan&);
    Array room_for(const ParameterRun&);
    void put(const ParameterRun&, const Array& whole);
    void raise(const ParameterRun&, const Array& whole);
    void settle(ParameterRun&);

    ComputeDevice& device_;
    ComputeDevice* host_;
    GradientFlow flow_;
    std::map<int, HeldBlock> blocks_;
    SharedHomes homes_{};
    std::map<int, SharedHomes> homes_elsewhere_;  // by stage
};

}  // namespace sextant
