// Parameter servers as processes of their own: the synchronous ones compute what one rank does; of the asynchronous ones it is checked that
// every update is applied once, that weights are as old as reported, and that the loss falls.
#include "model/io/profile/processor_info.hpp"
#include "model/io/trace/run_reader.hpp"
#include "model/lower/lower.hpp"
#include "model/report/staleness.hpp"
#include "model/sextant.hpp"
#include "tests/backend/mpi_test.hpp"

#include <gmock/gmock.h>

namespace sextant {
namespace {

using testing::HasSubstr;
using ExecutorServers = MpiTest;

TEST_F(ExecutorServers, ComputeTheSameWhenWorkersWaitForEachOther) {
    expect_serial_results(transformer(true),
                          {{{"dp", 2}, {"data_parallel", "parameter_server"}},
                           {{"dp", 4}, {"data_parallel", "parameter_server"}, {"parameter_servers", 3}},
                           {{"dp", 2}, {"data_parallel", "parameter_server"}, {"gradient_overlap", false}},
                           {{"dp", 2}, {"data_parallel", "parameter_server"}, {"reduce_every_micro_batch", true}, {"parameter_servers", 2}},
                           {{"dp", 2},
                            {"data_parallel", "parameter_server"},
                            {"servers_on_workers", true},
                            {"parameter_servers", 2},
                            {"recompute", "full"}}});
    expect_serial_results(perceptron(), {{{"dp", 2}, {"data_parallel", "parameter_server"}, {"optimizer", "adam"}}},
                          {{"optimizer", "adam"}});
}

double sum_of(const json& list) {
    double sum = 0;
    for (const json& n : list) sum += n.get<double>();
    return sum;
}

// Six blocks, eight steps in one walk through the graph, two servers: 96 pushes of each of three workers.
TEST_F(ExecutorServers, ApplyEveryUpdateOnceWhenNobodyWaits) {
    const json run =
        train(transformer(true), {{"dp", 3}, {"global_batch", 12}, {"data_parallel", "async_parameter_server"}, {"parameter_servers", 2}});
    ASSERT_FALSE(run.is_null());
    EXPECT_EQ(run["losses"].size(), 8U);
    const json& servers = run["servers"];
    EXPECT_EQ(servers["updates_pushed"], 288);
    EXPECT_EQ(servers["updates_applied"], 288);
    EXPECT_EQ(servers["checksum_applied"], servers["checksum_pushed"]);
    EXPECT_NE(servers["checksum_applied"], 0);
    EXPECT_EQ(sum_of(servers["staleness"]), 2 * 3 * 7) << "on each server all steps of a worker but its first";
}

// What the server counted is what a simulation counts in its trace. One server: each has an order of its own. Where others use the cores,
// each worker may be done before the next begins: then once more.
TEST_F(ExecutorServers, ReportWeightsAsOldAsTheTraceShows) {
    Library library = open_library();
    bool met = false;
    for (int tries = 0; tries < 5 && !met; ++tries) {
        const json run = train(transformer(true), {{"dp", 3}, {"global_batch", 12}, {"data_parallel", "async_parameter_server"}});
        ASSERT_FALSE(run.is_null());
        const TaskGraph graph = lower(load_scenario(library, stem_ + ".json"), Fold::nothing);
        const Staleness traced = staleness_of(graph, load_run(stem_ + ".run").trace);
        const json& reported = run["servers"]["staleness"];
        double sum = 0;
        for (std::size_t stale = 0; stale < reported.size(); ++stale) sum += static_cast<double>(stale) * reported[stale].get<double>();
        EXPECT_EQ(traced.updates, 3 * 7);
        EXPECT_EQ(traced.largest, static_cast<int>(reported.size()) - 1);
        EXPECT_DOUBLE_EQ(traced.mean, sum / traced.updates);
        met = traced.mean > 0;
    }
    EXPECT_TRUE(met) << "three workers never met";
}

TEST_F(ExecutorServers, LearnWhenNobodyWaits) {
    const json run =
        train(perceptron(),
              {{"dp", 2}, {"micro_batch", 8}, {"global_batch", 16}, {"optimizer", "adam"}, {"data_parallel", "async_parameter_server"}},
              {"--steps", "40", "--learning-rate", "0.01"});
    ASSERT_FALSE(run.is_null());
    EXPECT_EQ(run["losses"].size(), 40U);
    EXPECT_LT(run["losses"].back().get<double>(), 0.6 * run["losses"].front().get<double>());
}

TEST_F(ExecutorServers, ComputeOnCoresWhateverWorkersComputeOn) {
    const json run = train(perceptron(), {{"dp", 2}, {"data_parallel", "parameter_server"}});
    ASSERT_FALSE(run.is_null());
    const json& ranks = run["environment"]["ranks"];
    ASSERT_EQ(ranks.size(), 3U);
    EXPECT_EQ(ranks[2]["processor"], processor_fact("model name", 0));
}

TEST_F(ExecutorServers, AreCountedAmongTheRanks) {
    EXPECT_THAT(start(perceptron(), {{"dp", 2}, {"data_parallel", "parameter_server"}, {"parameter_servers", 2}}, 2),
                exits_with(2, HasSubstr("the plan has 4 ranks, 2 of them parameter servers, and 2 were started")));
}

}  // namespace
}  // namespace sextant
