// The parameters of a block on one rank: which tensors an operator has, where they lie, which part of the serial network's they are.
//
//   Gemm, Convolution    weight [outputs, inputs] (of a convolution its inputs are in_channels / groups x kernel_h x kernel_w), bias
//   Normalization        gain, shift (but an RMS norm's, and where it has none)
//   Embedding            table [rows, width]
//   bias, multiply       a vector over the last extent (of an image: its channels)
//   add, copy            positions or segments [rows, width], the class token [1, width]
//   TokenPermute         a bias for each expert
//
// Those of a block lie one behind another in runs of fp32, so that a collective takes many at once; their gradients likewise.
#pragma once

#include "backend/exec/place.hpp"
#include "backend/exec/random.hpp"
#include "model/workload/operator_graph.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant {

// Rows [local, local + count) are rows from `whole` on of the serial tensor.
struct RowSection {
    std::int64_t local = 0, count = 0, whole = 0;
    bool repeated = false;  // a rank of the tensor group before this one has them too
};

enum class RunKind {
    own,
    tied,     // a SharedMatrix that another block owns: each lies by itself
    experts,  // the weights of a mixture's, [experts, outputs] rows, as other ranks have the same of them
    frozen,   // of the block's own, without gradients
    biases,   // of experts in a router's decision, without gradients: fp32 always, and whole on every rank
};

// What a parameter begins as.
struct Initial {
    enum class Kind { constant, uniform, normal } kind = Kind::constant;
    float scale = 0;  // the constant, the bound, the deviation
};

struct ParameterTensor {
    std::string name;  // "mlp.fc1.weight"
    std::size_t operator_index = 0;
    std::int64_t rows = 1, columns = 1;  // here
    RunKind run = RunKind::own;
    std::optional<SharedMatrix> matrix{};  // what it is, if that
    std::int64_t offset = 0;               // in the run
    bool frozen = false;                   // nothing trains it; a tied one lies with the embedding's all the same
    bool shared = false;                   // cut over the tensor group, but some rows are on several of its ranks or all (key-value heads)
    bool partial = false;                  // each rank of the tensor group has the gradient of its part of the tokens only
    Initial initial;
    std::vector<RowSection> sections;
    Place place;  // of the columns in a row of the serial tensor
    std::int64_t whole_rows = 1, whole_columns = 1;
    RandomKey key{0};  // before the seed

    [[nodiscard]] std::int64_t elements() const { return rows * columns; }
};

// `mine` has the operators of `serial`, and beside them exchanges, and the passes that sort what those bring. `block`: the number of the
// block in the network.
std::vector<ParameterTensor> parameters_of(const OperatorGraph& mine, const OperatorGraph& serial, const BlockCut&, int block);
// Of each operator the one of `serial` that it is, or is a part of; none of those that are in a cut network alone.
std::vector<std::optional<std::size_t>> counterparts(const OperatorGraph& mine, const OperatorGraph& serial);

// The tensor as the serial network would begin, cut to what is here; rows behind the last of the serial tensor are zero.
void draw(const ParameterTensor&, std::uint64_t seed, std::span<float> to);
// Likewise any serial tensor, as training would have left it.
void cut(const ParameterTensor&, std::span<const float> serial, std::span<float> to);

}  // namespace sextant
