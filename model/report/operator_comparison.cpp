#include "model/report/operator_comparison.hpp"

#include "model/predict/block_price.hpp"
#include "model/predict/state.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace sextant {
namespace {

// The predicted times of a block's operators, by the kinds of pass that a run tells apart.
class PredictedBlock {
public:
    PredictedBlock(const BlockKernels& block, const Prepared::State& job) : block_(block), times_(kernel_times(block, job, {})) {}

    // `apart`: the gradient of the operator's weights is made in a pass of its own.
    [[nodiscard]] Seconds of(std::optional<int> op, SpanKind kind, bool apart) const {
        switch (kind) {
            case SpanKind::forward: return sum(block_.forward, times_.forward, op, BackwardPart::whole);
            case SpanKind::recompute: return sum(block_.recompute, times_.recompute, op, BackwardPart::whole);
            case SpanKind::backward: return sum(block_.backward, times_.backward, op, apart ? BackwardPart::inputs : BackwardPart::whole);
            case SpanKind::weight_gradient: return sum(block_.backward, times_.backward, op, BackwardPart::weights);
            default: return {};
        }
    }

private:
    static Seconds sum(const std::vector<Kernel>& kernels, const std::vector<Seconds>& times, std::optional<int> op, BackwardPart part) {
        Seconds time;
        for (std::size_t i = 0; i < kernels.size(); ++i)
            if (belongs(kernels[i], part) && kernels[i].op == op) time += times[i];
        return time;
    }

    const BlockKernels& block_;
    KernelTimes times_;
};

}  // namespace

std::vector<Seconds> predicted_call_times(const Prepared& prepared, std::span<const OperatorTime> operators) {
    if (operators.empty()) return {};
    const Prepared::State& job = prepared.state();
    std::vector<PredictedBlock> blocks;
    for (const BlockKernels& block : job.templates) blocks.emplace_back(block, job);
    std::set<std::pair<int, std::optional<int>>> apart;    // the gradient of the operator's weights is made in a pass of its own
    std::map<std::pair<int, SpanKind>, double> passes_of;  // of a block: what its operators are called at least
    for (const OperatorTime& o : operators) {
        if (o.kind == SpanKind::weight_gradient) apart.emplace(o.block_template, o.operator_index);
        if (!o.operator_index) continue;
        double& passes = passes_of.try_emplace({o.block_template, o.kind}, o.calls).first->second;
        passes = std::min(passes, o.calls);
    }
    std::vector<Seconds> times;
    times.reserve(operators.size());
    for (const OperatorTime& o : operators) {
        // Gradients of several tensors are added up in a pass, by as many calls.
        const auto passes = o.operator_index ? passes_of.end() : passes_of.find({o.block_template, o.kind});
        const double of_call = passes == passes_of.end() || !(o.calls > 0) ? 1 : std::min(1.0, passes->second / o.calls);
        const bool weights_apart = apart.contains({o.block_template, o.operator_index});
        const auto block = static_cast<std::size_t>(o.block_template);
        times.push_back(block < blocks.size() ? of_call * blocks[block].of(o.operator_index, o.kind, weights_apart) : Seconds{});
    }
    return times;
}

std::vector<OperatorComparison> compare_operators(const Prepared& prepared, const RunRecord& run) {
    const std::vector<Seconds> predicted = predicted_call_times(prepared, run.operators);
    const double steps = run.steps_in_trace * static_cast<double>(prepared.state().scenario.plan.devices());
    std::vector<OperatorComparison> list;
    for (std::size_t i = 0; i < predicted.size(); ++i) {
        const OperatorTime& o = run.operators[i];
        if (o.calls > 0) list.push_back({o.block, o.name, o.kind, o.calls / steps, predicted[i], o.time / o.calls});
    }
    std::ranges::stable_sort(list, std::greater<>(), [](const OperatorComparison& o) { return max(o.difference(), -o.difference()); });
    return list;
}

}  // namespace sextant
