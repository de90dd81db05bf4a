// The kernels of one phase of a block and the exchanges between them, in their order: what the closed form adds up and the table of costs
// lists. Internal to predict.
#pragma once

#include "model/predict/block_price.hpp"

#include <utility>

namespace sextant {

struct BlockPhase {
    const std::vector<Kernel>& kernels;
    std::span<const Seconds> times;  // of the kernels
    const std::vector<ExchangeCall>& exchanges;
    BackwardPart part = BackwardPart::whole;
};

// `on_kernel(kernel, time)`; `on_exchange(call, group, price, hidden)`, which has the wait for a core in its price.
template <class OnKernel, class OnExchange>
void walk(const BlockPhase& phase, const Prepared::State& job, const JobGroups& groups, const Resources& r, const OnKernel& on_kernel,
          const OnExchange& on_exchange) {
    const HiddenParts hidden = hidden_parts(phase.kernels, phase.times, phase.exchanges, phase.part, job, groups, r);
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
