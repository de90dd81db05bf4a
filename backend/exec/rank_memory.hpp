// What one rank keeps from step to step: the programs and parameters of its blocks, their gradients, and the optimizer's states.
#pragma once

#include "backend/exec/block_program.hpp"
#include "backend/exec/job.hpp"

#include <array>
#include <functional>
#include <map>
#include <optional>

namespace sextant {

// This rank's shard in ZeRO: part `rank` of `ranks` equal parts of every block's run of parameters.
struct ShardCut {
    int rank = 0, ranks = 1;
};

// Of the parameters that all data-parallel ranks have, and of experts, which fewer share.
struct RunShards {
    ShardCut dense{}, experts{};
};

// Parameters of a block that lie together, because the same ranks hold and reduce them, and the arrays that belong to them.
struct ParameterRun {
    std::int64_t own = 0;       // elements of the block itself
    std::int64_t elements = 0;  // with copies of shared matrices, and padding to equal shards
    ShardCut shard{};
    bool sharded = false;         // each rank owns a part
    bool sums_apart = false;      // `sums` is memory of its own, not a part of `gradients`
    Array weights{};              // of the run; empty between uses where parameters are sharded
    Array gradients{};            // of the run, since the last reduction, which happens in place; empty between uses where passes()
    Array owned{}, sums{};        // what this rank updates, the whole run or its shard, and the gradients for it
    Array masters{};              // `owned` in fp32, where weights have 16 bits or the host updates: what the optimizer updates
    std::vector<Array> states{};  // of the optimizer, for `owned`
    Array host_staging{};         // where the host updates: `sums` in its memory, later the new weights on their way back
    Array offloaded{};            // where weights are offloaded too: `owned` in that memory, with no copy on the device

    [[nodiscard]] const Array& updated() const { return masters ? masters : owned; }
    [[nodiscard]] Array owned_in(const Array& whole) const { return whole.part(shard.rank * owned.elements, owned.elements); }
    // What this rank gives to a gather into `whole`: `owned`, or, where that is offloaded, its place in `whole`, to which it was fetched.
    [[nodiscard]] Array given_to(const Array& whole) const { return offloaded ? owned_in(whole) : owned; }
    [[nodiscard]] const Array& updates_with() const { return host_staging ? host_staging : sums; }
    [[nodiscard]] bool passes() const { return sharded && sums_apart; }
};

struct HeldBlock {
    BlockProgram program;
    ParameterRun dense{}, experts{};  // those that are trained
    ParameterRun frozen{}, biases{};  // weights alone, without gradients or states

    [[nodiscard]] std::array<ParameterRun*, 2> runs() { return {&dense, &experts}; }
    [[nodiscard]] ParameterRun& run_of(const ParameterTensor& p) {
        if (p.run == RunKind::biases) return biases;
        return p.frozen ? frozen : p.run == RunKind::experts ? experts : dense;
    }
};

// Where a SharedMatrix lies on a rank: in the first of its blocks that use it, among the block's own parameters, or behind them as a copy
// of what a block of another rank owns.
struct SharedHome {
    int block = 0;
    ParameterRun HeldBlock::*run = {};  // dense or frozen
    std::int64_t offset = 0, elements = 0;
    bool copied = false;
    std::int64_t of_run = 0;  // elements of the run in which it lies

    // A range of the matrix's elements.
    struct Part {
        std::int64_t first = 0, count = 0;
    };
    [[nodiscard]] Part part_of(ShardCut) const;  // the elements that a rank with this shard updates
};
using SharedHomes = EnumArray<SharedMatrix, std::optional<SharedHome>, shared_matrix_count>;

// An array for each run of a block.
struct RunArrays {
    Array dense{}, experts{}, frozen{};
};
// The gathered weights of a block, with the frozen ones behind the dense. Empty where nothing was gathered.
struct GatheredWeights {
    Array dense{}, experts{};
};

// How gradients become what the optimizer reads.
struct GradientFlow {
    bool sharded = false;             // each rank owns a part of them
    bool sharded_parameters = false;  // and keeps only that part of the weights
    bool sums_apart = false;          // what a reduction brings is added to separate sums; else they are reduced in place, once a step
    bool served = false;              // they are pushed to servers, which keep the states and update
};

class RankMemory {
public:
    // `host`: keeps masters and states, and updates, where the plan offloads; else null.
    RankMemory(ComputeDevice&, const Job&, GraphRank, const BlockCut&, const RunShards&, GradientFlow, ComputeDevice* host = nullptr);

    void draw_weights(std::uint64_t seed);  // once, before the first step: clears the gradients, too
    [[nodiscard]] HeldBlock& block(int b) { return blocks_.at(b); }
    [[nodiscard]] std::map<int, HeldBlock>& blocks() { return blocks_; }
    [[nodiscard]] const GradientFlow& flow() const { return flow_; }
    [[nodiscard]] const std::optional<SharedHome>& home(SharedMatrix m) const { return homes_[m]; }
    // The same on the ranks of another pipeline stage.
    [[nodiscard]] const std::optional<SharedHome>& home(SharedMatrix m, int stage) const { return homes_elsewhere_.at(stage)[m]; }

    // The weights for a pass over a block: those that the rank keeps, or those gathered for this block or for one whose matrix it shares.
    ParameterArrays weights_of(int b, const std::function<GatheredWeights(int block)>& gathered);
    ParameterArrays gradients_of(int b);  // allocates them where needed
    // The gradients of `count` blocks from `first` on, as one array: they lie one behind another where they are not sharded.
    Array gradient_run(int first, int count, ParameterRun HeldBlock::*of);

    // Copies the rank's offloaded weights of a block from the host to their places in arrays for the whole block.
    GatheredWeights fetch(int b);
    void fetch_all();  // of all blocks, for good

    void settle(int b);  // adds what was reduced to the sums
    void clear_gradients();
    // The device that runs the update: the given one, or the host in its place. An update in parts (ComputeDevice::take_moments) begins
    // with copy_gradients_to_host() and ends with take_masters().
    [[nodiscard]] ComputeDevice& updater(ComputeDevice& device) const { return host_ != nullptr ? *host_ : device; }
    void update(ComputeDevice&, const OptimizerSettings&, int step);
    void copy_gradients_to_host();      // if that updates
    void take_masters(ComputeDevice&);  // sets the weights to their masters

private:
    // The parameters of a block as parts of its runs and of those in which its tied parameters lie; the latter are left out where their
    // block has no arrays.
    [[nodiscard]] ParameterArrays split(int b, const std::function<RunArrays(int block)>&) const;
    void make_room(ParameterRun HeldBlock::*of, const Plan&, bool trained);
    void make_room_to_update(ParameterRun&, std::int64_t part, const Plan&);
    Array room_for(const ParameterRun&);
    void put(const ParameterRun&, const Array& whole);
    void upload_owned(const ParameterRun&, const Array& whole);
    void settle(ParameterRun&);

    ComputeDevice& device_;
    ComputeDevice* host_;
    GradientFlow flow_;
    std::map<int, HeldBlock> blocks_;
    SharedHomes homes_{};
    std::map<int, SharedHomes> homes_elsewhere_;  // by stage
};

}  // namespace sextant
