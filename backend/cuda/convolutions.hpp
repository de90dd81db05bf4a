// Convolutions by cuDNN, images and filters channels last. Internal to backend/cuda.
#pragma once

#include "backend/cuda/cudnn_library.hpp"
#include "backend/cuda/graph_stream.hpp"
#include "backend/cuda/operation_graph.hpp"
#include "backend/kernels/convolution.hpp"
#include "model/workload/network.hpp"

#include <map>
#include <utility>
#include <vector>

namespace sextant::cuda {

using kernels::ConvolutionShape;

enum class ConvolutionPass { forward, back, filter };  // what is computed: the result, the gradient of the image, that of the filter

// How a pass is run: by the first of these engines that compiles. All of them are deterministic, use the requested arithmetic, and need at
// most most_workspace_bytes. The graph's stored tensors are the images, the filters and the results, or their gradients.
struct ConvolutionConfig {
    OperationGraph graph;
    std::vector<Engine> engines;
};

// For a GPU with these properties. `tf32`: fp32 may be multiplied in TF32. Throws BackendError where no engine can run the pass.
ConvolutionConfig choose_convolution(ConvolutionPass, const ConvolutionShape&, bool tf32, const Descriptor& properties);

// The largest workspace of any convolution of a network with its first engine, without running any. `backward`: for all passes, except the
// gradient of the first block's input.
Bytes convolution_workspace(const Network&, Element, bool tf32, bool backward, const Descriptor& properties);

class Convolutions {
public:
    Convolutions(Launches&, CudnnLibrary, bool tf32, Scratch);

    // Images [batch, height, width, channels], filters [out_channels, height, width, in_channels / groups], all of the shape's type, which
    // begin at multiples of `widest_read` bytes. Each call fills its last array.
    void convolve(const ConvolutionShape&, const void* x, const void* filter, void* y);
    void convolve_back(const ConvolutionShape&, const void* filter, const void* dy, void* dx);
    void filter_gradient(const ConvolutionShape&, const void* x, const void* dy, void* d_filter);

private:
    const ExecutionPlan& plan_of(ConvolutionPass, const ConvolutionShape&);
    void run(ConvolutionPass, const ConvolutionShape&, const void* x, const void* filter, const void* y);

    Launches& launches_;
    CudnnLibrary library_;
    bool tf32_;
    Scratch scratch_;
    std::map<std::pair<ConvolutionPass, ConvolutionShape>, ExecutionPlan> plans_;
};

}  // namespace sextant::cuda
