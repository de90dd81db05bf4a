#include "tests/backend/delayed_device.hpp"

#include <chrono>
#include <cstring>
#include <map>

#include <sys/prctl.h>

namespace sextant {
namespace {

constexpr std::chrono::microseconds lateness{20};

// As a GPU would: memory that comes back is not kept from being used by what was called for before, nor what is called for kept alive.
struct Operands {
    std::vector<Array> inputs, outputs, weights, input_gradients, output_gradients, weight_gradients;
    Routing routing;

    explicit Operands(const OperatorCall& c)
        : inputs(lent(c.inputs)),
          outputs(lent(c.outputs)),
          weights(lent(c.weights)),
          input_gradients(lent(c.input_gradients)),
          output_gradients(lent(c.output_gradients)),
          weight_gradients(lent(c.weight_gradients)) {
        if (c.routing == nullptr) return;
        routing = *c.routing;
        for (Array* a : {&routing.rows, &routing.scores, &routing.order, &routing.pulls}) *a = lent(*a);
    }
    static Array lent(const Array& a) { return {std::shared_ptr<void>(std::shared_ptr<void>(), a.memory.get()), a.elements, a.element}; }
    static std::vector<Array> lent(std::span<const Array> arrays) {
        std::vector<Array> list;
        for (const Array& a : arrays) list.push_back(lent(a));
        return list;
    }
    [[nodiscard]] OperatorCall call(OperatorCall c) const {
        c.inputs = inputs, c.outputs = outputs, c.weights = weights;
        c.input_gradients = input_gradients, c.output_gradients = output_gradients, c.weight_gradients = weight_gradients;
        if (c.routing != nullptr) c.routing = &routing;
        return c;
    }
};

Array lent(const Array& a) { return Operands::lent(a); }

// By where they end.
struct PinnedBlocks {
    std::mutex mutex;
    std::map<const std::byte*, const std::byte*> begin_by_end;

    static PinnedBlocks& all() {
        static PinnedBlocks blocks;
        return blocks;
    }
    bool contain(const std::byte* at) {
        const std::lock_guard lock(mutex);
        const auto block = begin_by_end.upper_bound(at);
        return block != begin_by_end.end() && block->second <= at;
    }
};

MemorySource queued_memory(const std::shared_ptr<WorkQueue>& queue) {
    MemorySource source = host_memory();
    source.mark = [queue] { return queue->mark(); };
    source.reached = queue_reached;
    return source;
}

}  // namespace

WorkQueue::~WorkQueue() {
    finish();
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void WorkQueue::call(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(work));
    changed_.notify_all();
}

Mark WorkQueue::mark() {
    const std::lock_guard lock(mutex_);
    std::atomic<double>& instant = instants_.emplace_back(0.0);
    calls_.emplace_back([&instant] { instant = now().si(); });
    changed_.notify_all();
    return {{}, &instant};
}

void WorkQueue::finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return calls_.empty() && !works_; });
}

void WorkQueue::serve() {
    ::prctl(PR_SET_TIMERSLACK, 1);  // else the system sleeps for 50 us more
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return ends_ || !calls_.empty(); });
        if (calls_.empty()) return;
        const std::function<void()> work = std::move(calls_.front());
        calls_.pop_front();
        works_ = true;
        lock.unlock();
        std::this_thread::sleep_for(lateness);
        work();
        lock.lock();
        works_ = false;
        if (calls_.empty()) changed_.notify_all();
    }
}

bool queue_reached(const Mark& m) { return m.event == nullptr || *static_cast<const std::atomic<double>*>(m.event) > 0; }
Seconds queue_time_of(const Mark& m) { return *static_cast<const std::atomic<double>*>(m.event) * units::s; }

MemorySource pinned_memory() {
    MemorySource source = host_memory();
    source.allocate = [allocate = source.allocate](std::int64_t bytes) {
        void* memory = allocate(bytes);
        const auto* begin = static_cast<const std::byte*>(memory);
        PinnedBlocks& all = PinnedBlocks::all();
        const std::lock_guard lock(all.mutex);
        all.begin_by_end[begin + bytes] = begin;
        return memory;
    };
    source.release = [release = source.release](void* memory) {
        PinnedBlocks& all = PinnedBlocks::all();
        {
            const std::lock_guard lock(all.mutex);
            std::erase_if(all.begin_by_end, [&](const auto& block) { return block.second == memory; });
        }
        release(memory);
    };
    return source;
}

