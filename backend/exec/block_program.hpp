// One block of a network on one rank: forward and backward of its operators, on a device, with the exchanges between them.
//
// It holds no values: what it works on is passed in, so that one program serves every micro-batch and every step.
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
    EnumArray<SharedMatrix, Array, shared_matrix_count> tied{};  // of other blocks
    Array experts{}, frozen{}, biases{};
    [[nodiscard]] Array of(const ParameterTensor&) const;
};

// Where training stands: what random numbers and the weight of the loss depend on.
struct StepPosition {
    std::uint64_t seed = 0;
    std::uint64_t step = 0;
    std::int64_t first_sample = 0;  // of the micro-batch, counted through the global batch
    double loss_weight = 1;  // of the micro-batch's mean loss in the step's: 1 / micro-batches of all pipelines; times the loss scale
};

// An operator whose weight gradients a backward pass left for later, with what they are made of.
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
    // `mine` is cut as the plan says; `serial` is the same block of the network that nothing cuts, with the same micro-batch. The plan says
    // what is recomputed. Throws InputError with all that unsupported() finds (executable_graph.hpp).
    BlockProgram(const OperatorGraph& mine, const OperatorGraph& serial, const Plan&, const BlockOptions&);

    // With the tensors that only execution needs. Its inputs are what forward() wants, its outputs what forward() returns, in order.
    [[nodiscard]] const OperatorGraph& graph() const { return block_.graph; }
    [[nodiscard]] std::span<const ParameterTensor> parameters() const { return block_.parameters; }
    [[nodiscard]] std::int64_t elements(RunKind) const;

    // What stays from forward to backward.
    struct Kept {
        std::vector<Array> values;               // by tensor
        std::shared_ptr<const Routing> routing;  // of a block with experts
    };

    // `kept`: none for forward alone.
    std::vector<Array> forward(const BlockContext&, std::span<const Array> inputs, Kept* kept) const;
    // An output's gradient may be empty; losses have none, they begin the pass with the position's loss weight. Returns the gradients of
    // the inputs, empty where there is none.
    // `deferred`: gradients of weights that can be made apart are left to finish_backward(); none to make all at once.
    std::vector<Array> backward(const BlockContext&, Kept, std::span<const Array> output_gradients,
                                std::vector<DeferredOperator>* deferred = nullptr) const;
    void finish_backward(const BlockContext&, std::span<const DeferredOperator>) const;

    // The mean over the rows of each loss among the outputs, summed; rows without a label add nothing. None where no output is a loss.
    std::optional<double> loss(ComputeDevice&, std::span<const Array> outputs) const;
    [[nodiscard]] bool is_loss(std::size_t output) const { return block_.losses[output].has_value(); }
    // Once the step's last micro-batch is through: completes gradients of which the ranks of the tensor group have partial sums.
    void sum_partial_gradients(const BlockContext&) const;

    // The parameters as they begin, drawn from the seed.
    void draw_weights(ComputeDevice&, std::uint64_t seed, const ParameterArrays& weights) const;

private:
    PreparedBlock block_;
};

}  // namespace sextant
