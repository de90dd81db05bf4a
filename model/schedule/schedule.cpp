#include "model/schedule/schedule.hpp"

#include <algorithm>

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
    const int warm_up = std::min(2 * (p - stage - 1) + (v - 1) * p, m * v);
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

}  // namespace

std::vector<Order> work_orders(Schedule schedule, int stages, int chunks, int micro_batches) {
    std::vector<Order> orders;
    for (int s = 0; s < stages; ++s) {
        switch (schedule) {
            case Schedule::sequential:
                orders.push_back(sequential(micro_batches));
                break;
            case Schedule::gpipe:
                orders.push_back(gpipe(micro_batches));
                break;
            case Schedule::zero_bubble:
                orders.push_back(zero_bubble(s, stages, micro_batches));
                break;
            case Schedule::interleaved:
                if (chunks > 1) {
                    orders.push_back(interleaved(s, stages, chunks, micro_batches));
                    break;
                }
                [[fallthrough]];
            case Schedule::one_f_one_b: {
                Order forwards, backwards;
                for (int i = 0; i < micro_batches; ++i) {
                    forwards.push_back({WorkKind::forward, 0, i});
                    backwards.push_back({WorkKind::backward, 0, i});
                }
                orders.push_back(one_forward_one_backward(forwards, backwards, std::min(stages - s - 1, micro_batches)));
                break;
            }
        }
    }
    return orders;
}

}  // namespace sextant
