// Samples that loaders read: what they share with each other, with collectives and with kernels.
#include "tests/simulate/hand_made_job.hpp"

namespace sextant {
namespace {

using namespace hand_made;

constexpr Bandwidth pace = 100 * MB / ms;

// Ranks whose workers read 100 MB in a millisecond when they are alone, a quarter of the time; in the rest they decode.
class FedJob : public HandMadeJob {
public:
    FedJob(int ranks, int nodes, std::vector<LoaderShare> shares, double kernel_cores = 0) : HandMadeJob(ranks, nodes) {
        for (GraphRank r = 0; r < static_cast<GraphRank>(ranks); ++r)
            builder.rank(r).feed = builder.add(Communicator{ParallelGroup::tensor, {r}, {{static_cast<int>(r)}}});
        if (kernel_cores == 0) shares.push_back({"cores of the host", LoaderShare::SharedBy::node, 1000, 0});
        table.loaders = LoaderPrices{pace, std::move(shares), kernel_cores};
    }
    SegmentIndex load(GraphRank rank, Bytes bytes, After after = {}) {
        Piece piece;
        piece.kind = SpanKind::read;
        piece.bytes = bytes;
        piece.load = PricedLoad{bytes, 0.25};
        return add(rank, Stream::loader, LoadWork{bytes / B}, {piece}, *builder.rank(rank).feed, after);
    }
};

TEST(Loads, AreReadAndDecodedAsFastAsTheWorkersCan) {
    FedJob job(1, 1, {});
    const auto x = job.load(0, 100 * MB);
    const Simulation played = job.play();
    EXPECT_EQ(span_of(played, x, 0).kind, SpanKind::read);
    EXPECT_NEAR(end_ms(played, x, 0), 0.25, 1e-9);
    EXPECT_EQ(span_of(played, x, 1).kind, SpanKind::decode);
    EXPECT_NEAR(start_ms(played, x, 1), 0.25, 1e-9);
    EXPECT_NEAR(end_ms(played, x, 1), 1, 1e-9);
    EXPECT_EQ(played.trace.spans[span_of(played, x, 1).cause].kind, SpanKind::read);
}

TEST(Loads, ShareStorageFairly) {
    // Of 100 MB/ms for all each of two gets 50: the one of 100 MB is through after 2 ms. The other has 100 of its 200 MB left, at 100: 3
    // ms.
    FedJob job(5, 2, {{"storage", LoaderShare::SharedBy::all_nodes, (100 * MB / ms).si(), 1}});
    const auto x = job.load(0, 100 * MB), y = job.load(4, 200 * MB);
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, x, 1), 2, 1e-9);
    EXPECT_NEAR(end_ms(played, y, 1), 3, 1e-9);
    // What each node has for itself is shared by its own ranks alone.
    FedJob apart(5, 2, {{"a disk", LoaderShare::SharedBy::node, (100 * MB / ms).si(), 1}});
    const auto z = apart.load(0, 100 * MB), w = apart.load(4, 200 * MB);
    const Simulation alone = apart.play();
    EXPECT_NEAR(end_ms(alone, z, 1), 1, 1e-9);
    EXPECT_NEAR(end_ms(alone, w, 1), 2, 1e-9);
}

TEST(Loads, AreBoundByOperationsAsByBytes) {
    // An operation for every 10 KB, and 5 million a second: 50 MB/ms.
    FedJob job(1, 1, {{"operations", LoaderShare::SharedBy::all_nodes, 5e6, 1e-4}});
    job.load(0, 100 * MB);
    EXPECT_NEAR(job.play().trace.end / ms, 2, 1e-9);
}

TEST(Loads, CrossTheNicsThatCollectivesCross) {
    // A node's four NICs have 40 MB/ms; a load is spread over them. With a transfer to rank 0, over one of them, it shares that one: a byte
    // of either in the same time, 1 and 1/4 of them on that NIC, 8 MB/ms each.
    FedJob job(5, 2, {{"network", LoaderShare::SharedBy::network, (40 * MB / ms).si(), 1}});
    const auto x = job.load(0, 16 * MB), y = job.send(4, 0, 16 * MB);
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, x, 1), 2, 1e-9);
    EXPECT_NEAR(end_ms(played, y), 2, 1e-9);
}

TEST(Loads, HaveTheCoresThatKernelsLeave) {
    // One core, which the kernels and the worker would each keep busy: the kernels come first, for 2 ms, then the worker for 1.
    FedJob job(1, 1, {{"cores of the host", LoaderShare::SharedBy::node, 1, 1 / pace.si()}}, 1);
    const auto x = job.load(0, 100 * MB), k = job.kernel(0, 2);
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, k), 2, 1e-6);
    EXPECT_NEAR(end_ms(played, x, 1), 3, 1e-6);
    // One and a half cores: the worker has a half of one meanwhile, and is through when the kernels are.
    FedJob more(1, 1, {{"cores of the host", LoaderShare::SharedBy::node, 1.5, 1 / pace.si()}}, 1);
    const auto y = more.load(0, 100 * MB), m = more.kernel(0, 2);
    const Simulation easier = more.play();
    EXPECT_NEAR(end_ms(easier, y, 1), 2, 1e-6);
    EXPECT_NEAR(end_ms(easier, m), 2, 1e-6);
}

TEST(Loads, LeaveTheKernelsOfAGroupTheCoreOfEachRank) {
    // Two ranks with samples of their group, each played for itself: two cores are enough for their kernels.
    FedJob job(2, 1, {{"cores of the host", LoaderShare::SharedBy::node, 2, 1 / pace.si()}}, 1);
    job.builder.rank(0).feed = job.builder.rank(1).feed = job.builder.add(Communicator{ParallelGroup::tensor, {0, 1}, {{0, 1}}});
    const auto k = job.kernel(0, 2), l = job.kernel(1, 2);
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, k), 2, 1e-6);
    EXPECT_NEAR(end_ms(played, l), 2, 1e-6);
}

TEST(Loads, LeaveKernelsAloneWhereThereAreCoresEnough) {
    FedJob job(1, 1, {{"cores of the host", LoaderShare::SharedBy::node, 2, 1 / pace.si()}}, 1);
    const auto x = job.load(0, 100 * MB), k = job.kernel(0, 2);
    const Simulation played = job.play();
    EXPECT_NEAR(end_ms(played, x, 1), 1, 1e-9);
    EXPECT_NEAR(end_ms(played, k), 2, 1e-9);
}

}  // namespace
}  // namespace sextant
