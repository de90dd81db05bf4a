// A device that records what runs on it. The forward of an operator during a backward pass counts as recompute.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/exec/operator_times.hpp"
#include "backend/exec/recorder.hpp"

namespace sextant {

class RecordingDevice final : public ComputeDevice {
public:
    // `operators`: null where operators are not timed.
    RecordingDevice(ComputeDevice& device, Recorder& recorder, OperatorTimes* operators)
        : device_(device), recorder_(recorder), operators_(operators) {}

    void begin_pass(Phase phase) { phase_ = phase; }

    Array allocate(std::int64_t elements, Element element) override { return device_.allocate(elements, element); }
    [[nodiscard]] std::int64_t bytes_in_use() const override { return device_.bytes_in_use(); }
    [[nodiscard]] std::int64_t peak_bytes() const override { return device_.peak_bytes(); }
    void upload(const void* from, const Array& to) override { device_.upload(from, to); }
    void download(const Array& from, void* to) override { device_.download(from, to); }
    void fill(const Array& a, float value) override { device_.fill(a, value); }
    void copy(const Array& from, const Array& to) override { device_.copy(from, to); }
    void copy_columns(const Array& from, std::int64_t from_pitch, const Array& to, std::int64_t to_pitch, std::int64_t width,
                      std::int64_t rows) override {
        device_.copy_columns(from, from_pitch, to, to_pitch, width, rows);
    }
    void add(const Array& a, const Array& b, const Array& sum) override;
    void scale(const Array& a, float factor) override { device_.scale(a, factor); }
    double sum_of_squares(std::span<const Array> arrays) override { return device_.sum_of_squares(arrays); }
    ExpertCounts choose_experts(const OperatorCall&, const RoutedTokens&, const Array& rows, const Array& scores) override;
    void forward(const OperatorCall&) override;
    void backward(const OperatorCall&) override;
    void merge_losses(const Array& parts, int ranks, const Array& losses, const Array& statistics) override {
        device_.merge_losses(parts, ranks, losses, statistics);
    }
    void begin_step() override { device_.begin_step(); }
    Mark mark() override { return device_.mark(); }
    bool reached(const Mark& m) override { return device_.reached(m); }
    Seconds time_of(const Mark& m) override { return device_.time_of(m); }
    void finish() override { device_.finish(); }
    void enter(const std::function<std::string()>& name) override { device_.enter(name); }
    void leave() override { device_.leave(); }
    void update(const OptimizerSettings&, int step, const Array& weights, const Array& gradients, std::span<const Array> states) override;
    void take_moments(const OptimizerSettings&, int step, const Array& weights, const Array& gradients, std::span<const Array> states,
                      const Array& squares) override;
    void step_in_proportion(const OptimizerSettings&, int step, const Array& weights, std::span<const Array> states,
                            const Array& squares) override;

private:
    [[nodiscard]] SpanKind forward_kind() const { return phase_ == Phase::forward ? SpanKind::forward : SpanKind::recompute; }
    [[nodiscard]] SpanKind backward_kind() const {
        return phase_ == Phase::backward_weight ? SpanKind::weight_gradient : SpanKind::backward;
    }
    template <class Work>
    void timed(std::int32_t index, SpanKind kind, int calls, const Work& work) {
        operators_ != nullptr ? operators_->around(index, kind, calls, work) : work();
    }

    ComputeDevice& device_;
    Recorder& recorder_;
    OperatorTimes* operators_;
    Phase phase_ = Phase::forward;
};

}  // namespace sextant
