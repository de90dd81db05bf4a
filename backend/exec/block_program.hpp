// One block of a network on one rank: forward and backward of its operators, on a device, with the exchanges between them.
//
// It holds no values. Its arrays are passed in, so that one program serves every micro-batch and every step.
#pragma once

#include "backend/exec/communicator.hpp"
#include "backend/exec/device.hpp"
#include "backend/exec/prepared_block.hpp"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sextant {

// The parameters of a block, or their gradients.
struct ParameterArrays {
    Array own{};
    EnumArray<SharedMatrix, Array, shared_matrix_count> tied{};  // owned by other blocks
    Array experts{}, frozen{}, biases{};
    [[nodiscard]] Array of(const ParameterTensor&) const;
};

// How far training is. Random numbers and the weight of the loss depend on it.
struct StepPosition {
    std::uint64_t seed = 0;
    std::uint64_t step = 0;
    std::int64_t first_sample = 0;  // of the micro-batch, counted through the global batch
    double loss_weight = 1;  // of the micro-batch's mean loss in that of the step: loss scale / number of micro-batches of all pipelines
};

// An operator whose weight gradients a backward pass left for later, with the arrays from which they are computed.
struct DeferredOperator {
    std::size_t index = 0;
    std::vector<Array> inputs, outputs, output_gradients;
    std::shared_ptr<const Routing> routing;
};

struct BlockContext {
    ComputeDevice& device;
    RankCommunicator& communicator;
    ParameterArrays weights, gradients;  // backward adds to the gradients
    StepPosition position;
};

class BlockProgram {
public:
    // `mine` is this rank's part of the block, `serial` the same block without any parallelism, with the same micro-batch. The plan says
    // what is recomputed. Throws InputError with all that unsupported() finds (executable_graph.hpp).
    BlockProgram(const OperatorGraph& mine, const OperatorGraph& serial, const Plan&, const BlockOptions&);

    // The graph with the tensors that only execution needs. forward() takes its inputs and returns its outputs, in order.
    [[nodiscard]] const OperatorGraph& graph() const { return block_.graph; }
    [[nodiscard]] std::span<const ParameterTensor> parameters() const { return block_.parameters; }
    [[nodiscard]] std::int64_t elements(RunKind) const;

    // What backward needs of forward.
    struct Kept {
        std::vector<Array> values;               // by tensor
        std::shared_ptr<const Routing> routing;  // of a block with experts
    };

    // `kept`: receives what backward needs; null where no backward follows.
    std::vector<Array> forward(const BlockContext&, std::span<const Array> inputs, Kept* kept) const;
    // An output's gradient may be empty. Losses have none: backward starts from the position's loss weight there. Returns the gradients of
    // the inputs; an input without one gets an empty array.
    // `deferred`: receives the operators whose weight gradients are left to finish_backward(); null to compute all gradients now.
    std::vector<Array> backward(const BlockContext&, Kept, std::vector<Array> output_gradients,
                                std::vector<DeferredOperator>* deferred = nullptr) const;
    void finish_backward(const BlockContext&, std::span<const DeferredOperator>) const;

    // The sum over the losses among the outputs, each a mean over its rows; rows without a label add nothing. None where no output is a
    // loss.
    std::optional<double> loss(ComputeDevice&, std::span<const Array> outputs) const;
    [[nodiscard]] bool is_loss(std::size_t output) const { return block_.losses[output].has_value(); }
    // Sums gradients of which each rank of the tensor group has a partial sum. To be called after the step's last micro-batch.
    void sum_partial_gradients(const BlockContext&) const;

    // Draws the initial weights from the seed.
    void draw_weights(ComputeDevice&, std::uint64_t seed, const ParameterArrays& weights) const;

private:
    PreparedBlock block_;
};

}  // namespace sextant
