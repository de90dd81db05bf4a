#include "backend/cuda/convolutions.hpp"

#include "model/base/diagnostics.hpp"

#include <algorithm>
#include <string>

namespace sextant::cuda {
namespace {

using Tensor = OperationGraph::Tensor;

OperationGraph graph_of(ConvolutionPass pass, const ConvolutionShape& s) {
    OperationGraph g;
    const auto stored = [&](const Layout::Four& extents) { return g.stored(Layout::channels_last(extents), cudnn_type(s.element)); };
    const Tensor x = stored({s.batch, s.in_channels, s.in_h, s.in_w});
    const Tensor filter = stored({s.out_channels, s.filter_channels(), s.kernel_h, s.kernel_w});
    const Tensor y = stored({s.batch, s.out_channels, s.out_h, s.out_w});
    const Windows windows{{s.stride, s.stride}, {s.padding_h, s.padding_w}, {s.dilation, s.dilation}};
    if (pass == ConvolutionPass::forward)
        g.convolve(windows, x, filter, y);
    else if (pass == ConvolutionPass::back)
        g.convolve_back(windows, filter, y, x);
    else
        g.filter_gradient(windows, x, y, filter);
    return g;
}

// Tensor cores multiply fp32 as TF32. Sums of parts in 16 bits, and images narrowed on the way, are of no precision that a plan names.
bool may_run(const Engine& e, bool tensor_cores) {
    if (e.workspace_bytes > most_workspace_bytes) return false;
    return std::ranges::none_of(e.notes(), [&](cudnnBackendNumericalNote_t note) {
        return note == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC || note == CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION ||
               note == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS || (note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE && !tensor_cores);
    });
}

std::string name_of(ConvolutionPass pass, const ConvolutionShape& s) {
    const auto by = [](std::int64_t a, std::int64_t b) { return std::to_string(a) + " x " + std::to_string(b); };
    const char* const wanted[] = {"the result", "the gradient of the images", "the gradient of the filters"};
    return wanted[static_cast<int>(pass)] + (" of a convolution of " + std::to_string(s.batch)) + " images of " + by(s.in_h, s.in_w) +
           " and " + std::to_string(s.in_channels) + " channels by " + std::to_string(s.out_channels) + " filters of " +
           by(s.kernel_h, s.kernel_w);
}

// Heuristics may name engines that are refused when they are compiled.
ExecutionPlan compiled(const ConvolutionConfig& config) {
    for (std::size_t i = 0; i + 1 < config.engines.size(); ++i) {
        try {
            return {config.graph, config.engines[i]};
        } catch (const BackendError&) {  // the next may do
        }
    }
    return {config.graph, config.engines.back()};
}

// Nobody waits for the gradient of what arrives at the first block, unless one like it stands further behind.
bool is_only_first(const Network& network, std::size_t block) {
    const auto index = static_cast<int>(block);
    return network.sequence.front() == index && std::ranges::count(network.sequence, index) == 1;
}

}  // namespace

ConvolutionConfig choose_convolution(ConvolutionPass pass, const ConvolutionShape& s, bool tf32, const Descriptor& properties) {
    ConvolutionConfig config{graph_of(pass, s), {}};
    for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
        config.engines = config.graph.engines(properties, mode);
        std::erase_if(config.engines, [&](const Engine& e) { return !may_run(e, tf32 || is_half(s.element)); });
        if (!config.engines.empty()) return config;
    }
    throw BackendError("cuDNN has no way to compute " + name_of(pass, s));
}

Bytes convolution_workspace(const Network& network, Element element, bool tf32, bool backward, const Descriptor& properties) {
    std::size_t most = 0;
    const auto count = [&](ConvolutionPass pass, const Convolution& c) {
        try {
            const ConvolutionConfig config = choose_convolution(pass, kernels::shape_of(underlying(c), element), tf32, properties);
            most = std::max(most, config.engines.front().workspace_bytes);
        } catch (const BackendError&) {  // whoever runs it hears why, and of which operator
        }
    };
    for (std::size_t b = 0; b < network.templates.size(); ++b) {
        const OperatorGraph& graph = network.templates[b].graph;
        for (const Operator& op : graph.operators())
            if (const auto* c = std::get_if<Convolution>(&op.kind)) {
                count(c->transposed ? ConvolutionPass::back : ConvolutionPass::forward, *c);
                if (!backward) continue;
                count(ConvolutionPass::filter, *c);
                const bool arrives = std::ranges::find(graph.inputs(), op.inputs[0]) != graph.inputs().end();
                if (!arrives || !is_only_first(network, b)) count(c->transposed ? ConvolutionPass::forward : ConvolutionPass::back, *c);
            }
    }
    return static_cast<double>(most) * units::B;
}

Convolutions::Convolutions(Launches& launches, CudnnLibrary library, bool tf32, Scratch scratch)
    : launches_(launches), library_(std::move(library)), tf32_(tf32), scratch_(std::move(scratch)) {}

const ExecutionPlan& Convolutions::plan_of(ConvolutionPass pass, const ConvolutionShape& s) {
    const auto found = plans_.find({pass, s});
    if (found != plans_.end()) return found->second;
    const auto make = [&] { return compiled(choose_convolution(pass, s, tf32_, properties_of(library_.get()))); };
    return plans_.emplace(std::pair(pass, s), launches_.flushed(make)).first->second;
}

void Convolutions::run(ConvolutionPass pass, const ConvolutionShape& s, const void* x, const void* filter, const void* y) {
    const ExecutionPlan& plan = plan_of(pass, s);
    const Array room = room_for(plan.workspace_bytes(), scratch_);
    const auto run = [this, &plan, x, filter, y, workspace = room.reals()] { plan.run(library_.get(), {x, filter, y}, workspace); };
    launches_.call("cudnnBackendExecute", run, &plan, x, filter, y, room.reals());
}

void Convolutions::convolve(const ConvolutionShape& s, const void* x, const void* filter, void* y) {
    run(ConvolutionPass::forward, s, x, filter, y);
}

void Convolutions::convolve_back(const ConvolutionShape& s, const void* filter, const void* dy, void* dx) {
    run(ConvolutionPass::back, s, dx, filter, dy);
}

void Convolutions::filter_gradient(const ConvolutionShape& s, const void* x, const void* dy, void* d_filter) {
    run(ConvolutionPass::filter, s, x, d_filter, dy);
}

}  // namespace sextant::cuda
