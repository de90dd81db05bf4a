#include "backend/cuda/graph_stream.hpp"

#include "backend/cuda/check.hpp"
#include "model/base/diagnostics.hpp"

#include <string>

namespace sextant::cuda {
namespace {

using kernels::Kernel;
using kernels::Stretch;

dim3 extent(const std::array<std::uint32_t, 2>& e) { return {e[0], e[1], 1}; }

std::shared_ptr<CUgraph_st> owned(cudaGraph_t graph) {
    return {graph, [](cudaGraph_t g) {
                if (g != nullptr) cudaGraphDestroy(g);
            }};
}

}  // namespace

void GraphStream::launch(const Kernel& k, void** arguments) const {
    check(cudaLaunchKernel(k.function, extent(k.blocks), extent(k.threads), arguments, 0, stream_.get()), "the launch of a kernel");
}

void GraphStream::run(Stretch& stretch) const {
    use(gpu_);
    stretch.run([&](const Stretch::Call& call) { launch(call.kernel, stretch.arguments(call).data()); });
}

// The node that all that is captured next will depend on.
cudaGraphNode_t GraphStream::last_node() const {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t* nodes = nullptr;
    std::size_t count = 0;
#if CUDART_VERSION >= 13000
    const cudaGraphEdgeData* edges = nullptr;
    check(cudaStreamGetCaptureInfo(stream_.get(), &status, nullptr, nullptr, &nodes, &edges, &count), "cudaStreamGetCaptureInfo");
#else
    check(cudaStreamGetCaptureInfo_v2(stream_.get(), &status, nullptr, nullptr, &nodes, &count), "cudaStreamGetCaptureInfo");
#endif
    if (status != cudaStreamCaptureStatusActive || count != 1) throw BackendError("a kernel was launched and is no node of the graph");
    return nodes[0];
}

// Of this thread's calls alone: the thread that communicates goes on.
GraphStream::Graph GraphStream::capture(Stretch& stretch) const {
    use(gpu_);
    Graph made;
    const auto end = [&] {
        cudaGraph_t graph = nullptr;
        const cudaError_t code = cudaStreamEndCapture(stream_.get(), &graph);
        made.captured = owned(graph);
        return code;
    };
    check(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    try {
        made.kernels.assign(stretch.calls().size(), nullptr);
        stretch.run([&](const Stretch::Call& call) {
            launch(call.kernel, stretch.arguments(call).data());
            made.kernels[static_cast<std::size_t>(&call - stretch.calls().data())] = last_node();
        });
    } catch (const BackendError& e) {
        (void)end();
        (void)cudaGetLastError();  // it is said here
        throw BackendError(std::string("the capture of a CUDA graph: ") + e.what() + "; without \"cuda_graph\" it is not captured");
    }
    check(end(), "cudaStreamEndCapture");
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, made.captured.get(), 0), "cudaGraphInstantiate");
    made.executable = {executable, [](cudaGraphExec_t g) { cudaGraphExecDestroy(g); }};
    return made;
}

void GraphStream::set(Graph& graph, std::size_t call, Stretch& stretch) {
    const Stretch::Call& c = stretch.calls()[call];
    auto arguments = stretch.arguments(c);
    cudaKernelNodeParams node{};
    node.func = const_cast<void*>(c.kernel.function);
    node.gridDim = extent(c.kernel.blocks);
    node.blockDim = extent(c.kernel.threads);
    node.kernelParams = arguments.data();
    check(cudaGraphExecKernelNodeSetParams(graph.executable.get(), graph.kernels[call], &node), "cudaGraphExecKernelNodeSetParams");
}

void GraphStream::launch(const Graph& graph) const {
    use(gpu_);
    check(cudaGraphLaunch(graph.executable.get(), stream_.get()), "cudaGraphLaunch");
}

}  // namespace sextant::cuda
