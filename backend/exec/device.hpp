// What an engine must be able to do: hold arrays, and run one operator forward or backward on them.
//
// Calls take effect in the order in which they are made. A call may return before its work is done: download() waits, and marks tell how
// far the device is. One thread makes all calls, except allocate(), the release of an array, and reached(), which any thread may make.
// Another thread that reads or writes an array must first wait for a mark behind the work on it.
#pragma once

#include "backend/exec/array.hpp"
#include "backend/exec/place.hpp"
#include "backend/exec/random.hpp"
#include "backend/exec/routing.hpp"
#include "backend/storage/clock.hpp"
#include "model/plan/plan.hpp"
#include "model/workload/operator_graph.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <span>

namespace sextant {

// A point in the order of a device's work: behind everything that was called for before the mark was made.
struct Mark {
    Seconds made{};         // when it was made: when the work is done too, on a device whose calls return with their work done
    void* event = nullptr;  // of a device whose calls return before
};

// One operator and its arrays, in the order in which the operator lists its tensors. Activations, their gradients and weights have one
// type; statistics, the gradients of weights and all arithmetic are fp32.
//
// Forward reads `inputs` and fills `outputs`. Backward reads `output_gradients`, where an empty one counts as zero and at least one is not
// empty, and only those values that saved_for_backward names. It fills those `input_gradients` that are not empty, and adds to
// `weight_gradients`. An operator for which weight_gradients_apart() holds may have none, as where its weights are frozen.
struct OperatorCall {
    const OperatorGraph& graph;
    const Operator& op;
    std::span<const Array> inputs, outputs;
    std::span<const Array> weights;  // see parameters.hpp
    std::span<const Array> input_gradients, output_gradients, weight_gradients;
    Place place;                    // of the first output; its context cut says where in the sequences this rank's rows are
    std::int64_t samples = 1;       // of the micro-batch
    std::int64_t first_row = 0;     // the first row of an embedding, or class of a cross entropy, on this rank
    std::int64_t valid_rows = 0;    // how many of them are on this rank; behind them is padding, which nothing refers to
    bool adds_bias = true;          // one rank alone adds the bias where the products of several ranks are summed
    RandomKey dropout{0};           // of this operator in this step
    std::int64_t first_sample = 0;  // of the micro-batch, counted through the step
    // Set between a router and the sum over its experts, where arrays have as many rows as were routed, not as the graph's tensors say.
    const Routing* routing = nullptr;
    bool to_experts = false;  // the operator comes before the first product of the experts

    [[nodiscard]] const Tensor& input(std::size_t i) const { return graph.tensor(op.inputs[i]); }
    [[nodiscard]] const Tensor& output(std::size_t i) const { return graph.tensor(op.outputs[i]); }
};

// Whether the operator computes the gradients of its weights in a pass of its own: matrix products, convolutions and tables.
bool weight_gradients_apart(const Operator&);

inline bool is_image(const Tensor& t) { return t.shape.size() == 4; }  // [samples, channels, height, width]
// Of a tensor as a matrix. An image is one of pixels by channels.
inline std::int64_t columns_of(const Tensor& t) { return is_image(t) ? t.shape[1] : t.shape.back(); }

// Products without a weight are those of plain attention: scores are made of two matrices of tokens, [groups x length, heads x width];
// results, of scores, [groups x heads, queries, keys], and tokens. The tokens of a group attend to each other: those of a sample, or of a
// window of an image.
inline bool are_scores(const Tensor& t) { return t.shape.size() == 3; }
inline bool makes_scores(const OperatorCall& c) { return c.input(0).shape.size() == 2; }
inline std::int64_t attending_groups(const Gemm& g, const OperatorCall& c) {
    return (makes_scores(c) ? c.input(0) : c.output(0)).shape.front() / g.m;
}

// Of scores between the pixels of a window: its side.
inline std::int64_t window_px(const Tensor& scores) { return std::llround(std::sqrt(static_cast<double>(scores.shape[1]))); }

struct OptimizerSettings {
    Optimizer kind = Optimizer::adamw;
    double learning_rate = 1e-3, momentum = 0.9, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
    std::optional<double> largest_norm{};  // gradients whose global norm is larger are scaled down to it (clipping)
    std::optional<double> loss_scale{};    // the first one, where the loss is scaled
};

class ComputeDevice {
public:
    ComputeDevice() = default;
    ComputeDevice(const ComputeDevice&) = delete;
    ComputeDevice& operator=(const ComputeDevice&) = delete;
    virtual ~ComputeDevice() = default;

