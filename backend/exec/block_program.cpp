#include "backend/exec/block_program.hpp"

#include "backend/exec/block_run.hpp"

#include <numeric>

namespace sextant {
namespace {

// Each rank adds its rows to the serial tensor and takes them out again, with what the others that have them added.
void sum_shared(const BlockContext& context, const ParameterTensor& p, const Array& gradient) {
    const Array whole = context.device.allocate(p.whole_rows * p.columns);
    context.device.fill(whole, 0);
    const auto rows = [&](const Array& from, std::int64_t first, const RowSection& s) {
        return from.part(first * p.columns, s.count * p.columns);
    };
    for (const RowSection& s : p.sections) context.device.copy(rows(gradient, s.local, s), rows(whole, s.whole, s));
    context.communicator.all_reduce(ParallelGroup::tensor, whole);
    for (const RowSection& s : p.sections) context.device.copy(rows(whole, s.whole, s), rows(gradient, s.local, s));
}

}  // namespace

Array ParameterArrays::of(const ParameterTensor& p) const {
    const auto in = [&](const Array& run) { return run ? run.part(p.offset, p.elements()) : run; };
    switch (p.run) {
        case RunKind::own: return in(own);
        case RunKind::tied: return in(tied[*p.matrix]);
        case RunKind::experts: return in(experts);
        case RunKind::frozen: return in(frozen);
        case RunKind::biases: return in(biases);
    }
    return {};
}

BlockProgram::BlockProgram(const OperatorGraph& mine, const OperatorGraph& serial, const Plan& plan, const BlockOptions& options)
    : block_(prepare(mine, serial, plan, options)) {}

std::int64_t BlockProgram::elements(RunKind run) const {
    std::int64_t sum = 0;
    for (const ParameterTensor& p : block_.parameters)
        if (p.run == run) sum += p.elements();
    return sum;
}

std::vector<Array> BlockProgram::forward(const BlockContext& context, std::span<const Array> inputs, Kept* kept) const {
    std::vector<Array> values(block_.graph.tensors().size());
    for (std::size_t i = 0; i < inputs.size(); ++i) values[block_.graph.inputs()[i].value] = inputs[i];
    BlockRun run(block_, context, std::move(values));
    run.forward(kept != nullptr);
    std::vector<Array> outputs;
    for (const TensorId id : block_.graph.outputs()) outputs.push_back(run.value(id));
    if (kept == nullptr) return outputs;
    kept->routing = run.routing();
    kept->values = run.take_values();
    for (std::size_t t = 0; t < kept->values.size(); ++t)
        if (!block_.retention.kept[t]) kept->values[t] = {};
    return outputs;
}

std::vector<Array> BlockProgram::backward(const BlockContext& context, Kept kept, std::vector<Array> output_gradients,
                                          std::vector<DeferredOperator>* deferred) const {
    BlockRun run(block_, context, std::move(kept.values));
    run.set_routing(std::move(kept.routing));
    for (std::size_t i = 0; i < block_.graph.outputs().size(); ++i) {
        const TensorId id = block_.graph.outputs()[i];
        if (!is_loss(i)) {
            run.set_gradient(id, std::move(output_gradients[i]));
            continue;
        }
        const PreparedLoss& loss = *block_.losses[i];
        const double rows = block_.graph.tensor(id).elements();
        const Array seed = context.device.allocate(static_cast<std::int64_t>(rows));
        context.device.fill(seed, static_cast<float>(context.position.loss_weight * loss.weight / rows));
        for (const std::int64_t row : loss.unlabelled) context.device.fill(seed.part(row, 1), 0);
        run.set_gradient(id, seed);
    }
    run.backward(deferred);
    std::vector<Array> gradients;
    for (const TensorId id : block_.graph.inputs()) gradients.push_back(run.gradient(id));
    return gradients;
}

void BlockProgram::finish_backward(const BlockContext& context, std::span<const DeferredOperator> deferred) const {
    BlockRun run(block_, context, std::vector<Array>(block_.graph.tensors().size()));
    for (const DeferredOperator& d : deferred) run.finish(d);
}

std::optional<double> BlockProgram::loss(ComputeDevice& device, std::span<const Array> outputs) const {
    std::optional<double> sum;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (!is_loss(i)) continue;
        std::vector<float> rows(static_cast<std::size_t>(outputs[i].elements));
        device.download(outputs[i], rows.data());
        for (const std::int64_t row : block_.losses[i]->unlabelled) rows[static_cast<std::size_t>(row)] = 0;
        sum = sum.value_or(0) + std::accumulate(rows.begin(), rows.end(), 0.0) / static_cast<double>(rows.size());
    }
    return sum;
}

void BlockProgram::sum_partial_gradients(const BlockContext& context) const {
    for (const ParameterTensor& p : block_.parameters) {
        if (p.frozen || (!p.partial && !p.shared)) continue;
        const Array gradient = context.gradients.of(p);
        if (p.partial) context.communicator.all_reduce(ParallelGroup::tensor, gradient);
        if (p.shared) sum_shared(context, p, gradient);
    }
}

void BlockProgram::draw_weights(ComputeDevice& device, std::uint64_t seed, const ParameterArrays& weights) const {
    std::vector<float> values;
    for (const ParameterTensor& p : block_.parameters) {
        const Array to = weights.of(p);
        if (!to) continue;  // a shared matrix that another block here holds, and draws
        values.resize(static_cast<std::size_t>(p.elements()));
        draw(p, seed, values);
        device.upload(values.data(), to);
    }
}

}  // namespace sextant
