#include "model/predict/overlap.hpp"

#include <cmath>

namespace sextant {

void Overlap::run_between_cycles(const OwnWork& work) {
    const Seconds alone = work.device(), beside = slowdown_ * work.kernels + work.rest;
    for (double left = 1; left > 0;) {
        while (starts_ && *starts_ <= now) start_what_fits();
        const bool exchanging = done > now;
        const Seconds pace = exchanging ? beside : alone;
        const Seconds until = exchanging ? done : starts_.value_or(now + pace);
        const double part = now + left * pace <= until ? left : (until - now) / pace;
        slowed += part * (pace - alone);
        left -= part;
        now = left > 0 ? until : now + part * pace;
    }
}

// The first exchange goes however large it is. What is left waits for the next cycle after these.
void Overlap::start_what_fits() {
    Ready all = ready_.front();
    auto next = ready_.begin() + 1;
    const auto joins = [&](const Ready& r) { return all.calls == 1 && r.calls == 1 && all.size + r.size <= fusion_->most; };
    for (; next != ready_.end() && joins(*next); ++next) {
        all.size += next->size;
        all.rest += next->rest;
    }
    ready_.erase(ready_.begin(), next);
    const Seconds takes = all.calls * (all.fixed + all.rest);
    exchanged += takes;
    done = *starts_ + takes;
    wakes_ = max(done, *starts_ + fusion_->cycle);
    starts_.reset();
    if (!ready_.empty()) starts_ = next_cycle(done);
}

Seconds Overlap::next_cycle(Seconds from) const {
    if (from <= wakes_ || !(fusion_->cycle > Seconds{})) return max(from, wakes_);
    return wakes_ + std::ceil((from - wakes_) / fusion_->cycle) * fusion_->cycle;
}

void Overlap::put_off(const Ready& exchange) {
    ready_.push_back(exchange);
    if (!starts_) starts_ = next_cycle(max(now, done));
}

void Overlap::wait_for_cycles() {
    for (; starts_; start_what_fits()) {
        wait_until(done);
        idle += max(Seconds{}, *starts_ - now);
        wait_until(*starts_);
    }
}

}  // namespace sextant