DelayedDevice::DelayedDevice(std::unique_ptr<ComputeDevice> device) : device_(std::move(device)), memory_(queued_memory(queue_)) {}

Array DelayedDevice::allocate(std::int64_t elements, Element element) {
    return {memory_.take(elements * bytes_of(element)), elements, element};
}
void DelayedDevice::upload(const void* from, const Array& to) {
    const auto* bytes = static_cast<const std::byte*>(from);
    if (PinnedBlocks::all().contain(bytes)) return queue_->call([this, from, to = lent(to)] { device_->upload(from, to); });
    queue_->call([this, taken = std::vector<std::byte>(bytes, bytes + to.bytes()), to = lent(to)] { device_->upload(taken.data(), to); });
}
void DelayedDevice::download(const Array& from, void* to) {
    queue_->finish();
    device_->download(from, to);
}
void DelayedDevice::fill(const Array& a, float value) {
    queue_->call([this, a = lent(a), value] { device_->fill(a, value); });
}
void DelayedDevice::copy(const Array& from, const Array& to) {
    queue_->call([this, from = lent(from), to = lent(to)] { device_->copy(from, to); });
}
void DelayedDevice::copy_columns(const Array& from, std::int64_t from_pitch, const Array& to, std::int64_t to_pitch, std::int64_t width,
                                 std::int64_t rows) {
    queue_->call([=, this, from = lent(from), to = lent(to)] { device_->copy_columns(from, from_pitch, to, to_pitch, width, rows); });
}
void DelayedDevice::add(const Array& a, const Array& b, const Array& sum) {
    queue_->call([this, a = lent(a), b = lent(b), sum = lent(sum)] { device_->add(a, b, sum); });
}
void DelayedDevice::scale(const Array& a, float factor) {
    queue_->call([this, a = lent(a), factor] { device_->scale(a, factor); });
}
double DelayedDevice::sum_of_squares(std::span<const Array> arrays) {
    queue_->finish();
    return device_->sum_of_squares(arrays);
}
ExpertCounts DelayedDevice::choose_experts(const OperatorCall& c, const RoutedTokens& tokens, const Array& rows, const Array& scores) {
    queue_->finish();
    return device_->choose_experts(c, tokens, rows, scores);
}
void DelayedDevice::forward(const OperatorCall& c) {
    queue_->call([this, c, operands = Operands(c)] { device_->forward(operands.call(c)); });
}
void DelayedDevice::backward(const OperatorCall& c) {
    queue_->call([this, c, operands = Operands(c)] { device_->backward(operands.call(c)); });
}
void DelayedDevice::merge_losses(const Array& parts, int ranks, const Array& losses, const Array& statistics) {
    queue_->call([this, parts = lent(parts), ranks, losses = lent(losses), statistics = lent(statistics)] {
        device_->merge_losses(parts, ranks, losses, statistics);
    });
}
void DelayedDevice::update(const OptimizerSettings& o, int step, const Array& weights, const Array& gradients,
                           std::span<const Array> states) {
    queue_->call([this, o, step, weights = lent(weights), gradients = lent(gradients), states = Operands::lent(states)] {
        device_->update(o, step, weights, gradients, states);
    });
}
void DelayedDevice::take_moments(const OptimizerSettings& o, int step, const Array& weights, const Array& gradients,
                                 std::span<const Array> states, const Array& squares) {
    queue_->call([this, o, step, weights = lent(weights), gradients = lent(gradients), states = Operands::lent(states),
                  squares = lent(squares)] { device_->take_moments(o, step, weights, gradients, states, squares); });
}
void DelayedDevice::step_in_proportion(const OptimizerSettings& o, int step, const Array& weights, std::span<const Array> states,
                                       const Array& squares) {
    queue_->call([this, o, step, weights = lent(weights), states = Operands::lent(states), squares = lent(squares)] {
        device_->step_in_proportion(o, step, weights, states, squares);
    });
}

Mark DelayedCopies::begin(const Array& from, const Array& to, bool) {
    queue_.call(
        [from = lent(from), to = lent(to)] { std::memcpy(to.memory.get(), from.memory.get(), static_cast<std::size_t>(to.bytes())); });
    return queue_.mark();
}

}  // namespace sextant
