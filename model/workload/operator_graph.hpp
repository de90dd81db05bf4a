// The operator graph of one block: operators joined by tensors, each behind those whose tensors it reads.
#pragma once

#include "model/base/enum_array.hpp"
#include "model/workload/operator.hpp"

#include <span>
#include <string>
#include <vector>

namespace sextant {

// The elements of a SharedMatrix: those that the block owns, which are among its dense ones, and those that it uses and another block owns.
struct SharedCount {
    double owned = 0, tied = 0;
    friend bool operator==(const SharedCount&, const SharedCount&) = default;
};

// How many elements of parameters one device holds of a block, or of several blocks.
struct ParameterCount {
    double dense = 0;   // every rank of the data group has them too
    double expert = 0;  // shared out over the expert group
    EnumArray<SharedMatrix, SharedCount, shared_matrix_count> shared{};

    [[nodiscard]] double total() const { return dense + expert; }
    // With one copy of each matrix that no block of the stage owns, for all its blocks together. `before`: what has been counted of the
    // stage.
    [[nodiscard]] ParameterCount in_stage(const ParameterCount& before) const;
    friend ParameterCount operator+(const ParameterCount&, const ParameterCount&);
    friend ParameterCount operator*(double n, const ParameterCount&);  // so many such blocks
    friend bool operator==(const ParameterCount&, const ParameterCount&) = default;
};

// Immutable once built by GraphBuilder; operators stand in an order in which they can run.
class OperatorGraph {
public:
    [[nodiscard]] std::span<const Operator> operators() const { return operators_; }
    [[nodiscard]] std::span<const Tensor> tensors() const { return tensors_; }
    [[nodiscard]] const Tensor& tensor(TensorId id) const { return tensors_[id.value]; }
    [[nodiscard]] std::span<const TensorId> inputs() const { return inputs_; }    // arrive from the block before
    [[nodiscard]] std::span<const TensorId> outputs() const { return outputs_; }  // leave for the block after
    // Inputs that the block before needs in backward too.
    [[nodiscard]] std::span<const TensorId> kept_for_writer() const { return kept_for_writer_; }

    [[nodiscard]] double parameters() const;        // local, tied ones not counted
    [[nodiscard]] double dense_parameters() const;  // those not sharded over the expert group
    [[nodiscard]] double expert_parameters() const;
    [[nodiscard]] ParameterCount count_parameters(bool frozen) const;  // those that are trained, or those that are not

    friend bool operator==(const OperatorGraph&, const OperatorGraph&) = default;

private:
    friend class OperatorGraphBuilder;
    std::vector<Operator> operators_;
    std::vector<Tensor> tensors_;
    std::vector<TensorId> inputs_, outputs_, kept_for_writer_;
};

// Tensors that must stay in memory from forward to backward: the union over operators of what each needs, so that a tensor
// read by two operators is counted once. Which operand an operator needs:
//   - Gemm, Convolution: the input unless the weight is frozen, and the second input where it is no weight; Embedding: indices, likewise
//   - Attention: q, k, v, output, log-sum-exp; DeltaRuleScan: inputs, its second output
//   - Normalization, SequenceConvolution, StateSpaceScan, gelu, silu, gates, squared_relu, multiply: inputs
//   - relu, sigmoid, tanh, Softmax: output; max pooling: input and output
//   - dropout: mask; CrossEntropy: logits; TokenPermute: scores; others: nothing
// A tensor between two blocks counts in the one that reads it, when an operator of either needs it; so a block's own output never does
// (leaves_needed_output tells the block behind). What a block hands on beside it, for blocks further on, counts where an operator needs it.
// For the result of an Exchange that gathers again, or does nothing forward, the input of the exchange is kept; likewise for a view.
std::vector<TensorId> saved_for_backward(const OperatorGraph&);
// What one operator's backward reads.
std::vector<TensorId> saved_for_backward(const Operator&);
// Whether the operator that writes the block's (first) output needs it in backward, as ReLU does. The block that reads it must then keep
// it.
bool leaves_needed_output(const OperatorGraph&);

class OperatorGraphBuilder {
public:
    TensorId input(std::string name, std::vector<std::int64_t> shape, TensorRole role = TensorRole::activation);
    // Adds an operator over `inputs` and returns its (first) output, a new tensor of `shape`.
    TensorId add(Operator op, std::vector<std::int64_t> shape, TensorRole role = TensorRole::activation);
    // A further output of the last operator added: a mask, statistics.
    TensorId also(std::string name, std::vector<std::int64_t> shape, TensorRole role);
    void stands_for(std::string what);  // the last operator added
    void output(TensorId);
    void keep_for_writer(TensorId input);
    [[nodiscard]] const Tensor& tensor(TensorId id) const { return graph_.tensors_[id.value]; }
    OperatorGraph build() &&;

private:
    OperatorGraph graph_;
};

}  // namespace sextant
