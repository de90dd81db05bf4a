// One rank's kernels and the exchanges beside them, block by block: what is hidden, what is waited for, and how much longer kernels take
// beside an exchange, where they advance at 1 / slowdown of their speed. Exchanges run one after another in the order in which they are
// handed over. docs/model/data_parallel.md derives it. Internal to predict.
#pragma once

#include "model/cost/shared_with_servers.hpp"
#include "model/plan/gradient_fusion.hpp"

#include <optional>
#include <vector>

namespace sextant {

// A stretch of a rank's own work.
struct OwnWork {
    Seconds kernels;  // slowed beside an exchange
    Seconds rest;     // not slowed: exchanges that kernels wait for, copies, what the framework does
    Seconds host;     // to issue it all
    // Where exchanges in it share links with those beside it: how much longer they take, and how much they delay the others.
    Seconds longer, holds_up;

    [[nodiscard]] Seconds device() const { return kernels + rest; }
    friend bool operator==(const OwnWork&, const OwnWork&) = default;
    OwnWork& operator+=(const OwnWork& o) {
        kernels += o.kernels;
        rest += o.rest;
        host += o.host;
        longer += o.longer;
        holds_up += o.holds_up;
        return *this;
    }
    friend OwnWork operator+(OwnWork a, const OwnWork& b) { return a += b; }
    friend OwnWork operator-(OwnWork a, const OwnWork& b) { return a += -1.0 * b; }
    friend OwnWork operator*(double n, const OwnWork& w) { return {n * w.kernels, n * w.rest, n * w.host, n * w.longer, n * w.holds_up}; }
};

// How far the rank is, and what has held it up.
struct OverlapTimes {
    // Points in time.
    Seconds now;     // when the kernels so far are done
    Seconds done;    // when the exchanges that have begun are done
    Seconds issued;  // when the host has issued all so far; it never waits for the device
    Seconds served;  // when parameter servers are done with what has come to them
    // Durations so far.
    Seconds waited;      // for exchanges,
    Seconds idle;        // of that, until the next cycle of a fusing thread
    Seconds slowed;      // by which work took longer beside exchanges:
    Seconds lengthened;  // exchanges that kernels wait for,
    Seconds in_forward;  // and kernels in forward
    Seconds launch;      // waited for the host
    Seconds exchanged;   // all exchanges together, copies among them
    Seconds copied;      // all copies together

    [[nodiscard]] Seconds kernels_slowed() const { return slowed - lengthened; }
};

class Overlap : public OverlapTimes {
public:
    // Where a thread fuses calls, an exchange of several calls is started alone.
    explicit Overlap(double slowdown, std::optional<GradientFusion> fusion = {}, std::optional<SharedWithServers> shared = {})
        : slowdown_(slowdown), fusion_(fusion), shared_(shared) {}

    void run(const OwnWork&);
    // Hands over an exchange that is ready now: `calls` of them, one after another. Fused calls pay `fixed` once.
    void exchange(Seconds fixed, Seconds rest, Bytes size, int calls = 1);
    // The time that parameter servers need for what the last exchange has brought them. They serve one exchange after another.
    void serve(Seconds time) { served = max(served, done) + time; }
    // A copy to or from host memory, in turn with exchanges. It does not slow kernels.
    void copy(Seconds);
    // The same several times: work, and then what `exchange` hands over.
    template <class Exchange>
    void run_each(int times, const OwnWork&, const Exchange& exchange);
    // Whether what was done since `before` will take as long again when it is repeated.
    [[nodiscard]] bool goes_on_like_this(const OverlapTimes& before) const;
    void wait_until(Seconds);
    void wait_for_exchanges();
    void wait_for_servers();
    [[nodiscard]] bool puts_off() const { return fusion_.has_value(); }
    // Repeats what happened since `before`, where nothing is put off. `after_issue`: the work that the device still
    // has when the host has issued everything.
    void repeat(double times, const OverlapTimes& before, Seconds after_issue);

private:
    struct Ready {
        Seconds fixed, rest;
        Bytes size;
        int calls = 1;
    };
    void run_between_cycles(const OwnWork&);
    void share_core(Seconds alone);
    void put_off(const Ready&);
    void start_what_fits();
    void wait_for_cycles();
    [[nodiscard]] Seconds next_cycle(Seconds from) const;
    void wait_for_host(Seconds until);

