#include "model/graph/task_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TaskGraphBuilder builder_with_ranks(int n) {
    TaskGraphBuilder builder({}, {});
    for (int r = 0; r < n; ++r) builder.add(RankInfo{r, 0, 1, false, {}});
    return builder;
}

TEST(TaskGraphBuilder, GivesEqualWorkOneIndex) {
    TaskGraphBuilder builder({}, {});
    const WorkIndex a = builder.work(ComputeWork{Phase::forward, 0, 2});
    EXPECT_EQ(builder.work(ComputeWork{Phase::forward, 0, 2}), a);
    EXPECT_NE(builder.work(ComputeWork{Phase::backward, 0, 2}), a);
    EXPECT_NE(builder.work(ComputeWork{Phase::forward, 0, 3}), a);  // the same hash
    EXPECT_NE(builder.work(UpdateWork{0}), builder.work(OffloadWork{}));
    CollectiveWork gather{ExchangeKind::all_gather, ParallelGroup::shard, Payload::weights, 10};
    const WorkIndex b = builder.work(gather);
    gather.group = ParallelGroup::expert_data;
    EXPECT_NE(builder.work(gather), b);
    EXPECT_EQ(std::move(builder).build().works().size(), 7u);
}

TEST(TaskGraphBuilder, LetsSegmentsWaitForLaterOnes) {
    TaskGraphBuilder builder = builder_with_ranks(2);
    const WorkIndex work = builder.work(ComputeWork{});
    const SegmentIndex first = builder.add(Segment{.work = work, .rank = 0});
    EXPECT_EQ(builder.next(), 1u);
    const SegmentIndex second = builder.add(Segment{.work = work, .rank = 1}), third = builder.add(Segment{.work = work, .rank = 1});
    builder.wait(first, third);
    builder.wait(third, second);
    builder.wait(first, second);
    const TaskGraph graph = std::move(builder).build();
    EXPECT_THAT(graph.waits_for(first), ElementsAre(third, second));  // as they were told
    EXPECT_THAT(graph.waits_for(second), IsEmpty());
    EXPECT_THAT(graph.waits_for(third), ElementsAre(second));
    EXPECT_EQ(graph.dependency_count(), 3u);
}

TEST(TaskGraphBuilderDeathTest, AbortsWhenSegmentsWaitForEachOther) {
    // Rank 0 does a before b, rank 1 c before d; a waits for d, c for b.
    TaskGraphBuilder builder = builder_with_ranks(2);
    const SegmentIndex a = builder.add(Segment{.rank = 0}), b = builder.add(Segment{.rank = 0});
    const SegmentIndex c = builder.add(Segment{.rank = 1}), d = builder.add(Segment{.rank = 1});
    builder.wait(a, d);
    builder.wait(c, b);
    EXPECT_DEATH(static_cast<void>(std::move(builder).build()), "");
}

TEST(TaskGraphBuilder, DoesNotMindSegmentsThatWaitForTheOtherStream) {
    TaskGraphBuilder builder = builder_with_ranks(1);
    const SegmentIndex a = builder.add(Segment{.rank = 0}), b = builder.add(Segment{.rank = 0});
    const SegmentIndex c = builder.add(Segment{.rank = 0, .stream = Stream::communication});
    builder.wait(c, a);
    builder.wait(b, c);
    EXPECT_EQ(std::move(builder).build().segments().size(), 3u);
}

TEST(Work, IsDescribedInWords) {
    EXPECT_EQ(describe(ComputeWork{Phase::forward, 3, 3}), "forward, blocks 3-5");
    EXPECT_EQ(describe(ComputeWork{Phase::backward_input, 3, 1}), "backward input, block 3");
}

}  // namespace
}  // namespace sextant
