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

// The first goes however large it is. What is left waits for the next cycle after these.
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
    starts_.reset();
    if (!ready_.empty()) starts_ = next_cycle(done);
}

Seconds Overlap::next_cycle(Seconds from) const {
    return fusion_->cycle > Seconds{} ? std::ceil(from / fusion_->cycle) * fusion_->cycle : from;
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

// The exchanges are as far behind the kernels as they were, or so far that kernels never see them end; and the host is no nearer.
bool Overlap::goes_on_like_this(const OverlapTimes& before) const {
    constexpr double rounding = 1e-12;
    const Seconds behind = done - now, was = before.done - before.now;
    const bool as_far = max(behind - was, was - behind) <= rounding * now;
    const bool never_ends = was >= now - before.now && behind >= was;
    return !fusion_ && (as_far || never_ends) && issued - now <= before.issued - before.now + rounding * now;
}

void Overlap::repeat(double times, const OverlapTimes& before, Seconds after_issue) {
    if (!(times > 0)) return;
    const auto again = [times](Seconds& here, Seconds there) { here += times * (here - there); };
    again(now, before.now);
    again(done, before.done);
    again(issued, before.issued);
    again(waited, before.waited);
    again(slowed, before.slowed);
    again(launch, before.launch);
    again(exchanged, before.exchanged);
    wait_for_host(issued + after_issue);
}

}  // namespace sextant