    virtual Array allocate(std::int64_t elements, Element = Element::real) = 0;  // content undefined
    [[nodiscard]] virtual std::int64_t bytes_in_use() const = 0;
    [[nodiscard]] virtual std::int64_t peak_bytes() const = 0;  // so far

    virtual void upload(const void* from, const Array& to) = 0;
    virtual void download(const Array& from, void* to) = 0;
    virtual void fill(const Array&, float) = 0;
    virtual void copy(const Array& from, const Array& to) = 0;  // rounds where `to` has fewer bits
    // Copies rows x width elements between matrices. A pitch is the distance of two rows in elements.
    virtual void copy_columns(const Array& from, std::int64_t from_pitch, const Array& to, std::int64_t to_pitch, std::int64_t width,
                              std::int64_t rows) = 0;
    virtual void add(const Array& a, const Array& b, const Array& sum) = 0;  // sum may be a or b
    virtual void scale(const Array&, float) = 0;                             // of fp32
    virtual double sum_of_squares(std::span<const Array>) = 0;               // over all of the arrays, which are fp32

    // Called before the forward() of a TokenPermute: chooses experts as choose_experts() of routing.hpp does, fills the `rows` and `scores`
    // of a Routing, and returns when that is done.
    virtual ExpertCounts choose_experts(const OperatorCall&, const RoutedTokens&, const Array& rows, const Array& scores) = 0;
    virtual void forward(const OperatorCall&) = 0;
    virtual void backward(const OperatorCall&) = 0;
    // Combines the statistics of a cross entropy whose classes are cut over several ranks. `parts`: what each rank found, [ranks, rows, 3];
    // see CrossEntropy in executable_graph.hpp.
    virtual void merge_losses(const Array& parts, int ranks, const Array& losses, const Array& statistics) = 0;

    // A mark is valid until the step after its own begins. These defaults suit a device whose work is done when a call returns.
    virtual void begin_step() {}
    virtual Mark mark() { return {now()}; }
    virtual bool reached(const Mark&) { return true; }
    virtual Seconds time_of(const Mark& m) { return m.made; }  // when it was reached, by the clock of this process
    virtual void finish() {}                                   // waits until all work is done
    // Names, for a profiler, the work that is called for until leave().
    virtual void enter(const std::function<std::string()>&) {}
    virtual void leave() {}

    // One step of an optimizer; all arrays are fp32. `states`: facts_of(kind).states arrays, zero before the first step. `step` counts from
    // 1.
    virtual void update(const OptimizerSettings&, int step, const Array& weights, const Array& gradients,
                        std::span<const Array> states) = 0;
    // LAMB in two parts, in place of update(). The first takes the gradients into the moments, and adds the squares of the weights and of
    // their steps to the two elements of `squares` (empty where another rank counts them). When these are summed over a whole tensor, the
    // second takes a step in their proportion with each part of it.
    virtual void take_moments(const OptimizerSettings&, int step, const Array& weights, const Array& gradients,
                              std::span<const Array> states, const Array& squares) = 0;
    virtual void step_in_proportion(const OptimizerSettings&, int step, const Array& weights, std::span<const Array> states,
                                    const Array& squares) = 0;
};

}  // namespace sextant
