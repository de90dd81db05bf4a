#include "backend/exec/recording_device.hpp"

#include <algorithm>
#include <initializer_list>

namespace sextant {
namespace {

Bytes bytes_of(std::initializer_list<std::span<const Array>> lists) {
    Bytes sum;
    for (const std::span<const Array> list : lists)
        for (const Array& a : list) sum += static_cast<double>(a.bytes()) * units::B;
    return sum;
}

std::int32_t index_of(const OperatorCall& c) { return static_cast<std::int32_t>(&c.op - c.graph.operators().data()); }

}  // namespace

bool weight_gradients_apart(const Operator& op) {
    return std::holds_alternative<Gemm>(op.kind) || std::holds_alternative<Convolution>(op.kind) ||
           std::holds_alternative<Embedding>(op.kind);
}

void RecordingDevice::forward(const OperatorCall& c) {
    recorder_.kernel(forward_kind(), bytes_of({c.inputs, c.outputs, c.weights}), forward_flops(c.op));
    timed(index_of(c), forward_kind(), 1, [&] { device_.forward(c); });
}

void RecordingDevice::backward(const OperatorCall& c) {
    const Bytes bytes = bytes_of({c.inputs, c.weights, c.input_gradients, c.output_gradients, c.weight_gradients});
    // Each of the two parts of a product's backward is a product of the same size; nobody wants the gradient of data.
    const bool two_parts = c.op.is_trained() && weight_gradients_apart(c.op);
    const bool one_part = phase_ != Phase::backward || std::ranges::none_of(c.input_gradients, [](const Array& a) { return bool(a); });
    recorder_.kernel(backward_kind(), bytes, (two_parts && one_part ? 0.5 : 1.0) * backward_flops(c.op));
    timed(index_of(c), backward_kind(), 1, [&] { device_.backward(c); });
}

ExpertCounts RecordingDevice::choose_experts(const OperatorCall& c, const RoutedTokens& tokens, const Array& rows, const Array& scores) {
    ExpertCounts counts;
    timed(index_of(c), forward_kind(), 0, [&] { counts = device_.choose_experts(c, tokens, rows, scores); });
    return counts;
}

void RecordingDevice::add(const Array& a, const Array& b, const Array& sum) {
    timed(gradient_sums, backward_kind(), 1, [&] { device_.add(a, b, sum); });
}

void RecordingDevice::update(const OptimizerSettings& settings, int step, const Array& weights, const Array& gradients,
                             std::span<const Array> states) {
    // Weights and states are read and written, gradients read.
    const std::array both{weights, gradients};
    recorder_.kernel(SpanKind::optimizer, bytes_of({both, states, states, std::span(both).first(1)}), Flops{});
    device_.update(settings, step, weights, gradients, states);
}

void RecordingDevice::take_moments(const OptimizerSettings& settings, int step, const Array& weights, const Array& gradients,
                                   std::span<const Array> states, const Array& squares) {
    const std::array both{weights, gradients};
    recorder_.kernel(SpanKind::optimizer, bytes_of({both, states, states}), Flops{});
    device_.take_moments(settings, step, weights, gradients, states, squares);
}

void RecordingDevice::step_in_proportion(const OptimizerSettings& settings, int step, const Array& weights, std::span<const Array> states,
                                         const Array& squares) {
    const std::array updated{weights};
    recorder_.kernel(SpanKind::optimizer, bytes_of({updated, updated, states}), Flops{});
    device_.step_in_proportion(settings, step, weights, states, squares);
}

}  // namespace sextant
