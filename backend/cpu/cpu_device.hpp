// The device of a CPU rank: oneDNN for products, convolutions and transcendental functions, plain loops for the rest. It computes in fp32.
//
// To be used by the thread that made it.
#pragma once

#include "backend/exec/memory_pool.hpp"

#include <memory>
#include <string>

namespace sextant {

class CpuDevice final : public ComputeDevice {
public:
    // `threads`: for oneDNN and for optimizers; other plain loops run on one. More threads than free cores are slower than a single one,
    // because they wait for each other.
    explicit CpuDevice(int threads = 1, MemorySource memory = host_memory());
    ~CpuDevice() override;
    [[nodiscard]] static std::string library_version();  // of oneDNN: "2.7.0"

    Array allocate(std::int64_t elements, Element = Element::real) override;
    [[nodiscard]] std::int64_t bytes_in_use() const override;
    [[nodiscard]] std::int64_t peak_bytes() const override;

    void upload(const void* from, const Array& to) override;
    void download(const Array& from, void* to) override;
    void fill(const Array&, float) override;
    void copy(const Array& from, const Array& to) override;
    void copy_columns(const Array& from, std::int64_t from_pitch, const Array& to, std::int64_t to_pitch, std::int64_t width,
                      std::int64_t rows) override;
    void add(const Array& a, const Array& b, const Array& sum) override;
    void scale(const Array&, float) override;
    double sum_of_squares(std::span<const Array>) override;

    void begin_step() override;
    ExpertCounts choose_experts(const OperatorCall&, const RoutedTokens&, const Array& rows, const Array& scores) override;
    void forward(const OperatorCall&) override;
    void backward(const OperatorCall&) override;
    void merge_losses(const Array& parts, int ranks, const Array& losses, const Array& statistics) override;
    void update(const OptimizerSettings&, int step, const Array& weights, const Array& gradients, std::span<const Array> states) override;
    void take_moments(const OptimizerSettings&, int step, const Array& weights, const Array& gradients, std::span<const Array> states,
                      const Array& squares) override;
    void step_in_proportion(const OptimizerSettings&, int step, const Array& weights, std::span<const Array> states,
                            const Array& squares) override;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace sextant
