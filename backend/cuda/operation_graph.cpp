#include "backend/cuda/operation_graph.hpp"

#include "backend/cuda/check.hpp"

#include <bit>
#include <utility>

namespace sextant::cuda {
namespace {

// How many there are, where room is for none; else how many were written.
std::int64_t attributes(const Descriptor& d, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t room,
                        void* to) {
    std::int64_t count = 0;
    check(cudnnBackendGetAttribute(d.get(), name, type, room, &count, to), "cudnnBackendGetAttribute");
    return count;
}

std::size_t bytes(const Descriptor& d, cudnnBackendAttributeName_t name) {
    std::int64_t count = 0;
    attributes(d, name, CUDNN_TYPE_INT64, 1, &count);
    return static_cast<std::size_t>(count);
}

Descriptor convolution(const Windows& w) {
    Descriptor d(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    d.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    d.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION);
    d.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, std::int64_t{2});
    d.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, w.strides.data());
    d.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, w.dilations.data());
    d.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, w.paddings.data());
    d.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, w.paddings.data());
    d.finalize();
    return d;
}

// What cuDNN calls a convolution of images x by filters w to y, or the gradient of one of the two, and its parts.
struct ConvolutionNames {
    cudnnBackendDescriptorType_t operation;
    cudnnBackendAttributeName_t windows, x, w, y;
    cudnnBackendAttributeName_t of_result, of_what_was_there;  // factors
};
constexpr ConvolutionNames forward_names{CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
constexpr ConvolutionNames back_names{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
constexpr ConvolutionNames filter_names{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};

// The result replaces what was there before.
Descriptor convolution(const ConvolutionNames& names, const Windows& windows, const Descriptor& x, const Descriptor& w,
                       const Descriptor& y) {
    Descriptor d(names.operation);
    d.set(names.windows, convolution(windows));
    d.set(names.x, x);
    d.set(names.w, w);
    d.set(names.y, y);
    d.set(names.of_result, CUDNN_TYPE_FLOAT, 1.0F);
    d.set(names.of_what_was_there, CUDNN_TYPE_FLOAT, 0.0F);
    d.finalize();
    return d;
}

}  // namespace

Descriptor::Descriptor(cudnnBackendDescriptorType_t type) {
    cudnnBackendDescriptor_t made = nullptr;
    check(cudnnBackendCreateDescriptor(type, &made), "cudnnBackendCreateDescriptor");
    made_.reset(made, [](void* d) { cudnnBackendDestroyDescriptor(d); });
}

void Descriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count, const void* values) const {
    check(cudnnBackendSetAttribute(get(), name, type, count, values), "cudnnBackendSetAttribute");
}

void Descriptor::finalize() const { check(cudnnBackendFinalize(get()), "cudnnBackendFinalize"); }

Descriptor properties_of(cudnnHandle_t handle) {
    Descriptor d(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    d.set(CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, handle);
    d.finalize();
    return d;
}

Descriptor properties_of(const std::string& json) {
    Descriptor d(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    d.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, static_cast<std::int64_t>(json.size()), json.data());
    d.finalize();
    return d;
}

Layout Layout::packed(const Four& extents) {
    const auto [a, b, c, d] = extents;
    return {extents, {b * c * d, c * d, d, 1}};
}

Layout Layout::channels_last(const Four& extents) {
    const auto [samples, channels, height, width] = extents;
    return {extents, {height * width * channels, 1, width * channels, channels}};
}

Layout Layout::transpose() const {
    Layout t = *this;
    std::swap(t.extents[2], t.extents[3]);
    std::swap(t.strides[2], t.strides[3]);
    return t;
}

std::vector<cudnnBackendNumericalNote_t> Engine::notes() const {
    Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    cudnnBackendDescriptor_t filled = engine.get();
    attributes(configuration, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &filled);
    std::vector<cudnnBackendNumericalNote_t> notes(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
    const std::int64_t count =
        attributes(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT, notes.data());
    notes.resize(static_cast<std::size_t>(count));
    return notes;
}

OperationGraph::Tensor OperationGraph::tensor(const Layout& layout, cudnnDataType_t type, std::int64_t alignment,
                                              std::optional<cudnnBackendAttributeName_t> role) {
    Descriptor d(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    d.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, ++tensors_);
    d.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
    d.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment);
    d.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, layout.extents.data());
    d.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, layout.strides.data());
    if (role) d.set(*role, CUDNN_TYPE_BOOLEAN, true);
    d.finalize();
    return {layout, d};
}

OperationGraph::Tensor OperationGraph::stored(const Layout& layout, cudnnDataType_t type, std::int64_t alignment) {
    stored_.push_back(tensors_ + 1);
    return tensor(layout, type, alignment);
}

OperationGraph::Tensor OperationGraph::number(float value) { return number(std::bit_cast<std::int32_t>(value), CUDNN_DATA_FLOAT); }

