#include "model/schedule/schedule.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sextant {
namespace {

using Order = std::vector<WorkItem>;

Order sequential(int m) {
    Order order;
    for (int i = 0; i < m; ++i) {
        order.push_back({WorkKind::forward, 0, i});
        order.push_back({WorkKind::backward, 0, i});
    }
    return order;
}

Order gpipe(int m) {
    Order order;
    for (int i = 0; i < m; ++i) order.push_back({WorkKind::forward, 0, i});
    for (int i = m - 1; i >= 0; --i) order.push_back({WorkKind::backward, 0, i});
    return order;
}

// `warm_up` forwards, then one forward and one backward in turn, then the backwards that are left.
Order one_forward_one_backward(const Order& forwards, const Order& backwards, int warm_up) {
    Order order(forwards.begin(), forwards.begin() + warm_up);
    std::size_t back = 0;
    for (std::size_t i = static_cast<std::size_t>(warm_up); i < forwards.size(); ++i) {
        order.push_back(forwards[i]);
        order.push_back(backwards[back++]);
    }
    order.insert(order.end(), backwards.begin() + static_cast<std::ptrdiff_t>(back), backwards.end());
    return order;
}

// Chunks take turns of p micro-batches: chunk 0 of the first p, chunk 1 of the same p, ..., then the next p. Backward from the last chunk.
Order interleaved(int stage, int p, int v, int m) {
    Order forwards, backwards;
    for (int group = 0; group < m; group += p)
        for (int chunk = 0; chunk < v; ++chunk)
            for (int i = group; i < std::min(group + p, m); ++i) {
                forwards.push_back({WorkKind::forward, chunk, i});
                backwards.push_back({WorkKind::backward, v - 1 - chunk, i});
            }
    const int warm_up = std::min(interleaved_warm_up(p, v, stage), m * v);
    return one_forward_one_backward(forwards, backwards, warm_up);
}

// 1F1B whose weight gradients follow s micro-batches late: stage s passes the gradient of its input on before it owes anything else.
Order zero_bubble(int stage, int p, int m) {
    Order order;
    int forward = 0, weight = 0;
    const auto go_forward = [&] { order.push_back({WorkKind::forward, 0, forward++}); };
    const auto do_weights = [&] { order.push_back({WorkKind::backward_weight, 0, weight++}); };
    while (forward < std::min(p - stage, m)) go_forward();
    for (int i = 0; i < m; ++i) {
        order.push_back({WorkKind::backward_input, 0, i});
        if (i >= stage) do_weights();
        if (forward < m) go_forward();
    }
    while (weight < m) do_weights();
    return order;
}

// Writes the order of one stage of a V-shaped pipeline: it holds two chunks, one on the way to the last stage and one on the way back. The
// passes of a chunk come micro-batch by micro-batch. An order is written for at least as many micro-batches as fill the pipeline; where
// there are fewer, the passes of the others are left out.
class VShapedOrder {
public:
    explicit VShapedOrder(int micro_batches) : micro_batches_(micro_batches) {}

    void forward(int chunk) { put({WorkKind::forward, chunk, forwards_[static_cast<std::size_t>(chunk)]++}); }
    void backward(int chunk) { put({WorkKind::backward, chunk, backwards_[static_cast<std::size_t>(chunk)]++}); }
    // In parts: the gradient of the input now, those of the weights when the next or the last of them is asked for.
    void input(int chunk) {
        const int micro_batch = backwards_[static_cast<std::size_t>(chunk)]++;
        put({WorkKind::backward_input, chunk, micro_batch});
        later_.push_back({WorkKind::backward_weight, chunk, micro_batch});
    }
    void weights() { put_later(later_.begin()); }
    void weights_of(int chunk) { put_later(std::ranges::find(later_, chunk, &WorkItem::chunk)); }
    void both_parts(int chunk) { input(chunk), weights_of(chunk); }

