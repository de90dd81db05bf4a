// Visits the kernels of one phase of a block and the exchanges between them, in the order in which they run. The closed form adds them up;
// the cost table lists them. Internal to predict.
#pragma once

#include "model/predict/block_price.hpp"

#include <utility>

namespace sextant {

// Calls `on_kernel(kernel, time)` and `on_exchange(call, group, price, hidden)`, whose price includes the wait for a core.
template <class OnKernel, class OnExchange>
void walk(const BlockPhase& phase, const Prepared::State& job, const JobGroups& groups, const Resources& r, const OnKernel& on_kernel,
          const OnExchange& on_exchange) {
    const HiddenParts hidden = hidden_parts(phase, job, groups, r);
    auto call = phase.exchanges.begin();
    Seconds since_call;
    const auto exchange_before = [&](std::size_t kernel) {
        for (; call != phase.exchanges.end() && call->after <= kernel; ++call) {
            if (!belongs(*call, phase.part)) continue;
            const Group& group = groups[call->group];
            CollectivePrice price = exchange_price(*call, group, job, r);
            price.fixed += job.wait_for_core(std::exchange(since_call, {}));
            on_exchange(*call, group, price, hidden.of(call->group));
        }
    };
    for (std::size_t i = 0; i < phase.kernels.size(); ++i) {
        exchange_before(i);
        if (!belongs(phase.kernels[i], phase.part)) continue;
        since_call += phase.times[i];
        on_kernel(phase.kernels[i], phase.times[i]);
    }
    exchange_before(phase.kernels.size());
}

}  // namespace sextant
