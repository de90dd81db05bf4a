#include "tests/io/measurement_fixture.hpp"

namespace sextant {
namespace {

TEST(MeasurementScenario, ExpertsOfWhichNoRanksAreStatedAreSpreadAsFarAsTheyCanBe) {
    std::string row(megatron);
    row.replace(row.find(R"json("mlp")json"), 0, R"json("experts": 12, "topk": 2, "moe_ffn_hidden": 1024, )json");
    const Scenario s = scenario_of(row);
    EXPECT_EQ(s.plan.ep, 4);  // of 12 experts and 8 ranks
    EXPECT_TRUE(assumes(s, "experts spread"));
    row.replace(row.find(R"json("cp": 1)json"), 0, R"json("ep": 2, )json");
    EXPECT_EQ(scenario_of(row).plan.ep, 2);
    EXPECT_EQ(scenario_of(megatron).plan.ep, 1);
}

// tp 2, pp 1, dp 8: 16 ranks.
std::string mixture(const std::string& ranks, const std::string& framework) {
    return R"json({"id": "x", "kind": "training",
      "model": {"family": "Qwen3-MoE", "layers": 4, "hidden": 256, "heads": 4, "seq_len": 128, "vocab": 1000, "experts": 64, "topk": 2, "moe_ffn_hidden": 64},
      "hardware": {"gpu": "H100 SXM5 80GB", "gpus": 16, "nodes": 2, "intra_node": {"kind": "nvswitch"}, "inter_node": {"fabric": "infiniband", "nics_per_node": 8, "nic_gbit_per_s": 400}},
      "plan": {"tp": 2, "dp": 8, )json" +
           ranks +
           R"json(, "micro_batch": 1, "global_batch": 8, "precision_kind": "bf16", "framework_family": "megatron-core", "framework": ")json" +
           framework + R"json("}, "measured": {}})json";
}

TEST(MeasurementScenario, ExpertsAreCutAsTheirFrameworkUsuallyDoesAndAsTheyCanBeLaid) {
    const auto plan = [](const std::string& ranks, const std::string& framework) { return scenario_of(mixture(ranks, framework)).plan; };
    EXPECT_EQ(plan(R"("ep": 8)", "Megatron-LM").expert_tp, 0);
    EXPECT_EQ(plan(R"("ep": 8)", "Megatron-Bridge / Megatron-Core, NeMo container 26.04").expert_tp, 1);
    EXPECT_EQ(plan(R"("ep": 8, "etp": 2)", "Megatron-Bridge").expert_tp, 2);
    EXPECT_EQ(plan(R"("ep": 16)", "Megatron-LM").expert_tp, 1);  // does not divide dp x cp
    EXPECT_TRUE(assumes(scenario_of(mixture(R"("ep": 8)", "Megatron-LM")), "experts are cut by tensor parallelism as layers are"));
    // More expert ranks than ranks.
    EXPECT_EQ(plan(R"("ep": 64)", "Megatron-LM").ep, 16);
    EXPECT_TRUE(assumes(scenario_of(mixture(R"("ep": 64)", "Megatron-LM")), "64 cannot be laid over 16 ranks"));
}

TEST(MeasurementScenario, RecipesFuseExpertsWhereTheWholeIterationIsOneGraph) {
    const auto scenario = [](const std::string& graphs) {
        return scenario_of(mixture(R"("ep": 8, "cuda_graph": )" + graphs, "Megatron-Bridge / Megatron-Core, NeMo container 26.06"));
    };
    EXPECT_EQ(scenario(R"("full_iteration/[]")").framework.name, "nemo-26.06");
    EXPECT_EQ(scenario(R"("none/[]")").framework.name, "nemo-26.06");
    const Scenario in_parts = scenario(R"("transformer_engine/['attn', 'moe_router']")");
    EXPECT_EQ(in_parts.framework.name, "nemo");
    EXPECT_TRUE(in_parts.plan.cuda_graph);
    EXPECT_TRUE(scenario("true").plan.cuda_graph);
    EXPECT_FALSE(scenario(R"("none/full_iteration")").plan.cuda_graph);
}

TEST(MeasurementScenario, ModulesOfOtherWordsAreThoseThatAreKnownHereOrAreSaidToBeKept) {
    const auto row = [](const std::string& modules) {
        std::string text = mixture(R"("ep": 8, "recompute": "selective", "recompute_modules": [)" + modules + "]", "Megatron-LM");
        return scenario_of(text);
    };
    EXPECT_EQ(row(R"("recompute-swiglu", "recompute-qkv")").plan.recompute_modules, (std::vector<std::string>{"mlp_act", "qkv"}));
    EXPECT_EQ(row(R"("recompute-att")").plan.recompute_modules, (std::vector<std::string>{"core_attn", "qkv"}));
    EXPECT_EQ(row(R"("recompute-block")").plan.recompute, Recompute::full);
    EXPECT_FALSE(assumes(row(R"("recompute-block")"), "is no module"));
    EXPECT_EQ(row(R"("router", "moe")").plan.recompute_modules, std::vector<std::string>{"moe"});
    EXPECT_TRUE(assumes(row(R"("router", "moe")"), "\"router\" is no module that is known here"));
}

}  // namespace
}  // namespace sextant
