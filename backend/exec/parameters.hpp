// The parameters of a block on one rank: which tensors an operator has, where they lie, and which part of the serial network's they are.
//
//   Gemm, Convolution    weight [outputs, inputs] (of a convolution its inputs are in_channels / groups x kernel_h x kernel_w), bias
//   Normalization        gain, and a shift unless it is an RMS norm or has none
//   Embedding            table [rows, width]
//   bias, multiply       a vector over the last extent (of an image: its channels)
//   add, copy            positions or segments [rows, width], the class token [1, width]
//   TokenPermute         a bias for each expert
//
// The parameters of a block lie one behind another in runs of fp32, so that a collective takes many at once. So do their gradients.
#pragma once

#include "backend/exec/place.hpp"
#include "backend/exec/random.hpp"
#include "model/workload/operator_graph.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant {

// Rows [local, local + count) are the rows of the serial tensor from `whole` on.
struct RowSection {
    std::int64_t local = 0, count = 0, whole = 0;
    bool repeated = false;  // a rank of the tensor group before this one has them too
};

enum class RunKind {
    own,
    tied,     // a SharedMatrix that another block owns; each lies by itself
    experts,  // weights of experts, in [experts, outputs] rows: other ranks hold the same ones than of `own`
    frozen,   // the block's own parameters without gradients
    biases,   // of experts in a router's decision: without gradients, always fp32, and whole on every rank
};

// What a parameter begins as.
struct Initial {
    enum class Kind { constant, uniform, normal } kind = Kind::constant;
    float scale = 0;  // the constant, the bound, the deviation
};

struct ParameterTensor {
    std::string name;  // "mlp.fc1.weight"
    std::size_t operator_index = 0;
    std::int64_t rows = 1, columns = 1;  // on this rank
    RunKind run = RunKind::own;
    std::optional<SharedMatrix> matrix{};  // which of the shared matrices it is, if it is one
    std::int64_t offset = 0;               // in the run
    bool frozen = false;                   // nothing trains it; a tied one still lies with the embedding
    bool shared = false;                   // cut over the tensor group, but some rows are on several of its ranks or all (key-value heads)
    bool partial = false;                  // each rank of the tensor group has the gradient of its part of the tokens only
    Initial initial;
    std::vector<RowSection> sections;
    Place place;  // of the columns in a row of the serial tensor
    std::int64_t whole_rows = 1, whole_columns = 1;
    RandomKey key{0};  // before the seed

    [[nodiscard]] std::int64_t elements() const { return rows * columns; }
};

// `mine` has the operators of `serial`, and also exchanges and the passes that sort what these bring. `block` is the number of the block in
// the network.
std::vector<ParameterTensor> parameters_of(const OperatorGraph& mine, const OperatorGraph& serial, const BlockCut&, int block);
// For each operator the one of `serial` that it is, or is a part of; none for operators that only a cut network has.
std::vector<std::optional<std::size_t>> counterparts(const OperatorGraph& mine, const OperatorGraph& serial);

// Draws the initial values of the serial tensor and keeps this rank's part. Rows behind the last of the serial tensor are zero.
void draw(const ParameterTensor&, std::uint64_t seed, std::span<float> to);
// Keeps this rank's part of any values of the serial tensor, such as trained ones.
void cut(const ParameterTensor&, std::span<const float> serial, std::span<float> to);

}  // namespace sextant
