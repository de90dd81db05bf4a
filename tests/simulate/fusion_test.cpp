// Fusion by cycle: a thread wakes every 5 ms and reduces what is ready, up to 64 MB. Each on a graph small enough to play by hand; times in
// ms, sizes in MB; a port of the crossbar moves 100 MB/ms.
#include "tests/simulate/hand_made_job.hpp"

namespace sextant {
namespace {

using namespace units;
using hand_made::end_ms;
using hand_made::exact;
using hand_made::HandMadeJob;
using hand_made::span_of;
using hand_made::start_ms;

struct CycleJob : HandMadeJob {
    CycleJob() : HandMadeJob(2), data(group(ParallelGroup::data, {0, 1})) { table.fusion = {5 * ms, 64 * MB}; }
    // On both ranks a kernel and the reduction of what it made.
    SegmentIndex gradient(double kernel_ms, Bytes bytes, int calls = 1) {
        const auto a = kernel(0, kernel_ms), b = kernel(1, kernel_ms);
        all_reduce(1, data, bytes, {b}, 0.1, Stream::communication, calls);
        return all_reduce(0, data, bytes, {a}, 0.1, Stream::communication, calls);
    }
    // Of each of its exchanges.
    template <class Change>
    void change_prices(const Change& change) {
        for (WorkPrice& work : table.works)
            for (Piece& piece : work.pieces)
                if (piece.exchange) change(piece.exchange->price);
    }
    CommunicatorIndex data;
};

TEST(Fusion, ReducesTogetherWhatIsReadyWhenTheThreadWakes) {
    // Ready at 1, 2, 4 and 6 ms, 20 MB each. At 5 ms the first three: 0.1 + 0.6. At 10 the last: 0.1 + 0.2.
    CycleJob job;
    const auto first = job.gradient(1, 20 * MB);
    job.gradient(1, 20 * MB);
    job.gradient(2, 20 * MB);
    const auto last = job.gradient(2, 20 * MB);
    const Simulation played = job.play();
    EXPECT_NEAR(start_ms(played, first), 5, exact);
    EXPECT_NEAR(end_ms(played, first), 5.7, exact);
    EXPECT_EQ(span_of(played, first).bytes, 60 * MB);
    EXPECT_NEAR(start_ms(played, last), 10, exact);
    EXPECT_NEAR(end_ms(played, last), 10.3, exact);
}

TEST(Fusion, StopsAtTheSizeOfTheBuffer) {
    // Three of 30 MB, ready at 1, 2 and 3: two fit into 64 MB. The third waits for the next cycle.
    CycleJob job;
    const auto first = job.gradient(1, 30 * MB);
    job.gradient(1, 30 * MB);
    const auto third = job.gradient(1, 30 * MB);
    const Simulation played = job.play();
    EXPECT_EQ(span_of(played, first).bytes, 60 * MB);
    EXPECT_NEAR(start_ms(played, third), 10, exact);
}

TEST(Fusion, MeasuresTheBufferNotTheBytesOnTheWire) {
    // Two of 30 MB fit, although each rank passes on 60 MB for each.
    CycleJob job;
    const auto first = job.gradient(1, 30 * MB);
    job.gradient(1, 30 * MB);
    job.change_prices([](CollectivePrice& price) { price.bytes = 60 * MB; });
    const Simulation played = job.play();
    EXPECT_EQ(span_of(played, first).bytes, 120 * MB);
}

TEST(Fusion, MovesEachPartAsWellAsItWouldAlone) {
    // 10 MB by a protocol that moves half of what the links carry, and 30 MB by one that moves all of it: 0.1 + 0.2 + 0.3.
    CycleJob job;
    const auto first = job.gradient(1, 10 * MB);
    job.gradient(1, 30 * MB);
    job.change_prices([](CollectivePrice& price) {
        if (price.bytes < 20 * MB) price.efficiency = 0.5;
    });
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, first), 5.6, exact);
    EXPECT_EQ(span_of(played, first).bytes, 40 * MB);
}

TEST(Fusion, WakesWhenAReductionLongerThanACycleEnds) {
    // 1 GB, ready at 1, takes from 5 to 15.1: longer than a cycle. What became ready meanwhile follows at once.
    CycleJob job;
    job.table.fusion->most = 2 * GB;
    job.gradient(1, 1000 * MB);
    const auto next = job.gradient(6, 20 * MB);
    const Simulation played = job.play();
    EXPECT_NEAR(start_ms(played, next), 15.1, exact);
}

TEST(Fusion, CallsForALargeGradientInTurnWithoutFurtherCycles) {
    // 100 MB in two calls from 5 ms on, 0.1 + 0.5 each. Another gradient joins neither: it waits for the cycle after.
    CycleJob job;
    const auto large = job.gradient(1, 100 * MB, 2), small = job.gradient(1, 10 * MB);
    const Simulation played = job.play();
    EXPECT_NEAR(start_ms(played, large, 0), 5, exact);
    EXPECT_NEAR(end_ms(played, large, 1), 6.2, exact);
    EXPECT_NEAR(start_ms(played, small), 10, exact);
    EXPECT_EQ(span_of(played, large, 0).bytes, 50 * MB);
}

}  // namespace
}  // namespace sextant
