#include "backend/cuda/convolutions.hpp"

#include "backend/cuda/check.hpp"
#include "model/base/diagnostics.hpp"

#include <array>

namespace sextant::cuda {
namespace {

constexpr int choices = 8;
constexpr float one = 1, zero = 0;

int extent(std::int64_t e) { return static_cast<int>(e); }

}  // namespace

// What cuDNN is told of a convolution.
struct Convolutions::Description {
    cudnnTensorDescriptor_t x = nullptr, y = nullptr;
    cudnnFilterDescriptor_t filter = nullptr;
    cudnnConvolutionDescriptor_t convolution = nullptr;

    Description(const kernels::ConvolutionShape& s, bool tf32) {
        const cudnnDataType_t type = cudnn_type(s.element);
        check(cudnnCreateTensorDescriptor(&x), "cudnnCreateTensorDescriptor");
        check(cudnnCreateTensorDescriptor(&y), "cudnnCreateTensorDescriptor");
        check(cudnnCreateFilterDescriptor(&filter), "cudnnCreateFilterDescriptor");
        check(cudnnCreateConvolutionDescriptor(&convolution), "cudnnCreateConvolutionDescriptor");
        check(
            cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NHWC, type, extent(s.batch), extent(s.in_channels), extent(s.in_h), extent(s.in_w)),
            "cudnnSetTensor4dDescriptor");
        check(cudnnSetTensor4dDescriptor(y, CUDNN_TENSOR_NHWC, type, extent(s.batch), extent(s.out_channels), extent(s.out_h),
                                         extent(s.out_w)),
              "cudnnSetTensor4dDescriptor");
        check(cudnnSetFilter4dDescriptor(filter, type, CUDNN_TENSOR_NHWC, extent(s.out_channels), extent(s.filter_channels()),
                                         extent(s.kernel_h), extent(s.kernel_w)),
              "cudnnSetFilter4dDescriptor");
        check(cudnnSetConvolution2dDescriptor(convolution, extent(s.padding_h), extent(s.padding_w), extent(s.stride), extent(s.stride), 1,
                                              1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
              "cudnnSetConvolution2dDescriptor");
        check(cudnnSetConvolutionGroupCount(convolution, extent(s.groups)), "cudnnSetConvolutionGroupCount");
        // By default cuDNN multiplies fp32 as TF32 where it can.
        const cudnnMathType_t math = is_half(s.element) ? CUDNN_TENSOR_OP_MATH : tf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
        check(cudnnSetConvolutionMathType(convolution, math), "cudnnSetConvolutionMathType");
    }
    Description(const Description&) = delete;
    Description& operator=(const Description&) = delete;
    ~Description() {
        cudnnDestroyConvolutionDescriptor(convolution);
        cudnnDestroyFilterDescriptor(filter);
        cudnnDestroyTensorDescriptor(y);
        cudnnDestroyTensorDescriptor(x);
    }
};

Convolutions::Convolutions(Launches& launches, CudnnLibrary library, bool tf32, Scratch scratch)
    : launches_(launches), library_(std::move(library)), tf32_(tf32), scratch_(std::move(scratch)) {}

Convolutions::~Convolutions() = default;

// The fastest, as the library thinks, that gives the same result every time and takes no more room than there is; `exact`: in no narrower
// arithmetic than fp32.
template <class Performance>
void Convolutions::choose(Way& way, const Performance* list, int count, bool exact) {
    for (int i = 0; i < count; ++i) {
        const bool is_exact = list[i].mathType == CUDNN_FMA_MATH || list[i].mathType == CUDNN_DEFAULT_MATH;
        if (list[i].status != CUDNN_STATUS_SUCCESS || list[i].determinism != CUDNN_DETERMINISTIC) continue;
        if (list[i].memory > most_workspace_bytes || (exact && !is_exact)) continue;
        way.algorithm = static_cast<int>(list[i].algo);
        way.workspace = list[i].memory;
        if (!exact) check(cudnnSetConvolutionMathType(way.description->convolution, list[i].mathType), "cudnnSetConvolutionMathType");
        return;
    }
    throw BackendError("cuDNN has no way to run this convolution");
}

const Convolutions::Way& Convolutions::way_of(Pass pass, const kernels::ConvolutionShape& s) {
    const auto found = ways_.find({pass, s});
    if (found != ways_.end()) return found->second;
    return ways_.emplace(std::pair(pass, s), launches_.flushed([&] { return make_way(pass, s); })).first->second;
}

Convolutions::Way Convolutions::make_way(Pass pass, const kernels::ConvolutionShape& s) const {
    Way way{std::make_shared<Description>(s, tf32_)};
    const Description& d = *way.description;
    const bool exact = s.element == Element::real && !tf32_;
    int found = 0;
    if (pass == Pass::forward) {
        std::array<cudnnConvolutionFwdAlgoPerf_t, choices> list{};
        check(cudnnGetConvolutionForwardAlgorithm_v7(library_.get(), d.x, d.filter, d.convolution, d.y, choices, &found, list.data()),
              "cudnnGetConvolutionForwardAlgorithm_v7");
        choose(way, list.data(), found, exact);
    } else if (pass == Pass::back) {
        std::array<cudnnConvolutionBwdDataAlgoPerf_t, choices> list{};
        check(cudnnGetConvolutionBackwardDataAlgorithm_v7(library_.get(), d.filter, d.y, d.convolution, d.x, choices, &found, list.data()),
              "cudnnGetConvolutionBackwardDataAlgorithm_v7");
        choose(way, list.data(), found, exact);
    } else {
        std::array<cudnnConvolutionBwdFilterAlgoPerf_t, choices> list{};
        check(
            cudnnGetConvolutionBackwardFilterAlgorithm_v7(library_.get(), d.x, d.y, d.convolution, d.filter, choices, &found, list.data()),
            "cudnnGetConvolutionBackwardFilterAlgorithm_v7");
        choose(way, list.data(), found, exact);
    }
    return way;
}

void Convolutions::convolve(const kernels::ConvolutionShape& s, const void* x, const void* filter, void* y) {
    const Way& w = way_of(Pass::forward, s);
    const Array room = room_for(w.workspace, scratch_);
    const auto run = [this, &w, x, filter, y, workspace = room.reals()] {
        const Description& d = *w.description;
        check(cudnnConvolutionForward(library_.get(), &one, d.x, x, d.filter, filter, d.convolution,
                                      static_cast<cudnnConvolutionFwdAlgo_t>(w.algorithm), workspace, w.workspace, &zero, d.y, y),
              "cudnnConvolutionForward");
    };
    launches_.call("cudnnConvolutionForward", run, &w, x, filter, y, room.reals());
}

void Convolutions::convolve_back(const kernels::ConvolutionShape& s, const void* filter, const void* dy, void* dx) {
    const Way& w = way_of(Pass::back, s);
    const Array room = room_for(w.workspace, scratch_);
    const auto run = [this, &w, filter, dy, dx, workspace = room.reals()] {
        const Description& d = *w.description;
        check(cudnnConvolutionBackwardData(library_.get(), &one, d.filter, filter, d.y, dy, d.convolution,
                                           static_cast<cudnnConvolutionBwdDataAlgo_t>(w.algorithm), workspace, w.workspace, &zero, d.x, dx),
              "cudnnConvolutionBackwardData");
    };
    launches_.call("cudnnConvolutionBackwardData", run, &w, filter, dy, dx, room.reals());
}

void Convolutions::filter_gradient(const kernels::ConvolutionShape& s, const void* x, const void* dy, void* d_filter) {
    const Way& w = way_of(Pass::filter, s);
    const Array room = room_for(w.workspace, scratch_);
    const auto run = [this, &w, x, dy, d_filter, workspace = room.reals()] {
        const Description& d = *w.description;
        check(cudnnConvolutionBackwardFilter(library_.get(), &one, d.x, x, d.y, dy, d.convolution,
                                             static_cast<cudnnConvolutionBwdFilterAlgo_t>(w.algorithm), workspace, w.workspace, &zero,
                                             d.filter, d_filter),
              "cudnnConvolutionBackwardFilter");
    };
    launches_.call("cudnnConvolutionBackwardFilter", run, &w, x, dy, d_filter, room.reals());
}

}  // namespace sextant::cuda
