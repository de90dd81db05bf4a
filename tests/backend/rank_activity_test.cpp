#include "backend/exec/rank_activity.hpp"

#include "tests/backend/default_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::Contains;

std::vector<std::string> operations(const TaskGraph& graph) {
    std::vector<std::string> texts;
    for (SegmentIndex s = 0; s < graph.segments().size(); ++s) texts.push_back(operation_text(graph, s));
    return texts;
}

TEST(RankActivity, NameOperationsAsPeopleDo) {
    EXPECT_THAT(operations(default_graph({})), Contains("all-reduce of gradients, blocks 0-5, over the data group"));
    const std::vector<std::string> stages = operations(default_graph({"plan.dp=1", "plan.pp=2", "plan.micro_batch=2"}));
    EXPECT_THAT(stages, Contains("backward, blocks 0-2, micro-batch 3"));
    EXPECT_THAT(stages, Contains("transfer of activations from rank 0 to rank 1, micro-batch 1"));
    const std::vector<std::string> served =
        operations(default_graph({"plan.data_parallel=parameter_server", "plan.servers_on_workers=true"}));
    EXPECT_THAT(served, Contains("transfer of weights from server 0 to rank 1, micro-batch 0"));
    EXPECT_THAT(served, Contains("server adds gradients of rank 1"));
}

TEST(RankActivity, TellWhatIsWaitedFor) {
    const TaskGraph graph = default_graph({});
    RankActivity activity;
    activity.at("the end of training");
    EXPECT_EQ(activity.text(), "the end of training");
    SegmentIndex update = 0, reduction = 0;
    for (SegmentIndex s = 0; s < graph.segments().size(); ++s) {
        if (std::holds_alternative<UpdateWork>(graph.works()[graph.segments()[s].work])) update = s;
        if (std::holds_alternative<CollectiveWork>(graph.works()[graph.segments()[s].work])) reduction = s;
    }
    activity.at(graph, 2, update);
    activity.waits_for(reduction);
    EXPECT_EQ(activity.text(), "step 3, optimizer, waiting for all-reduce of gradients, blocks 0-5, over the data group");
    activity.goes_on();
    EXPECT_EQ(activity.text(), "step 3, optimizer");
}

}  // namespace
}  // namespace sextant
