// One rank's kernels and the exchanges that go on beside them, block by block: what is hidden, what is waited for, and how much longer
// kernels take beside an exchange: they advance 1 / slowdown as fast. Exchanges run one after another, in the order in which they are
// handed over, each as soon as those before it are done. docs/model/data_parallel.md derives it. Internal to predict.
#pragma once

#include "model/base/quantity.hpp"

#include <optional>
#include <vector>

namespace sextant {

// A stretch of a rank's own work.
struct OwnWork {
    Seconds kernels;  // slowed beside an exchange
    Seconds rest;     // exchanges that kernels wait for, copies, what the framework does: not slowed
    Seconds host;     // to issue it all
    // Where exchanges in it share links with those beside it: by what they take longer, and keep the others up.
    Seconds longer, holds_up;

    [[nodiscard]] Seconds device() const { return kernels + rest; }
    OwnWork& operator+=(const OwnWork& o) {
        kernels += o.kernels;
        rest += o.rest;
        host += o.host;
        longer += o.longer;
        holds_up += o.holds_up;
        return *this;
    }
    friend OwnWork operator+(OwnWork a, const OwnWork& b) { return a += b; }
    friend OwnWork operator*(double n, const OwnWork& w) { return {n * w.kernels, n * w.rest, n * w.host, n * w.longer, n * w.holds_up}; }
};

class Overlap {
public:
    // A background thread wakes once a cycle and starts what is ready then, as much as fits (Horovod's tensor fusion). What takes several
    // calls is started alone.
    struct Fusion {
        Seconds cycle;
        Bytes most;
    };
    explicit Overlap(double slowdown, std::optional<Fusion> fusion = {}, Seconds start = {})
        : now(start), slowdown_(slowdown), fusion_(fusion) {}

    void run(const OwnWork&);
    // Ready now: so many calls, one after another. `fixed`: what several that are fused pay once.
    void exchange(Seconds fixed, Seconds rest, Bytes size, int calls = 1);
    void wait_until(Seconds);
    void wait_for_exchanges();
    [[nodiscard]] bool puts_off() const { return fusion_.has_value(); }
    // So many times more what happened since `before`, where nothing is put off. `after_issue`: what the device still has to do when the
    // host has issued it all.
    void repeat(double times, const Overlap& before, Seconds after_issue);

    Seconds now;        // the kernels are done so far
    Seconds done;       // all exchanges that have begun are done
    Seconds issued;     // by the host, which never waits for the device
    Seconds waited;     // for exchanges,
    Seconds idle;       // of that, for the next cycle
    Seconds slowed;     // beside them
    Seconds launch;     // waited for the host
    Seconds exchanged;  // all exchanges together

private:
    struct Ready {
        Seconds fixed, rest;
        Bytes size;
        int calls = 1;
    };
    void run_between_cycles(const OwnWork&);
    void start_what_fits();
    [[nodiscard]] Seconds next_cycle(Seconds from) const;
    void wait_for_host(Seconds until);

    double slowdown_;
    std::optional<Fusion> fusion_;
    std::vector<Ready> ready_;       // for the thread, when it wakes
    std::optional<Seconds> starts_;  // when it does
};

}  // namespace sextant
