// The same work and exchanges many times: as if each had been looked at by itself.
#include "model/predict/overlap.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sextant {
namespace {

using namespace units;

struct Repeated {
    double slowdown = 1;
    OwnWork work;
    Seconds exchange;
    Seconds backlog;  // of exchanges that are on the way when it begins
    int times = 1;
    bool waited_for = false;

    void hand_over(Overlap& at) const {
        at.exchange(exchange, {}, {});
        if (waited_for) at.wait_for_exchanges();
    }
};

Overlap begun(const Repeated& r) {
    Overlap o(r.slowdown);
    o.run(r.work);
    o.exchange(r.backlog, {}, {});
    return o;
}

Overlap at_once(const Repeated& r) {
    Overlap o = begun(r);
    o.run_each(r.times, r.work, [&](Overlap& at) { r.hand_over(at); });
    return o;
}

Overlap one_by_one(const Repeated& r) {
    Overlap o = begun(r);
    for (int i = 0; i < r.times; ++i) {
        o.run(r.work);
        r.hand_over(o);
    }
    return o;
}

void expect_same(const OverlapTimes& a, const OverlapTimes& b) {
    const auto near = [&](Seconds x, Seconds y) { EXPECT_NEAR(x.si(), y.si(), 1e-9 * (a.now + a.done).si()); };
    near(a.now, b.now);
    near(a.done, b.done);
    near(a.issued, b.issued);
    near(a.waited, b.waited);
    near(a.slowed, b.slowed);
    near(a.launch, b.launch);
    near(a.exchanged, b.exchanged);
}

// 100 blocks of 10 ms, after each an exchange of 4 ms, which slows the next block by half while it lasts. 4 ms of exchange see 4 / 1.5 ms
// of a block done, so that a block takes 10 + 4 - 4 / 1.5 = 11.33 ms; there were 10 ms before, and the first has nothing beside it.
TEST(Overlap, KernelsAreSlowedAsLongAsAnExchangeLasts) {
    Repeated r{1.5, {.kernels = 10 * ms, .rest = {}, .host = {}, .longer = {}, .holds_up = {}}, 4 * ms, {}, 100};
    const Overlap o = at_once(r);
    EXPECT_NEAR(o.now / ms, 20 + 99 * (10 + 4 - 4 / 1.5), 1e-9);
    EXPECT_NEAR(o.done / ms, o.now / ms + 4, 1e-9);
}

// Exchanges of 20 ms behind blocks of 10 ms, 15 ms beside them: the last exchange ends 100 x 20 ms after the first block.
TEST(Overlap, ExchangesThatAreLongerThanTheWorkFallBehind) {
    Repeated r{1.5, {.kernels = 10 * ms, .rest = {}, .host = {}, .longer = {}, .holds_up = {}}, 20 * ms, {}, 100};
    const Overlap o = at_once(r);
    EXPECT_NEAR(o.now / ms, 20 + 99 * 15, 1e-9);
    EXPECT_NEAR(o.done / ms, 20 + 100 * 20, 1e-9);
}

// The host takes 2 ms for a block of 1 ms, and gets ahead while 3 ms of exchange are waited for. The first two blocks, before which there
// is nothing to wait for, end at 2 and 4 ms; from there on each takes 1 + 3 ms.
TEST(Overlap, AHostThatGetsAheadIsWaitedForOnlyUntilItIs) {
    Repeated r{1, {.kernels = 1 * ms, .rest = {}, .host = 2 * ms, .longer = {}, .holds_up = {}}, 3 * ms, {}, 100, true};
    const Overlap o = at_once(r);
    EXPECT_NEAR(o.now / ms, 4 + 3 + 99 * 4, 1e-9);
    EXPECT_NEAR(o.launch / ms, 2, 1e-9);
}

// Two workers and a server on two cores: while all three have work, each gets on at 2/3 of its speed. The server needs 3 ms: 4.5 beside
// workers, who do 3 of their 10 ms meanwhile, and are through 1.5 ms later. Of 30 ms it does 10 beside 10 of theirs, in 15.
TEST(Overlap, WorkersAndServersOnTheSameCoresSlowEachOther) {
    const OwnWork work{.kernels = 10 * ms, .rest = {}, .host = {}, .longer = {}, .holds_up = {}};
    Overlap shorter(1, {}, SharedWithServers{2, 1, 2}), longer = shorter;
    shorter.serve(3 * ms);
    shorter.run(work);
    EXPECT_NEAR(shorter.now / ms, 11.5, 1e-9);
    EXPECT_NEAR(shorter.served / ms, 4.5, 1e-9);
    longer.serve(30 * ms);
    longer.run(work);
    EXPECT_NEAR(longer.now / ms, 15, 1e-9);
    EXPECT_NEAR(longer.served / ms, 35, 1e-9);
    EXPECT_NEAR(longer.slowed / ms, 5, 1e-9);
}

TEST(Overlap, ManyAtOnceAreWhatTheyAreOneByOne) {
    std::mt19937_64 draw(7);
    const auto some = [&](double most) { return std::uniform_real_distribution<double>(0, most)(draw) * ms; };
    for (int i = 0; i < 2000; ++i) {
        Repeated r;
        r.slowdown = 1 + 0.5 * static_cast<double>(draw() % 2);
        r.work.kernels = some(10);
        r.work.rest = draw() % 2 ? some(3) : Seconds{};
        r.work.host = draw() % 2 ? some(12) : Seconds{};
        if (draw() % 4 == 0) r.work.longer = some(2), r.work.holds_up = 0.5 * some(2);
        r.exchange = draw() % 4 ? some(15) : Seconds{};
        r.backlog = draw() % 2 ? some(100) : Seconds{};
        r.times = 1 + static_cast<int>(draw() % 100);
        r.waited_for = draw() % 2 == 0;
        SCOPED_TRACE(i);
        expect_same(at_once(r), one_by_one(r));
    }
}

}  // namespace
}  // namespace sextant
