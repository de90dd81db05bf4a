// Convolutions by cuDNN, images and filters channels last. Internal to backend/cuda.
#pragma once

#include "backend/cuda/cudnn_library.hpp"
#include "backend/cuda/graph_stream.hpp"
#include "backend/kernels/convolution.hpp"

#include <map>
#include <memory>

namespace sextant::cuda {

class Convolutions {
public:
    Convolutions(Launches&, CudnnLibrary, bool tf32, Scratch);
    ~Convolutions();

    void convolve(const kernels::ConvolutionShape&, const void* x, const void* filter, void* y);
    void convolve_back(const kernels::ConvolutionShape&, const void* filter, const void* dy, void* dx);
    void filter_gradient(const kernels::ConvolutionShape&, const void* x, const void* dy, void* d_filter);

private:
    struct Description;
    enum class Pass { forward, back, filter };
    // A pass over a shape: how cuDNN does it, and the room it takes. The library's first choice is asked for once.
    struct Way {
        std::shared_ptr<Description> description;
        int algorithm = 0;
        std::size_t workspace = 0;
    };
    const Way& way_of(Pass, const kernels::ConvolutionShape&);
    Way make_way(Pass, const kernels::ConvolutionShape&) const;
    template <class Performance>
    static void choose(Way&, const Performance* list, int count, bool exact);

    Launches& launches_;
    CudnnLibrary library_;
    bool tf32_;
    Scratch scratch_;
    std::map<std::pair<Pass, kernels::ConvolutionShape>, Way> ways_;
};

}  // namespace sextant::cuda
