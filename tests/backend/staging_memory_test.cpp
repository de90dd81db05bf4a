#include "backend/exec/staging_memory.hpp"

#include "tests/backend/counted_blocks.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

// Fast memory, and how much of it there is.
struct Fast : CountedBlocks {
    [[nodiscard]] bool has(const Array& a) const { return given.contains(a.memory.get()); }
};

// Twice two arrays of 100 numbers at a time: two rooms. One of 200 beside them.
void use(StagingMemory& memory) {
    for (int i = 0; i < 2; ++i) {
        const Array one = memory.take(100, Element::real), two = memory.take(100, Element::real);
        EXPECT_NE(one.memory, two.memory);
    }
    (void)memory.take(200, Element::real);
}

TEST(StagingMemory, TakesFastMemoryWhileNothingIsUnderWay) {
    Fast fast;
    StagingMemory memory(fast.memory());
    use(memory);
    EXPECT_EQ(fast.given.size(), 0U) << "an exchange may be under way";
    memory.settle();
    EXPECT_EQ(fast.given.size(), 3U) << "as many as were in use at a time";
    use(memory);
    EXPECT_TRUE(fast.has(memory.take(100, Element::real)));
    EXPECT_EQ(fast.given.size(), 3U);
}

TEST(StagingMemory, GoesOnWithOrdinaryMemoryWhereFastIsRefused) {
    Fast fast;
    fast.room = 1;
    StagingMemory memory(fast.memory());
    use(memory);
    memory.settle();
    EXPECT_EQ(fast.given.size(), 1U);
    const Array one = memory.take(100, Element::real), two = memory.take(100, Element::real);
    EXPECT_TRUE(fast.has(one));
    EXPECT_FALSE(fast.has(two));
}

// From 512 to 1024 sizes are 32 apart: 1000 and 1010 rows of experts both have room for 1024.
TEST(StagingMemory, HasRoomOfAFewSizes) {
    Fast fast;
    StagingMemory memory(fast.memory());
    for (const std::int64_t rows : {1000, 1010}) (void)memory.take(rows, Element::real);
    memory.settle();
    EXPECT_EQ(fast.given.size(), 1U);
}

}  // namespace
}  // namespace sextant
