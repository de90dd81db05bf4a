#include "backend/exec/wide_call.hpp"

#include <algorithm>
#include <utility>

namespace sextant {
namespace {

// Backward has more at hand than it reads: the rest is not worth a copy.
std::vector<Array> saved(const Operator& op, const std::vector<TensorId>& ids, std::span<const Array> arrays) {
    const std::vector<TensorId> needed = saved_for_backward(op);
    std::vector<Array> result(arrays.begin(), arrays.end());
    for (std::size_t i = 0; i < result.size(); ++i)
        if (std::ranges::find(needed, ids[i]) == needed.end()) result[i] = {};
    return result;
}

}  // namespace

Element element_of(const OperatorCall& c) {
    for (const auto arrays : {c.inputs, c.outputs, c.weights, c.output_gradients})
        for (const Array& a : arrays)
            if (is_half(a.element)) return a.element;
    return Element::real;
}

WideCall::WideCall(const OperatorCall& c, bool backward, Room room, Convert convert)
    : narrow_(c), backward_(backward), room_(std::move(room)), convert_(std::move(convert)), call_(c) {
    inputs_ = read(backward ? saved(c.op, c.op.inputs, c.inputs) : Arrays(c.inputs.begin(), c.inputs.end()));
    outputs_ = backward ? read(saved(c.op, c.op.outputs, c.outputs)) : made(c.outputs);
    weights_ = read(c.weights);
    output_gradients_ = read(c.output_gradients);
    input_gradients_ = made(c.input_gradients);
    call_.inputs = inputs_;
    call_.outputs = outputs_;
    call_.weights = weights_;
    call_.output_gradients = output_gradients_;
    call_.input_gradients = input_gradients_;
}

WideCall::Arrays WideCall::made(std::span<const Array> arrays) const {
    Arrays wide(arrays.begin(), arrays.end());
    for (Array& a : wide)
        if (is_half(a.element)) a = room_(a.elements);
    return wide;
}

WideCall::Arrays WideCall::read(std::span<const Array> arrays) const {
    Arrays wide = made(arrays);
    for (std::size_t i = 0; i < wide.size(); ++i)
        if (is_half(arrays[i].element)) convert_(arrays[i], wide[i]);
    return wide;
}

void WideCall::finish() const {
    const std::span<const Array> made = backward_ ? narrow_.input_gradients : narrow_.outputs;
    const Arrays& wide = backward_ ? input_gradients_ : outputs_;
    for (std::size_t i = 0; i < made.size(); ++i)
        if (is_half(made[i].element)) convert_(wide[i], made[i]);
}

}  // namespace sextant