OperationGraph::Tensor OperationGraph::number(std::int32_t value) { return number(value, CUDNN_DATA_INT32); }

OperationGraph::Tensor OperationGraph::number(std::int32_t bits, cudnnDataType_t type) {
    numbers_.push_back(tensors_ + 1);
    values_.push_back(bits);
    return tensor(Layout::packed({1, 1, 1, 1}), type, sizeof bits, CUDNN_ATTR_TENSOR_IS_BY_VALUE);
}

OperationGraph::Tensor OperationGraph::passing(const Layout& layout, cudnnDataType_t type) {
    return tensor(layout, type, widest_read, CUDNN_ATTR_TENSOR_IS_VIRTUAL);
}

void OperationGraph::multiply(const Tensor& a, const Tensor& b, const Tensor& product) {
    Descriptor arithmetic(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    arithmetic.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    arithmetic.finalize();
    Descriptor& d = operations_.emplace_back(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    d.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, arithmetic);
    d.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a.descriptor);
    d.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b.descriptor);
    d.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, product.descriptor);
    d.finalize();
}

void OperationGraph::convolve(const Windows& w, const Tensor& x, const Tensor& filter, const Tensor& y) {
    operations_.push_back(convolution(forward_names, w, x.descriptor, filter.descriptor, y.descriptor));
}

void OperationGraph::convolve_back(const Windows& w, const Tensor& filter, const Tensor& dy, const Tensor& dx) {
    operations_.push_back(convolution(back_names, w, dx.descriptor, filter.descriptor, dy.descriptor));
}

void OperationGraph::filter_gradient(const Windows& w, const Tensor& x, const Tensor& dy, const Tensor& d_filter) {
    operations_.push_back(convolution(filter_names, w, x.descriptor, d_filter.descriptor, dy.descriptor));
}

void OperationGraph::reduce(cudnnReduceTensorOp_t kind, const Tensor& from, const Tensor& to) {
    Descriptor arithmetic(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    arithmetic.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    arithmetic.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, kind);
    arithmetic.finalize();
    Descriptor& d = operations_.emplace_back(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    d.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, arithmetic);
    d.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, from.descriptor);
    d.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, to.descriptor);
    d.finalize();
}

void OperationGraph::reshape(const Tensor& from, const Tensor& to) {
    Descriptor& d = operations_.emplace_back(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
    d.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, from.descriptor);
    d.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, to.descriptor);
    d.finalize();
}

void OperationGraph::apply(cudnnPointwiseMode_t kind, const Tensor& result, const Tensor& x, const Tensor* b, const Tensor* t,
                           std::optional<std::int64_t> axis) {
    Descriptor arithmetic(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    arithmetic.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, kind);
    arithmetic.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    if (axis) arithmetic.set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, *axis);
    arithmetic.finalize();
    Descriptor& d = operations_.emplace_back(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    d.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, arithmetic);
    d.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x.descriptor);
    if (b != nullptr) d.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b->descriptor);
    if (t != nullptr) d.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, t->descriptor);
    d.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, result.descriptor);
    d.finalize();
}

std::vector<Engine> OperationGraph::engines(const Descriptor& properties, cudnnBackendHeurMode_t mode) const {
    std::vector<cudnnBackendDescriptor_t> operations;
    for (const Descriptor& d : operations_) operations.push_back(d.get());
    Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(operations.size()),
              operations.data());
    graph.finalize();
    heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
    heuristic.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, properties);
    heuristic.finalize();

    const std::int64_t most = attributes(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, nullptr);
    std::vector<Engine> engines;
    std::vector<cudnnBackendDescriptor_t> filled;
    for (std::int64_t i = 0; i < most; ++i) {
        engines.push_back({Descriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)});
        filled.push_back(engines.back().configuration.get());
    }
    const std::int64_t count = attributes(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, filled.data());
    engines.erase(engines.begin() + count, engines.end());  // the rest did not stand a closer look
    for (Engine& e : engines) e.workspace_bytes = bytes(e.configuration, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE);
    return engines;
}

ExecutionPlan::ExecutionPlan(const OperationGraph& graph, Engine engine)
    : engine_(std::move(engine)), tensors_(graph.stored_), values_(graph.values_) {
    tensors_.insert(tensors_.end(), graph.numbers_.begin(), graph.numbers_.end());
    made_.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engine_.configuration);
    made_.finalize();
    workspace_bytes_ = bytes(made_, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
}

void ExecutionPlan::run(cudnnHandle_t library, std::vector<const void*> data, void* workspace) const {
    for (const std::int32_t& v : values_) data.push_back(&v);
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, static_cast<std::int64_t>(tensors_.size()), tensors_.data());
    pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, static_cast<std::int64_t>(data.size()), data.data());
    pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace);
    pack.finalize();
    check(cudnnBackendExecute(library, made_.get(), pack.get()), "cudnnBackendExecute");
}

}  // namespace sextant::cuda
