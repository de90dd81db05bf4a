// Operations that cuDNN runs together, by its graph API (cudnn_graph.h). Internal to backend/cuda.
#pragma once

#include <cudnn.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sextant::cuda {

// An object of the graph API, which is made, given its attributes, and finalized. Throws BackendError for what the library refuses.
class Descriptor {
public:
    explicit Descriptor(cudnnBackendDescriptorType_t);
    [[nodiscard]] cudnnBackendDescriptor_t get() const { return made_.get(); }

    void set(cudnnBackendAttributeName_t, cudnnBackendAttributeType_t, std::int64_t count, const void* values) const;
    template <class Value>
    void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const Value& value) const {
        set(name, type, 1, &value);
    }
    void set(cudnnBackendAttributeName_t name, const Descriptor& other) const { set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, other.get()); }
    void finalize() const;

private:
    std::shared_ptr<void> made_;
};

// The properties of a GPU by which cuDNN chooses: of the handle's GPU, or of any, from the JSON that cuDNN writes.
Descriptor properties_of(cudnnHandle_t);
Descriptor properties_of(const std::string& json);

// The extents and strides of a tensor of four dimensions, outermost first.
struct Layout {
    using Four = std::array<std::int64_t, 4>;
    Four extents, strides;

    static Layout packed(const Four& extents);
    static Layout channels_last(const Four& extents);  // which are [samples, channels, height, width]
    [[nodiscard]] Layout transpose() const;            // the last two extents
};

// The strides, paddings and dilations of a convolution, along height and width. The padding behind an image is as wide as that before it.
struct Windows {
    std::array<std::int64_t, 2> strides, paddings, dilations{1, 1};
};

// One of the library's ways to run a graph.
struct Engine {
    Descriptor configuration;
    std::size_t workspace_bytes = 0;

    [[nodiscard]] std::vector<cudnnBackendNumericalNote_t> notes() const;  // the library's notes on its arithmetic
};

constexpr std::int64_t widest_read = 16;  // bytes that a kernel may read at once

// Sums and functions are computed in fp32.
class OperationGraph {
public:
    struct Tensor {
        Layout layout;
        Descriptor descriptor;
    };

    // A tensor in memory of the GPU. `alignment`: of its address, in bytes.
    Tensor stored(const Layout&, cudnnDataType_t, std::int64_t alignment = widest_read);
    Tensor number(float);
    Tensor number(std::int32_t);
    Tensor passing(const Layout&, cudnnDataType_t type = CUDNN_DATA_FLOAT);  // from one operation to the next

    void multiply(const Tensor& a, const Tensor& b, const Tensor& product);
    void reduce(cudnnReduceTensorOp_t, const Tensor& from, const Tensor& to);
    void reshape(const Tensor& from, const Tensor& to);
    // Cross-correlation of images with filters [channels of y, channels of x / groups, height, width], and the gradients of both.
    void convolve(const Windows&, const Tensor& x, const Tensor& filter, const Tensor& y);
    void convolve_back(const Windows&, const Tensor& filter, const Tensor& dy, const Tensor& dx);
    void filter_gradient(const Windows&, const Tensor& x, const Tensor& dy, const Tensor& d_filter);
    // Of each element of `x`; of `b` too, which is repeated where it is smaller; and of `t`. `axis`: along which elements are numbered.
    void apply(cudnnPointwiseMode_t, const Tensor& result, const Tensor& x, const Tensor* b = nullptr, const Tensor* t = nullptr,
               std::optional<std::int64_t> axis = {});

    // The engines that can run it on such a GPU, in the library's order, the fastest first; or those of its fallback list.
    [[nodiscard]] std::vector<Engine> engines(const Descriptor& properties, cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A) const;

private:
    friend class ExecutionPlan;
    Tensor number(std::int32_t bits, cudnnDataType_t);
    Tensor tensor(const Layout&, cudnnDataType_t, std::int64_t alignment, std::optional<cudnnBackendAttributeName_t> role = {});

    std::vector<std::int64_t> stored_, numbers_;  // by the number of the tensor
    std::vector<std::int32_t> values_;            // their bits
    std::int64_t tensors_ = 0;
    std::vector<Descriptor> operations_;
};

// A compiled graph. Throws BackendError where compiling fails.
class ExecutionPlan {
public:
    ExecutionPlan(const OperationGraph&, Engine);
    [[nodiscard]] std::size_t workspace_bytes() const { return workspace_bytes_; }
    // `data`: the addresses of the stored tensors, in the order in which they were made.
    void run(cudnnHandle_t, std::vector<const void*> data, void* workspace) const;

private:
    Engine engine_;
    Descriptor made_{CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR};
    std::size_t workspace_bytes_ = 0;
    std::vector<std::int64_t> tensors_;
    std::vector<std::int32_t> values_;
};

}  // namespace sextant::cuda
