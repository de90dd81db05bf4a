#include "backend/exec/memory_pool.hpp"

#include "model/base/diagnostics.hpp"
#include "tests/backend/counted_blocks.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace sextant {
namespace {

// Memory of a device whose marks are reached when the test says so.
struct Source : CountedBlocks {
    bool done = false;
    bool repeats = false;

    MemorySource memory() {
        MemorySource source = CountedBlocks::memory();
        source.mark = [this] { return Mark{{}, this}; };
        source.reached = [this](const Mark&) { return done; };
        source.repeats = repeats;
        return source;
    }
};

void* taken_by_another_thread(MemoryPool& pool) {
    void* address = nullptr;
    std::thread([&] { address = pool.take(100).get(); }).join();
    return address;
}

TEST(MemoryPool, HandsOutAgainWhatCameBack) {
    Source source;
    MemoryPool pool(source.memory());
    void* first = pool.take(100).get();
    EXPECT_EQ(pool.take(120).get(), first) << "128 bytes both";
    EXPECT_NE(pool.take(130).get(), first);
    EXPECT_EQ(pool.in_use(), 0);
    EXPECT_EQ(pool.peak(), 192);
}

TEST(MemoryPool, GivesBackWhatNobodyWantedForAWholeStep) {
    Source source;
    MemoryPool pool(source.memory());
    const auto wanted = [&](std::int64_t bytes) { (void)pool.take(bytes); };
    wanted(100);
    wanted(1000);
    pool.begin_step();
    EXPECT_EQ(source.given.size(), 2U) << "the step before may come again";
    wanted(100);
    pool.begin_step();
    EXPECT_EQ(source.given.size(), 1U);
    void* kept = *source.given.begin();
    EXPECT_EQ(pool.take(100).get(), kept);
}

TEST(MemoryPool, KeepsFromOtherThreadsWhatTheDeviceMayStillUse) {
    Source source;
    MemoryPool pool(source.memory());
    void* own = pool.take(100).get();
    void* first = taken_by_another_thread(pool);
    EXPECT_NE(first, own) << "work that was called for may read it";
    void* second = taken_by_another_thread(pool);
    EXPECT_NE(second, first);
    source.done = true;
    EXPECT_EQ(taken_by_another_thread(pool), first);
    EXPECT_EQ(pool.take(100).get(), own) << "in the order of the device there is no danger";
}

// As steps do that are alike but for the order in which messages end.
TEST(MemoryPool, GivesTheSameRequestsTheSameMemoryWhateverCameBackFirst) {
    Source source;
    source.repeats = true;
    MemoryPool pool(source.memory());
    const auto addresses = [&](bool first_goes_first) {
        auto one = pool.take(100), two = pool.take(100);
        const std::pair found{one.get(), two.get()};
        (first_goes_first ? one : two).reset();
        return found;
    };
    addresses(true);
    const auto second = addresses(false);
    EXPECT_EQ(addresses(true), second);
    EXPECT_EQ(addresses(true), second);
}

TEST(MemoryPool, GivesBackWhatLiesIdleBeforeItRefuses) {
    Source source;
    source.room = 2;
    MemoryPool pool(source.memory());
    pool.take(100), pool.take(200);
    const auto one = pool.take(300), two = pool.take(400);
    EXPECT_THROW(pool.take(500), BackendError);
    EXPECT_EQ(pool.in_use(), 320 + 448);
}

}  // namespace
}  // namespace sextant
