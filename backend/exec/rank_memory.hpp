// What one rank holds of the network from step to step: programs and parameters of its blocks, gradients, the optimizer's states.
#pragma once

#include "backend/exec/block_program.hpp"
#include "model/graph/task_graph.hpp"

#include <map>

namespace sextant {

// This rank's share in ZeRO: of every block's run of parameters the part of that number.
struct ShardCut {
    int rank = 0, ranks = 1;
};

struct HeldBlock {
    BlockProgram program;
    std::int64_t elements = 0;  // of the run: its own parameters, its copy of tied ones, and padding to equal shards
    std::int64_t own = 0, tied_copy = 0;
    Array weights{};              // the run; none between uses where parameters are sharded
    Array gradients{};            // the run: of what backward made since the last reduction. None between uses where they are sharded
    Array owned{}, sums{};        // what this rank updates: all of the run or its shard, and the gradients for it
    Array masters{};              // `owned` in fp32, where weights are 16 bits: what the optimizer updates
    std::vector<Array> states{};  // of the optimizer, for `owned`
    Array received{};             // where gradients are sharded: what the reduction under way brings
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
    // `mine`: the network as this rank has it; `serial`: as nothing cuts it.
    RankMemory(ComputeDevice&, const TaskGraph&, GraphRank, const Network& serial, const Plan&, const BlockCut&, ShardCut, GradientFlow);

    void draw_weights(std::uint64_t seed);
    [[nodiscard]] HeldBlock& block(int b) { return blocks_.at(b); }
    [[nodiscard]] std::map<int, HeldBlock>& blocks() { return blocks_; }
    [[nodiscard]] const GradientFlow& flow() const { return flow_; }
    [[nodiscard]] const ShardCut& shard() const { return shard_; }

    // For a pass over a block: `weights` as they are or as they were gathered.
    ParameterArrays weights_of(int b, const Array& weights);
    ParameterArrays gradients_of(int b);  // makes room where there is none
    // Gradients of these blocks, which lie one behind another where they are not sharded.
    Array gradient_run(int first, int count);

    void settle(int b);  // what was reduced goes to the sums
    void clear_gradients();
    void update(ComputeDevice&, const OptimizerSettings&, int step);  // on the device that is to run it

private:
    // Tied parameters of a block here: those of the embedding where this rank has it, else a copy behind its own.
    ParameterArrays split(int b, const Array& run, const Array& embedding) const;

    ComputeDevice& device_;
    ShardCut shard_;
    GradientFlow flow_;
    std::map<int, HeldBlock> blocks_;
};

}  // namespace sextant
