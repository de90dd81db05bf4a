// A device that returns before the work is done, as an accelerator does: a thread of its own does the work of another device, a little
// late.
#pragma once

#include "backend/exec/device.hpp"
#include "backend/exec/memory_pool.hpp"
#include "backend/exec/staged_transport.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace sextant {

// Work in the order in which it was called for.
class WorkQueue {
public:
    WorkQueue() : thread_([this] { serve(); }) {}
    WorkQueue(const WorkQueue&) = delete;
    WorkQueue& operator=(const WorkQueue&) = delete;
    ~WorkQueue();

    void call(std::function<void()>);
    Mark mark();
    void finish();

private:
    void serve();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> calls_;
    std::deque<std::atomic<double>> instants_;  // seconds; zero until it is reached
    bool ends_ = false, works_ = false;
    std::thread thread_;
};

bool queue_reached(const Mark&);
Seconds queue_time_of(const Mark&);

// Memory of the host that such a device reads itself, and so as late as all that it does: to upload from there is only to call for it.
MemorySource pinned_memory();

class DelayedDevice final : public ComputeDevice {
public:
    explicit DelayedDevice(std::unique_ptr<ComputeDevice> device);

    Array allocate(std::int64_t elements, Element) override;
    [[nodiscard]] std::int64_t bytes_in_use() const override { return memory_.in_use(); }
    [[nodiscard]] std::int64_t peak_bytes() const override { return memory_.peak(); }
    void upload(const void* from, const Array& to) override;
    void download(const Array& from, void* to) override;
    void fill(const Array& a, float value) override;
    void copy(const Array& from, const Array& to) override;
    void copy_columns(const Array& from, std::int64_t from_pitch, const Array& to, std::int64_t to_pitch, std::int64_t width,
                      std::int64_t rows) override;
    void add(const Array& a, const Array& b, const Array& sum) override;
    void scale(const Array& a, float factor) override;
    double sum_of_squares(std::span<const Array>) override;
    ExpertCounts choose_experts(const OperatorCall&, const RoutedTokens&, const Array& rows, const Array& scores) override;
    void forward(const OperatorCall&) override;
    void backward(const OperatorCall&) override;
    void merge_losses(const Array& parts, int ranks, const Array& losses, const Array& statistics) override;
    void update(const OptimizerSettings&, int step, const Array& weights, const Array& gradients, std::span<const Array> states) override;
    void take_moments(const OptimizerSettings&, int step, const Array& weights, const Array& gradients, std::span<const Array> states,
                      const Array& squares) override;
    void step_in_proportion(const OptimizerSettings&, int step, const Array& weights, std::span<const Array> states,
                            const Array& squares) override;

    void begin_step() override {
        queue_->finish();
        device_->begin_step();
        memory_.begin_step();
    }
    Mark mark() override { return queue_->mark(); }
    bool reached(const Mark& m) override { return queue_reached(m); }
    Seconds time_of(const Mark& m) override { return queue_time_of(m); }
    void finish() override { queue_->finish(); }

private:
    std::shared_ptr<WorkQueue> queue_ = std::make_shared<WorkQueue>();
    std::unique_ptr<ComputeDevice> device_;
    MemoryPool memory_;
};

class DelayedCopies final : public StagingCopies {
public:
    [[nodiscard]] MemorySource host_memory() const override { return sextant::host_memory(); }
    Mark begin(const Array& from, const Array& to, bool to_device) override;
    bool ended(const Mark& m) override { return queue_reached(m); }

private:
    WorkQueue queue_;
};

}  // namespace sextant