    // The weights that are left are done at the end.
    [[nodiscard]] Order written() && {
        while (!later_.empty()) weights();
        return std::move(order_);
    }

private:
    void put(const WorkItem& item) {
        if (item.micro_batch < micro_batches_) order_.push_back(item);
    }
    void put_later(std::vector<WorkItem>::iterator item) {
        put(*item);
        later_.erase(item);
    }

    int micro_batches_;
    std::array<int, 2> forwards_{}, backwards_{};
    std::vector<WorkItem> later_;
    Order order_;
};

void repeat(int times, const auto& act) {
    for (int i = 0; i < times; ++i) act();
}

// Stage s has 2 (p - s) - 1 more micro-batches to begin before the first one has been to the last stage and come back to it.
Order zero_bubble_v(int s, int p, int m) {
    VShapedOrder o(m);
    const int until_it_is_back = 2 * (p - s) - 1;
    repeat(until_it_is_back, [&] { o.forward(0); });
    repeat(s, [&] { o.forward(1), o.forward(0); });
    repeat(p - s, [&] { o.forward(1), o.both_parts(1); });
    repeat(std::max(2 * p - 1, m) - (until_it_is_back + s), [&] { o.forward(0), o.both_parts(0), o.forward(1), o.both_parts(1); });
    repeat(p - s - 1, [&] { o.both_parts(0), o.forward(1), o.both_parts(1); });
    repeat(s, [&] { o.input(0), o.input(1); });
    repeat(p - s, [&] { o.input(0), o.weights_of(0); });
    repeat(s, [&] { o.weights_of(1); });
    return std::move(o).written();
}

// The last backwards come apart, half of those of the turn and all that drain the pipeline.
Order dual_pipe_v(int s, int p, int m) {
    VShapedOrder o(m);
    const int more = p - s - 1, turn = s + 1, whole = turn / 2;
    repeat(2 * more, [&] { o.forward(0); });
    repeat(turn, [&] { o.forward(0), o.forward(1); });
    repeat(more, [&] { o.both_parts(1), o.forward(1); });
    repeat(std::max(2 * p, m) - 2 * p + turn, [&] { o.forward(0), o.backward(1), o.forward(1), o.backward(0); });
    repeat(more, [&] { o.backward(1), o.forward(1), o.backward(0); });
    repeat(whole, [&] { o.backward(1), o.backward(0); });
    repeat(turn % 2, [&] { o.backward(1), o.input(0); });
    repeat(turn - whole - turn % 2, [&] { o.input(1), o.input(0); });
    repeat(more, [&] { o.weights(), o.input(0); });
    return std::move(o).written();
}

Order one_f_one_b(int stage, int stages, int micro_batches) {
    Order forwards, backwards;
    for (int i = 0; i < micro_batches; ++i) {
        forwards.push_back({WorkKind::forward, 0, i});
        backwards.push_back({WorkKind::backward, 0, i});
    }
    return one_forward_one_backward(forwards, backwards, std::min(stages - stage - 1, micro_batches));
}

}  // namespace

Order work_order(Schedule schedule, int stage, int stages, int chunks, int micro_batches) {
    switch (schedule) {
        case Schedule::sequential: return sequential(micro_batches);
        case Schedule::gpipe: return gpipe(micro_batches);
        case Schedule::zero_bubble: return zero_bubble(stage, stages, micro_batches);
        case Schedule::zero_bubble_v: return zero_bubble_v(stage, stages, micro_batches);
        case Schedule::dual_pipe_v: return dual_pipe_v(stage, stages, micro_batches);
        case Schedule::interleaved:
            if (chunks > 1) return interleaved(stage, stages, chunks, micro_batches);
            break;
        case Schedule::one_f_one_b: break;
    }
    return one_f_one_b(stage, stages, micro_batches);
}

int interleaved_warm_up(int stages, int chunks, int stage) { return 2 * (stages - stage - 1) + (chunks - 1) * stages; }

std::vector<Order> work_orders(Schedule schedule, int stages, int chunks, int micro_batches) {
    std::vector<Order> orders;
    for (int s = 0; s < stages; ++s) orders.push_back(work_order(schedule, s, stages, chunks, micro_batches));
    return orders;
}

}  // namespace sextant
