// Plans with "cuda_graph", where kernels are launched: they compute what they compute without, to the bit.
#include "tests/backend/mpi_test.hpp"

#include <gmock/gmock.h>

#include <regex>

namespace sextant {
namespace {

class ExecutorWithGraphs : public MpiTest {
protected:
    // Twelve steps: what is captured is captured by then. `share`: of the calls of the last step, so many at least are in graphs.
    void expect_the_same(const json& workload, const std::vector<json>& plans, double share,
                         const std::vector<std::string>& more = {}) const {
        std::vector<std::string> arguments{"--steps", "12"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        for (json plan : plans) {
            SCOPED_TRACE(plan.dump());
            const json without = train(workload, plan, arguments);
            plan["cuda_graph"] = true;
            const json with = train(workload, plan, arguments);
            if (without.is_null() || with.is_null()) continue;
            EXPECT_EQ(with["losses"], without["losses"]);
            EXPECT_EQ(with["parameters"], without["parameters"]);
            expect_graphs(with["environment"]["libraries"].dump(), share);
        }
    }

private:
    static void expect_graphs(const std::string& libraries, double share) {
        std::smatch found;
        ASSERT_TRUE(std::regex_search(libraries, found, std::regex("([0-9]+) of ([0-9]+) calls"))) << libraries;
        EXPECT_GT(std::stod(found[1]), share * std::stod(found[2])) << libraries;
    }
};

TEST_F(ExecutorWithGraphs, ComputesTheSameAsWithout) {
    constexpr double most = 0.7;
    expect_the_same(transformer(true),
                    {{{"optimizer", "adam"}}, {{"dp", 2}, {"recompute", "full"}}, {{"dp", 2}, {"reduce_every_micro_batch", true}}}, most);
    expect_the_same(transformer(false), {{{"optimizer", "lamb"}}}, most);
    expect_the_same(transformer(true), {{{"precision", "fp16"}}}, most, {"--loss-scale", "1073741824"});
    expect_the_same(perceptron(), {{{"dp", 2}}}, most);
    // Where memory goes to and fro between threads, addresses depend on time.
    expect_the_same(transformer(true),
                    {{{"tp", 2}, {"sequence_parallel", true}},
                     {{"cp", 2}},
                     {{"pp", 2}, {"schedule", "zero_bubble"}},
                     {{"dp", 2}, {"data_parallel", "zero2"}}},
                    0);
    expect_the_same(transformer(false), {{{"dp", 2}, {"data_parallel", "zero3"}, {"optimizer", "adam"}}}, 0);
    const json images{{"chain",
                       {{"input_shape", {3, 8, 8}},
                        {"layers", {{{"conv", {{"width", 8}, {"kernel", 3}}}}, {{"norm", "batch"}}, {{"pool", "global_average"}}}},
                        {"classes", 10}}}};
    expect_the_same(images, {{{"dp", 2}}}, most);
    // What experts do is another stretch in every step.
    json mixture = transformer(false);
    mixture["transformer"]["moe"] = {
        {"experts", 4}, {"topk", 2}, {"ffn_hidden", 24}, {"sigmoid_router", true}, {"bias_update_speed", 0.01}, {"balance_loss", 0.1}};
    expect_the_same(mixture, {{{"dp", 2}, {"ep", 2}}}, 0);
}

}  // namespace
}  // namespace sextant
