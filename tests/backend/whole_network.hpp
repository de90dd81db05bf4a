// A whole network on one rank (of a tensor-parallel group, where the test has one): block after block, without pipeline or data
// parallelism.
#pragma once

#include "backend/exec/block_program.hpp"
#include "model/workload/workload.hpp"

#include <functional>
#include <vector>

namespace sextant {

struct NetworkCut {
    Shard shard{};    // micro_batch, tensor, sequence_parallel, flash_attention
    TensorCut cut{};  // the rank that this is
    Plan plan{};      // recompute
    bool recomputed = false;
};

class WholeNetwork {
public:
    // What the data gives: the first block's input, ids, labels.
    using Data = std::function<Array(const Tensor&)>;

    WholeNetwork(ComputeDevice&, RankCommunicator&, const Workload&, const NetworkCut&);

    [[nodiscard]] std::size_t blocks() const { return programs_.size(); }
    [[nodiscard]] const BlockProgram& program(std::size_t block) const { return programs_[block]; }
    [[nodiscard]] BlockContext context(std::size_t block, const StepPosition& = {}) const;

    // Calls visit(block, parameter, its weights, its gradients) for all that are not tied.
    void for_each_parameter(const std::function<void(std::size_t, const ParameterTensor&, const Array&, const Array&)>& visit) const;

    void draw_weights(std::uint64_t seed);
    void clear_gradients();
    double forward_and_backward(const Data&, const StepPosition& = {});          // the last block's loss; gradients are added
    [[nodiscard]] const std::vector<double>& losses() const { return losses_; }  // then: by block, zero where it has none
    void update(const OptimizerSettings&);
    [[nodiscard]] std::int64_t kept_bytes() const { return kept_bytes_; }  // from forward to backward, at the end of forward

private:
    ComputeDevice& device_;
    RankCommunicator& communicator_;
    std::vector<BlockProgram> programs_;
    std::vector<ParameterArrays> weights_, gradients_;
    std::vector<std::vector<Array>> states_;
    int steps_ = 0;
    std::int64_t kept_bytes_ = 0;
    std::vector<double> losses_;
};

}  // namespace sextant
