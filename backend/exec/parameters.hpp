// The parameters of a block on one rank: which tensors an operator has, where they lie, and which part of the serial network's they are.
//
//   Gemm, Convolution    weight [outputs, inputs], bias; of a convolution its inputs are in_channels / groups x kernel_h x kernel_w, of a
//                        transposed one those of the underlying convolution
//   Normalization        gain, and a shift unless it is an RMS norm or has none
//   Embedding            table [rows, width]
//   bias, multiply       a vector over the last extent (of an image: its channels)
//   add, copy            positions or segments [rows, width], the class token [1, width]
//   TokenPermute         a bias for each expert
//
// The parameters of a block lie one behind another in a few runs, and so do their gradients, so that a collective takes many at once.
#pragma once

#include "backend/exec/place.hpp"
#include "backend/exec/random.hpp"
#include "model/workload/operator_graph.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant {

// Rows [local, local + count) of this rank are rows [whole, whole + count) of the serial tensor.
struct RowSection {
    std::int64_t local = 0, count = 0, whole = 0;
    bool repeated = false;  // a rank of the tensor group before this one has them too
};

enum class RunKind {
    own,
    tied,     // a SharedMatrix that another block owns; each has a run of its own
    experts,  // weights of experts, in [experts, outputs] rows; not the same ranks have copies of them as of `own`
    frozen,   // the block's own parameters that have no gradients
    biases,   // of experts in a router's decision: without gradients, always fp32, and whole on every rank
};

// The initial value of a parameter.
struct Initial {
    enum class Kind { constant, uniform, normal, sinusoids } kind = Kind::constant;
    float scale = 0;  // the constant, the bound, the standard deviation, or the base of the wavelengths
};

struct ParameterTensor {
    std::string name;  // "mlp.fc1.weight"
    std::size_t operator_index = 0;
    std::int64_t rows = 1, columns = 1;  // on this rank
    RunKind run = RunKind::own;
    std::optional<SharedMatrix> matrix{};  // which of the shared matrices it is, if it is one
    std::int64_t offset = 0;               // in the run
    bool frozen = false;                   // it is not trained; a tied one still lies with the embedding
    bool shared = false;                   // cut over the tensor group, but some rows are on several of its ranks (key-value heads)
    bool partial = false;                  // each rank of the tensor group has the gradient of its own tokens only
    Initial initial;
    std::vector<RowSection> sections;
    Place place;  // of this rank's columns in a row of the serial tensor
    std::int64_t whole_rows = 1, whole_columns = 1;
    RandomKey key{0};  // before the seed

    [[nodiscard]] std::int64_t elements() const { return rows * columns; }
};

// `mine` has the operators of `serial`, and in addition exchanges and the sorting of what they bring. `block`: its number in the network.
std::vector<ParameterTensor> parameters_of(const OperatorGraph& mine, const OperatorGraph& serial, const BlockCut&, int block);
// For each operator of `mine` its counterpart in `serial`; none for operators that only a divided network has.
std::vector<std::optional<std::size_t>> counterparts(const OperatorGraph& mine, const OperatorGraph& serial);

// Draws this rank's part of the initial values of the serial tensor. Rows behind the last of the serial tensor are zero.
void draw(const ParameterTensor&, std::uint64_t seed, std::span<float> to);
// Copies this rank's part of values of the serial tensor, such as trained ones.
void cut(const ParameterTensor&, std::span<const float> serial, std::span<float> to);

}  // namespace sextant