    double slowdown_;
    std::optional<GradientFusion> fusion_;
    std::optional<SharedWithServers> shared_;
    std::vector<Ready> ready_;       // for the thread, when it wakes
    std::optional<Seconds> starts_;  // when it does
    Seconds wakes_;                  // the earliest: a cycle after it began to exchange, and not before that has ended
};

inline void Overlap::run(const OwnWork& work) {
    if (fusion_) {
        run_between_cycles(work);
    } else if (const Seconds alone = work.device(), left = done - now; left > Seconds{}) {
        // How far the exchanges get meanwhile, and how much of the work is beside them. Copies among the
        // exchanges are taken to be spread evenly.
        const double slowdown = copied > Seconds{} ? 1 / (1 - (1 - 1 / slowdown_) * (1 - copied / exchanged)) : slowdown_;
        const Seconds beside = slowdown * work.kernels + work.rest + work.longer, progress = beside - work.holds_up;
        const double part = left >= progress ? 1 : left / progress;
        done += part * work.holds_up;
        const Seconds takes = part * beside + (1 - part) * alone;
        slowed += takes - alone;
        lengthened += part * work.longer;
        now += takes;
    } else {
        if (shared_) share_core(alone);
        now += alone;
    }
    wait_for_host(issued += work.host);
}

// Until either the work that would take so long alone or that of the servers is done, both get on more slowly.
inline void Overlap::share_core(Seconds alone) {
    const double worker = shared_->worker_slowdown(shared_->workers), server = shared_->server_slowdown(shared_->workers);
    const Seconds both = min(worker * alone, server * max(Seconds{}, served - now)), longer = (1 - 1 / worker) * both;
    served += (1 - 1 / server) * both;
    slowed += longer;
    now += longer;
}

inline void Overlap::exchange(Seconds fixed, Seconds rest, Bytes size, int calls) {
    if (fusion_) return put_off({fixed, rest, size, calls});
    const Seconds takes = calls * (fixed + rest);
    exchanged += takes;
    done = max(done, now) + takes;
}

inline void Overlap::copy(Seconds time) {
    exchange(time, {}, {});
    copied += time;
}

template <class Exchange>
void Overlap::run_each(int times, const OwnWork& work, const Exchange& exchange) {
    while (times-- > 0) {
        const OverlapTimes before = *this;
        run(work);
        exchange(*this);
        if (times > 0 && goes_on_like_this(before)) return repeat(times, before, {});
    }
}

// The exchanges are as far behind the kernels as they were, or so far that kernels never see them end; and the host is as far ahead, or
// further where nothing waited for it.
inline bool Overlap::goes_on_like_this(const OverlapTimes& before) const {
    constexpr double rounding = 1e-12;
    const Seconds behind = done - now, was = before.done - before.now;
    const bool as_far = max(behind - was, was - behind) <= rounding * now;
    const bool never_ends = was >= now - before.now && behind >= was;
    const Seconds serving = served - now, served_then = before.served - before.now;
    const bool as_served = served <= done || max(serving - served_then, served_then - serving) <= rounding * now;
    const Seconds lead = now - issued, led = before.now - before.issued;
    const bool as_issued = lead >= led - rounding * now && (launch <= before.launch || lead <= led + rounding * now);
    return !fusion_ && (as_far || never_ends) && as_served && as_issued;
}

inline void Overlap::repeat(double times, const OverlapTimes& before, Seconds after_issue) {
    if (!(times > 0)) return;
    const auto again = [times](Seconds& here, Seconds there) { here += times * (here - there); };
    again(now, before.now);
    again(done, before.done);
    again(issued, before.issued);
    again(waited, before.waited);
    again(slowed, before.slowed);
    again(in_forward, before.in_forward);
    again(lengthened, before.lengthened);
    again(launch, before.launch);
    again(exchanged, before.exchanged);
    again(served, before.served);
    again(copied, before.copied);
    wait_for_host(issued + after_issue);
}

inline void Overlap::wait_until(Seconds t) {
    if (t <= now) return;
    waited += t - now;
    now = t;
}

inline void Overlap::wait_for_exchanges() {
    if (fusion_) wait_for_cycles();
    wait_until(done);
}

inline void Overlap::wait_for_servers() {
    wait_for_exchanges();
    exchanged += max(Seconds{}, served - now);
    wait_until(served);
}

inline void Overlap::wait_for_host(Seconds until) {
    if (until <= now) return;
    launch += until - now;
    now = until;
}

}  // namespace sextant
