#include "backend/exec/block_run.hpp"

#include <algorithm>

namespace sextant {
namespace {

bool any(const std::vector<Array>& arrays) {
    return std::ranges::any_of(arrays, [](const Array& a) { return static_cast<bool>(a); });
}

}  // namespace

Array BlockRun::allocate(TensorId id) const {
    const Tensor& t = block_.graph.tensor(id);
    const Element element = element_of(t.role, block_.options.element);
    const auto elements = static_cast<std::int64_t>(t.elements());
    const RoutedRows where = block_.rows[id.value];
    if (where == RoutedRows::none) return context_.device.allocate(elements, element);
    const std::int64_t width = elements / t.shape.front(), rows = rows_at(where, *routing_);
    return context_.device.allocate(room_for(rows) * width, element).part(0, rows * width);
}

std::vector<Array> BlockRun::values_of(const std::vector<TensorId>& ids) const {
    Arrays result;
    for (const TensorId id : ids) result.push_back(values_[id.value]);
    return result;
}

std::vector<Array> BlockRun::parameters_in(std::size_t index, const ParameterArrays& arrays) const {
    Arrays result;
    for (const std::size_t p : block_.operators[index].parameters) result.push_back(arrays.of(block_.parameters[p]));
    return result;
}

// The gradients of a norm's gain, or of a bias, come with that of the input: where they are frozen, to nobody's use.
std::vector<Array> BlockRun::thrown_away(std::size_t index) const {
    Arrays result;
    if (weight_gradients_apart(block_.graph.operators()[index])) return result;
    for (const std::size_t p : block_.operators[index].parameters)
        result.push_back(context_.device.allocate(block_.parameters[p].elements()));
    return result;
}

OperatorCall BlockRun::call(std::size_t index, const Arrays& inputs, const Arrays& outputs, const Arrays& weights) const {
    const PreparedOperator& p = block_.operators[index];
    const StepPosition& at = context_.position;
    return {.graph = block_.graph,
            .op = block_.graph.operators()[index],
            .inputs = inputs,
            .outputs = outputs,
            .weights = weights,
            .input_gradients = {},
            .output_gradients = {},
            .weight_gradients = {},
            .place = p.place,
            .samples = block_.options.samples,
            .first_row = p.first_row,
            .valid_rows = p.valid_rows,
            .adds_bias = p.adds_bias,
            .dropout = p.key.with(at.seed).with(at.step),
            .first_sample = at.first_sample,
            .routing = p.routed ? routing_.get() : nullptr,
            .to_experts = p.to_experts};
}

void BlockRun::run(std::size_t index) {
    const Operator& op = block_.graph.operators()[index];
    if (const auto* e = std::get_if<Exchange>(&op.kind)) return run(op, block_.operators[index], *e);
    const Arrays inputs = values_of(op.inputs), weights = parameters_in(index, context_.weights);
    // Run again for backward, it decides what it decided before: that is kept.
    std::shared_ptr<Routing> decided;
    if (std::holds_alternative<TokenPermute>(op.kind) && !routing_) {
        // The position's weight is a context rank's part of the loss; that for balance is of whole sequences.
        const double weight = context_.position.loss_weight * block_.options.cut.context.ranks;
        decided = std::make_shared<Routing>(experts().route(call(index, inputs, {}, weights), block_.operators[index].tokens, weight));
        routing_ = decided;
    }
    for (const TensorId id : op.outputs) values_[id.value] = allocate(id);
    const Arrays outputs = values_of(op.outputs);
    context_.device.forward(call(index, inputs, outputs, weights));
    if (decided) experts().share_counts(block_.gathers_rows, *decided);
    if (block_.operators[index].merges_losses) {
        const int ranks = context_.communicator.ranks(ParallelGroup::tensor);
        const Array parts = context_.device.allocate(outputs[1].elements * ranks);
        context_.communicator.all_gather(ParallelGroup::tensor, outputs[1], parts);
        context_.device.merge_losses(parts, ranks, outputs[0], outputs[1]);
    }
}

void BlockRun::run(const Operator& op, const PreparedOperator& p, const Exchange& e) {
    const Arrays inputs = values_of(op.inputs);
    if (e.group == ParallelGroup::context) {
        const Arrays wholes = arrays().gather_sequences(inputs);
        for (std::size_t i = 0; i < wholes.size(); ++i) values_[op.outputs[i].value] = wholes[i];
        return;
    }
    if (p.routed) {
        for (std::size_t i = 0; i < inputs.size(); ++i)
            values_[op.outputs[i].value] = e.forward == ExchangeKind::none ? inputs[i] : allocate(op.outputs[i]);
        if (e.forward == ExchangeKind::none) return;
        return experts().exchange_rows(e.forward, e.group, *routing_, p.to_experts, inputs, values_of(op.outputs));
    }
    const TensorId in = op.inputs.front(), out = op.outputs.front();
    // The statistics of the losses were exchanged where they were made.
    const std::size_t maker = block_.makers[in.value];
    const bool merged = maker < block_.operators.size() && block_.operators[maker].merges_losses;
    const ExchangeKind kind = merged ? ExchangeKind::none : e.forward;
    values_[out.value] = arrays().exchange(kind, e.group, inputs.front(), block_.graph.tensor(in), block_.graph.tensor(out));
}

void BlockRun::forward(bool keep) {
    for (std::size_t i = 0; i < block_.graph.operators().size(); ++i) {
        run(i);
        release_forward(i, keep);
    }
}

void BlockRun::release_forward(std::size_t index, bool keep) {
    const Operator& op = block_.graph.operators()[index];
    const auto release = [&](TensorId id) {
        const bool kept = keep && block_.retention.kept[id.value];
        if (!kept && block_.retention.last_forward[id.value] == index) values_[id.value] = {};
    };
    std::ranges::for_each(op.inputs, release);
    std::ranges::for_each(op.outputs, release);
}

void BlockRun::backward(std::vector<DeferredOperator>* deferred) {
    for (std::size_t i = block_.graph.operators().size(); i-- > 0;) {
        if (block_.differentiated[i]) differentiate(i, deferred);
        for (const TensorId id : block_.graph.operators()[i].outputs) gradients_[id.value] = {};
        release_backward(i);
    }
}

void BlockRun::run_again(std::size_t index) {
    for (const RunAgain& again : block_.retention.again[index]) {
        run(again.operator_index);
        for (const TensorId id : again.releases) values_[id.value] = {};
    }
}

void BlockRun::differentiate(std::size_t index, std::vector<DeferredOperator>* deferred) {
    const Operator& op = block_.graph.operators()[index];
    Arrays output_gradients;
    for (const TensorId id : op.outputs) output_gradients.push_back(gradients_[id.value]);
    if (!any(output_gradients)) return;
    if (block_.operators[index].passes_through) {
        for (const TensorId id : op.inputs)
            if (block_.wants_gradient[id.value]) accumulate(id, output_gradients.front());
        return;
    }
    if (const auto* e = std::get_if<Exchange>(&op.kind)) return differentiate(op, block_.operators[index], *e, output_gradients);
    run_again(index);
    const Arrays inputs = values_of(op.inputs), outputs = values_of(op.outputs);
    const bool later = deferred != nullptr && op.is_trained() && weight_gradients_apart(op);
    if (later) deferred->push_back({index, inputs, outputs, output_gradients, routing_});
    const Arrays weights = parameters_in(index, context_.weights);
    Arrays weight_gradients;
    if (op.frozen)
        weight_gradients = thrown_away(index);
    else if (!later)
        weight_gradients = parameters_in(index, context_.gradients);
    Arrays input_gradients;
    for (const TensorId id : op.inputs) input_gradients.push_back(block_.wants_gradient[id.value] ? allocate(id) : Array{});
    OperatorCall c = call(index, inputs, outputs, weights);
    c.input_gradients = input_gradients;
    c.output_gradients = output_gradients;
    c.weight_gradients = weight_gradients;
    if (!later || any(input_gradients)) context_.device.backward(c);
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
        if (input_gradients[i]) accumulate(op.inputs[i], std::move(input_gradients[i]));
}

void BlockRun::differentiate(const Operator& op, const PreparedOperator& p, const Exchange& e, const Arrays& output_gradients) {
    if (e.group == ParallelGroup::context) {
        const Arrays parts = arrays().scatter_sequences(output_gradients);
        for (std::size_t i = 0; i < parts.size(); ++i) accumulate(op.inputs[i], parts[i]);
        return;
    }
    if (p.routed) {
        Arrays gradients;
        for (const TensorId id : op.inputs) gradients.push_back(allocate(id));
        experts().exchange_rows(e.backward, e.group, *routing_, !p.to_experts, output_gradients, gradients);
        for (std::size_t i = 0; i < gradients.size(); ++i) accumulate(op.inputs[i], gradients[i]);
        return;
    }
    const TensorId in = op.inputs.front(), out = op.outputs.front();
    accumulate(in, arrays().exchange(e.backward, e.group, output_gradients.front(), block_.graph.tensor(out), block_.graph.tensor(in)));
}

void BlockRun::finish(const DeferredOperator& d) {
    set_routing(d.routing);
    const Arrays weights = parameters_in(d.index, context_.weights), weight_gradients = parameters_in(d.index, context_.gradients);
    const Arrays input_gradients(d.inputs.size());
    OperatorCall c = call(d.index, d.inputs, d.outputs, weights);
    c.input_gradients = input_gradients;
    c.output_gradients = d.output_gradients;
    c.weight_gradients = weight_gradients;
    context_.device.backward(c);
}

void BlockRun::accumulate(TensorId id, Array gradient) {
    Array& sum = gradients_[id.value];
    if (!sum) {
        sum = std::move(gradient);
        return;
    }
    // Gradients that pass through are shared: add aside while somebody else still reads this one.
    const Array to = sum.memory.use_count() == 1 ? sum : allocate(id);
    context_.device.add(sum, gradient, to);
    sum = to;
}

void BlockRun::release_backward(std::size_t index) {
    for (std::size_t t = 0; t < values_.size(); ++t)
        if (block_.retention.last_backward[t] == index) values_[t] = {};
}

}  // namespace sextant
