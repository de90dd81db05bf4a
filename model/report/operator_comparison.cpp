#include "model/report/operator_comparison.hpp"

#include "model/predict/state.hpp"

#include <algorithm>
#include <string_view>

namespace sextant {
namespace {

bool is_operator(const OperatorGraph& graph, std::string_view name) {
    return std::ranges::find(graph.operators(), name, &Operator::name) != graph.operators().end();
}

// "qkv.cast" is a kernel of "qkv"; what ends in ".sum" adds up gradients of a tensor (KernelWriter::add_gradient_sum).
std::string operator_of(const Kernel& kernel, const OperatorGraph& graph) {
    for (std::string_view name = kernel.name;;) {
        if (is_operator(graph, name)) return std::string(name);
        const std::size_t dot = name.rfind('.');
        if (dot == std::string_view::npos || name.substr(dot) == ".sum") return std::string(gradient_sums_name);
        name = name.substr(0, dot);
    }
}

// The predicted times of a block's operators, by the kinds of pass that a run tells apart.
class PredictedBlock {
public:
    PredictedBlock(const BlockKernels& block, const OperatorGraph& graph, const Prepared::State& job)
        : block_(block), graph_(graph), times_(kernel_times(block, job, {})) {}

    // `apart`: the gradient of the operator's weights is made in a pass of its own.
    [[nodiscard]] Seconds of(std::string_view name, SpanKind kind, bool apart) const {
        switch (kind) {
            case SpanKind::forward:
                return sum(block_.forward, times_.forward, name, BackwardPart::whole);
            case SpanKind::recompute:
                return sum(block_.recompute, times_.recompute, name, BackwardPart::whole);
            case SpanKind::backward:
                return sum(block_.backward, times_.backward, name, apart ? BackwardPart::inputs : BackwardPart::whole);
            case SpanKind::weight_gradient:
                return sum(block_.backward, times_.backward, name, BackwardPart::weights);
            default:
                return {};
        }
    }

private:
    [[nodiscard]] Seconds sum(const std::vector<Kernel>& kernels, const std::vector<Seconds>& times, std::string_view name,
                              BackwardPart part) const {
        Seconds time;
        for (std::size_t i = 0; i < kernels.size(); ++i)
            if (belongs(kernels[i], part) && operator_of(kernels[i], graph_) == name) time += times[i];
        return time;
    }

    const BlockKernels& block_;
    const OperatorGraph& graph_;
    KernelTimes times_;
};

}  // namespace

std::vector<OperatorComparison> compare_operators(const Prepared& prepared, const Network& network, const RunRecord& run) {
    const Prepared::State& job = prepared.state();
    std::vector<PredictedBlock> blocks;
    for (std::size_t t = 0; t < job.templates.size(); ++t) blocks.emplace_back(job.templates[t], network.templates[t].graph, job);
    const double steps = run.steps_in_trace * static_cast<double>(job.scenario.plan.devices());
    std::vector<OperatorComparison> list;
    for (const OperatorTime& o : run.operators) {
        if (!(o.calls > 0)) continue;
        bool apart = false;
        double passes = o.calls;  // gradients of several tensors are added up in each
        for (const OperatorTime& other : run.operators) {
            if (other.block_template != o.block_template) continue;
            apart |= other.kind == SpanKind::weight_gradient && other.name == o.name;
            if (o.name == gradient_sums_name && other.kind == o.kind && other.name != o.name) passes = std::min(passes, other.calls);
        }
        const Seconds predicted = blocks[static_cast<std::size_t>(o.block_template)].of(o.name, o.kind, apart);
        list.push_back({o.block, o.name, o.kind, o.calls / steps, predicted * (passes / o.calls), o.time / o.calls});
    }
    std::ranges::stable_sort(list, std::greater<>(), [](const OperatorComparison& o) { return max(o.difference(), -o.difference()); });
    return list;
}

}  // namespace sextant
