// Follows a program call by call and writes down what each computes. Internal to model/io/torch.
//
// A value that no input of the user goes into (a parameter, a table of positions, a mask) is a constant: what makes it is not charged, and
// its parameters belong to the operator that reads it. Views cost nothing; what PyTorch copies because the order in memory does not allow
// a view is a copy. All counts are of one sample: the first extent of the first input is how many were traced.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/io/torch/exported_program.hpp"
#include "model/io/torch/traced_network.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

class Tracer {
public:
    Tracer(const TorchProgram&, std::string file);
    // Throws InputError with every kind of call that no operator is known for.
    TracedNetwork trace();
    // What keeps the network from being run; empty where nothing does.
    [[nodiscard]] const std::string& only_predicted() const { return only_predicted_; }
    [[nodiscard]] std::int64_t samples() const { return samples_; }

private:
    struct Value {
        std::optional<TensorId> made{};         // by an operator, or given by the user; none: a constant
        std::vector<std::string> parameters{};  // that a constant is made of
        bool of_positions = false;              // a constant that compares positions, as causal masks do
    };
    using Handler = void (Tracer::*)(const TorchCall&);
    static const std::map<std::string_view, Handler>& handlers();

    // ---- the program
    void read_call(const TorchCall&);
    void read_constant(const TorchCall&, std::string_view name);
    [[nodiscard]] const TorchTensor& shape_of(const std::string& tensor, const TorchCall&) const;
    [[nodiscard]] const Value& value(const std::string& tensor) const;
    // Names of the tensors that it reads: of one argument, its first, of all those that are no constants or are.
    [[nodiscard]] static std::vector<std::string> names(const TorchCall&, std::string_view argument);
    [[nodiscard]] static std::string name(const TorchCall&, std::string_view argument);
    [[nodiscard]] std::vector<std::string> made_operands(const TorchCall&) const;
    [[nodiscard]] std::vector<std::string> constant_operands(const TorchCall&) const;
    [[nodiscard]] static std::vector<std::int64_t> integers(const TorchCall&, std::string_view argument);
    // Likewise of pixels. Throws InputError where one is negative, or beyond any image.
    [[nodiscard]] std::vector<std::int64_t> window(const TorchCall&, std::string_view argument) const;
    [[nodiscard]] static std::int64_t integer(const TorchCall&, std::string_view argument, std::int64_t otherwise);
    [[nodiscard]] static bool flag(const TorchCall&, std::string_view argument);
    [[nodiscard]] std::int64_t of_sample(std::int64_t count) const;
    [[noreturn]] void refuse(const TorchCall&, std::string what) const;
    void run_never(std::string why);

    // ---- what is written down
    struct Weights {
        double own = 0, tied = 0;      // elements; those of operators before
        std::size_t first_reader = 0;  // of those
        bool frozen = false;
    };
    Weights take(const std::vector<std::string>& constants);
    // An operator over those tensors, which makes what the call makes. Constants among `weights` are its parameters.
    Operator& emit(const TorchCall&, OperatorKind, const std::vector<std::string>& inputs, const std::vector<std::string>& weights = {});
    Operator& append(std::string module, Operator);
    TensorId add_tensor(Tensor);
    TensorId new_tensor(std::string name, const TorchTensor&);
    void also(Operator&, std::string name, std::vector<std::int64_t> shape, TensorRole);
    void same(const TorchCall&);  // it hands on what it reads

    // ---- calls
    void view(const TorchCall&);
    void reshape(const TorchCall&);
    void pass(const TorchCall&, PointwiseKind, bool in_place = false);
    void copy(const TorchCall&);
    void cast(const TorchCall&);
    void add(const TorchCall&);
    void multiply(const TorchCall&);
    void divide(const TorchCall&);
    void dropout(const TorchCall&);
    void linear(const TorchCall&);
    void add_product(const TorchCall&);
    void product(const TorchCall&);
    void lay_in_rows(const TorchCall&, const std::string& operand, std::size_t matrix_dims);
    void einsum(const TorchCall&);
    void write_product(const TorchCall&, const std::string& input, const std::string& weight, const std::string& bias);
    void convolution(const TorchCall&);
    void attention(const TorchCall&);
    void softmax(const TorchCall&);
    void batch_norm(const TorchCall&);
    void row_norm(const TorchCall&);
    void group_norm(const TorchCall&);
    void write_norm(const TorchCall&, Normalization);
    void pool(const TorchCall&);
    void reduce(const TorchCall&);
    void embedding(const TorchCall&);
    void resize(const TorchCall&);
    void cross_entropy(const TorchCall&);
    void end_with_loss();

    const TorchProgram& program_;
    std::string file_;
    std::int64_t samples_ = 1;
    std::map<std::string, Value, std::less<>> values_{};
    std::map<std::string, std::size_t, std::less<>> readers_{};                       // of each parameter, the first operator that reads it
    std::map<std::string, std::pair<const TorchCall*, int>, std::less<>> unknown_{};  // target: the first call, and how many there are
    TracedNetwork network_{};
    std::string only_predicted_{};
    bool any_trained_ = false;
};

}  // namespace sextant
