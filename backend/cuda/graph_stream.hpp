// Kernels on a stream of a GPU, one by one or as a CUDA graph: the Stream of backend/kernels/launches.hpp. Internal to backend/cuda.
#pragma once

#include "backend/cuda/gpu.hpp"
#include "backend/kernels/launches.hpp"

#include <cuda_runtime.h>

#include <memory>
#include <vector>

namespace sextant::cuda {

class GraphStream {
public:
    struct Graph {
        std::shared_ptr<CUgraph_st> captured;
        std::shared_ptr<CUgraphExec_st> executable;
        std::vector<cudaGraphNode_t> kernels;  // by the call of the stretch; none for those of libraries
    };

    GraphStream(int gpu, WorkStream stream) : gpu_(gpu), stream_(std::move(stream)) {}

    void launch(const kernels::Kernel&, void** arguments) const;
    void run(kernels::Stretch&) const;
    [[nodiscard]] Graph capture(kernels::Stretch&) const;
    static void set(Graph&, std::size_t call, kernels::Stretch&);
    void launch(const Graph&) const;

private:
    [[nodiscard]] cudaGraphNode_t last_node() const;

    int gpu_;
    WorkStream stream_;
};

using Launches = kernels::Launches<GraphStream>;

}  // namespace sextant::cuda
