// Operations that cuDNN runs as one: its graph API (cudnn_graph.h). Internal to backend/cuda.
#pragma once

#include <cudnn.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sextant::cuda {

// An object of the graph API: made, given its attributes, finalized. What the library refuses is a BackendError.
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

// What cuDNN asks of a GPU before it chooses: of the one that a handle works on, or of any, written down as cuDNN does (JSON).
Descriptor properties_of(cudnnHandle_t);
Descriptor properties_of(const std::string& json);

// Where the elements of a tensor of four extents lie, outermost first.
struct Layout {
    using Four = std::array<std::int64_t, 4>;
    Four extents, strides;

    static Layout packed(const Four& extents);
    [[nodiscard]] Layout transposed() const;  // the last two extents
};

// One of the library's ways to run a graph.
struct Engine {
    Descriptor configuration;
    std::size_t workspace_bytes = 0;
};

// Sums and functions are computed in fp32.
class OperationGraph {
public:
    struct Tensor {
        Layout layout;
        Descriptor descriptor;
    };

    Tensor stored(const Layout&, cudnnDataType_t);  // in memory of the GPU
    Tensor number(float);
    Tensor number(std::int32_t);
    Tensor passing(const Layout&, cudnnDataType_t type = CUDNN_DATA_FLOAT);  // from one operation to the next

    void multiply(const Tensor& a, const Tensor& b, const Tensor& product);
    void reduce(cudnnReduceTensorOp_t, const Tensor& from, const Tensor& to);
    void reshape(const Tensor& from, const Tensor& to);
    // Of each element of `x`; of `b` too, which is repeated where it is smaller; and of `t`. `axis`: along which elements are numbered.
    void apply(cudnnPointwiseMode_t, const Tensor& result, const Tensor& x, const Tensor* b = nullptr, const Tensor* t = nullptr,
               std::optional<std::int64_t> axis = {});

    // Those that can run it on a GPU, as far as the library sees, the fastest first.
    [[nodiscard]] std::vector<Engine> engines(const Descriptor& properties) const;

private:
    friend class ExecutionPlan;
    Tensor number(std::int32_t bits, cudnnDataType_t);
    Tensor tensor(const Layout&, cudnnDataType_t, std::optional<cudnnBackendAttributeName_t> role = {});

    std::vector<std::int64_t> stored_, numbers_;  // by the number of the tensor
    std::vector<std::int32_t> values_;            // their bits
    std::int64_t tensors_ = 0;
    std::vector<Descriptor> operations_;
};

// A graph, compiled. Throws BackendError where that fails.
class ExecutionPlan {
public:
    ExecutionPlan(const OperationGraph&, Engine);
    [[nodiscard]] std::size_t workspace_bytes() const { return workspace_bytes_; }
    // `data`: of the stored tensors, in the order in which they were made.
    void run(cudnnHandle_t, std::vector<const void*> data, void* workspace) const;

private:
    Engine engine_;
    Descriptor made_{CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR};
    std::size_t workspace_bytes_ = 0;
    std::vector<std::int64_t> tensors_;
    std::vector<std::int32_t> values_;
};

}  // namespace sextant::cuda
