// What an engine must be able to do: hold arrays, and run one operator forward or backward on them.
//
// Calls take effect in the order in which they are made. A device may return before the work is done; download() waits, and marks tell how
// far it is. All come from one thread, but for allocate(), the release of an array, and reached(), which may come from any. Where another
// thread writes into an array, or reads one, the work before must be done: it waits for a mark.
#pragma once

#include "backend/exec/array.hpp"
#include "backend/exec/place.hpp"
#include "backend/exec/random.hpp"
#include "backend/exec/routing.hpp"
#include "backend/storage/clock.hpp"
#include "model/plan/plan.hpp"
#include "model/workload/operator_graph.hpp"

#include <array>
#include <functional>
#include <optional>
#include <span>

namespace sextant {

// An instant in the order of a device's work: behind all that was called for before it was made.
struct Mark {
    Seconds made{};         // where work is done when its call returns, the instant itself
    void* event = nullptr;  // of a device that returns before that
};

// One operator and what it works on; arrays stand as the operator lists its tensors. Activations, their gradients and weights are of one
// type; statistics and the gradients of weights are fp32, as is what an operator computes in.
//
// Forward reads `inputs` and fills `outputs`. Backward reads `output_gradients` (an empty one counts as zero; not all are) and of the
// values those alone that saved_for_backward names, fills those `input_gradients` that are not empty, and adds to `weight_gradients`: where
// weight_gradients_apart() holds, to none if there are none, as where they are frozen.
struct OperatorCall {
    const OperatorGraph& graph;
    const Operator& op;
    std::span<const Array> inputs, outputs;
    std::span<const Array> weights;  // see parameters.hpp
    std::span<const Array> input_gradients, output_gradients, weight_gradients;
    Place place;                    // of the first output; its context cut says where in their sequences the rows here stand
    std::int64_t samples = 1;       // of the micro-batch
    std::int64_t first_row = 0;     // of the rows of an embedding, or of the classes of a cross entropy, here
    std::int64_t valid_rows = 0;    // how many of those exist; behind them is padding, in which nothing is found
    bool adds_bias = true;          // the products of several ranks are summed, and the bias belongs into the sum once
    RandomKey dropout{0};           // of this operator in this step
    std::int64_t first_sample = 0;  // of the micro-batch, counted through the step
    // Between a router and the sum of what its experts made: arrays have as many rows as were routed, not as the graph's tensors say.
    const Routing* routing = nullptr;
    bool to_experts = false;  // it comes before their first product

    [[nodiscard]] const Tensor& input(std::size_t i) const { return graph.tensor(op.inputs[i]); }
    [[nodiscard]] const Tensor& output(std::size_t i) const { return graph.tensor(op.outputs[i]); }
};

// Products and tables, whose weights get their gradients in a pass over the data of its own.
bool weight_gradients_apart(const Operator&);

// One step of an optimizer over a run of parameters.
struct OptimizerSettings {
    Optimizer kind = Optimizer::adamw;
    double learning_rate = 1e-3, momentum = 0.9, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
    std::optional<double> largest_norm{};  // of the gradients of all parameters together; longer ones are shortened before the update
    std::optional<double> loss_scale{};    // what it begins as, where the loss is scaled
};

class ComputeDevice {
public:
    ComputeDevice() = default;
    ComputeDevice(const ComputeDevice&) = delete;
    ComputeDevice& operator=(const ComputeDevice&) = delete;
    virtual ~ComputeDevice() = default;

    virtual Array allocate(std::int64_t elements, Element = Element::real) = 0;  // content undefined
    [[nodiscard]] virtual std::int64_t bytes_in_use() const = 0;
    [[nodiscard]] virtual std::int64_t peak_bytes() const = 0;  // since the last reset
    virtual void reset_peak() = 0;

    virtual void upload(const void* from, const Array& to) = 0;
    virtual void download(const Array& from, void* to) = 0;
    virtual void fill(const Array&, float) = 0;
    virtual void copy(const Array& from, const Array& to) = 0;  // what is stored in fewer bits is rounded
    // rows x width elements out of and into matrices whose rows are so far apart.
    virtual void copy_columns(const Array& from, std::int64_t from_pitch, const Array& to, std::int64_t to_pitch, std::int64_t width,
                              std::int64_t rows) = 0;
    virtual void add(const Array& a, const Array& b, const Array& sum) = 0;  // sum may be a or b
    virtual void scale(const Array&, float) = 0;                             // of fp32, as is what follows
    virtual double sum_of_squares(std::span<const Array>) = 0;               // of all of them

    // Before the forward() of a TokenPermute: decides from its scores and biases as choose_experts() of routing.hpp does, fills the `rows`
    // and `scores` of a Routing, and returns when it is done.
    virtual ExpertCounts choose_experts(const OperatorCall&, const RoutedTokens&, const Array& rows, const Array& scores) = 0;
    virtual void forward(const OperatorCall&) = 0;
    virtual void backward(const OperatorCall&) = 0;
    // The loss over classes that several ranks hold: `parts` is what each found about its own, [ranks, rows, 3]; see CrossEntropy in
    // executable_graph.hpp.
    virtual void merge_losses(const Array& parts, int ranks, const Array& losses, const Array& statistics) = 0;

    // Marks are good until the step after theirs begins. A device whose work is done when a call returns has nothing to add to these.
    virtual void begin_step() {}
    virtual Mark mark() { return {now()}; }
    virtual bool reached(const Mark&) { return true; }
    virtual Seconds time_of(const Mark& m) { return m.made; }  // of one that is reached: when, by the clock of this process
    virtual void finish() {}                                   // waits until all is done
    // What a profiler is to show what is called for until leave() as.
    virtual void enter(const std::function<std::string()>&) {}
    virtual void leave() {}

    // All in fp32. `states`: as many as facts_of(kind).states, zero before the first step. `step` counts from 1.
    virtual void update(const OptimizerSettings&, int step, const Array& weights, const Array& gradients,
                        std::span<const Array> states) = 0;
    // LAMB instead in two parts. The gradients go into the moments, and the squares of the weights and of their steps are added to the two
    // of `squares` (none: they count elsewhere). Once these are of a whole tensor, each part of it takes a step in their proportion.
    virtual void take_moments(const OptimizerSettings&, int step, const Array& weights, const Array& gradients,
                              std::span<const Array> states, const Array& squares) = 0;
    virtual void step_in_proportion(const OptimizerSettings&, int step, const Array& weights, std::span<const Array> states,
                                    const Array& squares) = 0;
};

}  // namespace sextant
