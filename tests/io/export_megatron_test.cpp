// Plans in the words of Megatron-LM.
#include "tests/base/refusal.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/io/exported_launch.hpp"

#include <gmock/gmock.h>

#include <set>

namespace sextant {
namespace {

using testing::_;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::Pair;

TEST(ExportMegatron, SaysTheDegreesBatchAndRecomputeOfGpt3) {
    const ExportedLaunch launch = megatron_launch(bundled_scenario("gpt3-175b-1024xa100"));
    EXPECT_EQ(launch.nodes, 128);
    EXPECT_EQ(launch.per_node, 8);
    EXPECT_EQ(launch.script, "pretrain_gpt.py");
    EXPECT_EQ(value_of(launch, "--tensor-model-parallel-size"), "8");
    EXPECT_EQ(value_of(launch, "--pipeline-model-parallel-size"), "8");
    EXPECT_EQ(value_of(launch, "--micro-batch-size"), "1");
    EXPECT_EQ(value_of(launch, "--global-batch-size"), "1536");
    EXPECT_EQ(value_of(launch, "--recompute-granularity"), "full");
    EXPECT_EQ(value_of(launch, "--fp16"), "set");
    EXPECT_EQ(value_of(launch, "--num-layers"), "96");
    EXPECT_EQ(value_of(launch, "--use-distributed-optimizer"), "absent");
}

// 96 layers on 8 stages of 2 chunks: 6 each.
TEST(ExportMegatron, ChunksThatDivideAreANumberOfLayers) {
    const ExportedLaunch launch = megatron_launch(
        bundled_scenario("gpt3-175b-1024xa100", {"plan.vpp=2", "plan.schedule=interleaved", "plan.sequence_parallel=true"}));
    EXPECT_EQ(value_of(launch, "--num-layers-per-virtual-pipeline-stage"), "6");
    EXPECT_EQ(value_of(launch, "--sequence-parallel"), "set");
    EXPECT_THAT(launch.environment, Contains(Pair("CUDA_DEVICE_MAX_CONNECTIONS", "1")));
}

// 98 blocks: the embedding and 11 layers, six times 12, 13 and the head.
TEST(ExportMegatron, UnevenStagesAreALayout) {
    const ExportedLaunch launch = megatron_launch(bundled_scenario("gpt3-175b-1024xa100", {"plan.stage_blocks=[12,12,12,12,12,12,12,14]"}));
    EXPECT_EQ(value_of(launch, "--pipeline-model-parallel-layout"), "Et*11|(t*12|)*6t*13L");
}

TEST(ExportMegatron, ShardingOffloadAndExpertsHaveFlags) {
    const ExportedLaunch zero1 = megatron_launch(bundled_scenario("mixtral-8x7b-128xh100"));
    EXPECT_EQ(value_of(zero1, "--use-distributed-optimizer"), "set");
    EXPECT_EQ(value_of(zero1, "--expert-model-parallel-size"), "8");
    EXPECT_EQ(value_of(zero1, "--num-experts"), "8");
    EXPECT_EQ(value_of(zero1, "--num-query-groups"), "8");
    const ExportedLaunch zero3 =
        megatron_launch(bundled_scenario("mixtral-8x7b-128xh100", {"plan.data_parallel=zero3", "plan.offload=optimizer"}));
    EXPECT_EQ(value_of(zero3, "--data-parallel-sharding-strategy"), "optim_grads_params");
    EXPECT_EQ(value_of(zero3, "--optimizer-cpu-offload"), "set");
    EXPECT_EQ(value_of(zero3, "--use-distributed-optimizer"), "absent");
}

// Megatron-LM's validate_args: FSDP needs this format of checkpoints and refuses CUDA_DEVICE_MAX_CONNECTIONS=1, which tensor and context
// parallelism need without it.
TEST(ExportMegatron, ShardsOfGradientsAndWeightsAreLaunchedAsFsdpWantsIt) {
    const auto connections = Pair("CUDA_DEVICE_MAX_CONNECTIONS", _);
    const ExportedLaunch whole = megatron_launch(bundled_scenario("llama-3.1-405b-16384xh100", {"plan.data_parallel=zero1"}));
    EXPECT_THAT(whole.environment, Contains(connections));
    EXPECT_EQ(value_of(whole, "--ckpt-format"), "absent");
    for (const char* sharing : {"plan.data_parallel=zero2", "plan.data_parallel=zero3"}) {
        const ExportedLaunch launch = megatron_launch(bundled_scenario("llama-3.1-405b-16384xh100", {sharing}));
        EXPECT_THAT(launch.environment, Not(Contains(connections)));
        EXPECT_EQ(value_of(launch, "--ckpt-format"), "fsdp_dtensor");
    }
}

// Megatron Core's TransformerConfig: with pipelines this overlap is for several chunks of a stage, and for layers that do not run again.
TEST(ExportMegatron, RefusesAnOverlapOfExpertsThatMegatronDoesNotStart) {
    const std::string overlap = "plan.expert_overlap=true";
    EXPECT_THAT(refused_pointers([&] { megatron_launch(bundled_scenario("mixtral-8x7b-128xh100", {overlap})); }),
                ElementsAre("/plan/expert_overlap"));
    const std::vector<std::string> chunks{overlap, "plan.schedule=interleaved", "plan.vpp=2"};
    EXPECT_EQ(value_of(megatron_launch(bundled_scenario("mixtral-8x7b-128xh100", chunks)), "--overlap-moe-expert-parallel-comm"), "set");
    std::vector<std::string> again = chunks;
    again.emplace_back("plan.recompute=full");
    EXPECT_THAT(refused_pointers([&] { megatron_launch(bundled_scenario("mixtral-8x7b-128xh100", again)); }),
                ElementsAre("/plan/expert_overlap"));
}

TEST(ExportMegatron, RefusesWhatMegatronDoesNotStart) {
    const auto refused = [](std::vector<std::string> set) {
        return refused_pointers([&] { megatron_launch(bundled_scenario("llama-2-70b-128xh100", set)); });
    };
    EXPECT_THAT(refused({"plan.data_parallel=all_reduce", "plan.offload=optimizer"}), ElementsAre("/plan/offload"));
    EXPECT_THAT(refused({"plan.data_parallel=zero1", "plan.offload=optimizer", "plan.optimizer=momentum"}), ElementsAre("/plan/offload"));
    const std::string selective = "plan.recompute=selective";
    for (const char* module : {"mla_up_proj", "moe_act", "moe", "shared_experts"})
        EXPECT_THAT(refused({selective, std::string("plan.recompute_modules=[\"") + module + "\"]"}),
                    ElementsAre("/plan/recompute_modules"));
    EXPECT_THAT(refused({selective, R"(plan.recompute_modules=["layernorm"])"}), ElementsAre());
    // FP8 then has scales of the step at hand.
    const auto recipe = [&](const char* modules) {
        return value_of(megatron_launch(bundled_scenario("llama-2-70b-128xh100", {selective, modules, "plan.precision=fp8"})),
                        "--fp8-recipe");
    };
    EXPECT_EQ(recipe(R"(plan.recompute_modules=["layernorm"])"), "tensorwise");
    EXPECT_EQ(recipe(R"(plan.recompute_modules=["mlp"])"), "absent");
    Scenario bloom = bundled_scenario("llama-2-70b-128xh100");
    auto& spec = std::get<TransformerSpec>(bloom.workload.spec);
    spec.position = PositionKind::alibi;
    spec.embedding_norm = true;
    EXPECT_THAT(refused_pointers([&] { megatron_launch(bloom); }), ElementsAre("/workload/position", "/workload/embedding_norm"));
    EXPECT_EQ(value_of(megatron_launch(bundled_scenario("llama-2-70b-128xh100", {"plan.precision=fp32"})), "--attention-backend"), "auto");
}

TEST(ExportMegatron, RefusesPipelinesThatTurnBack) {
    for (const char* schedule : {"plan.schedule=zero_bubble_v", "plan.schedule=dual_pipe_v"}) {
        const Scenario job = bundled_scenario("gpt3-175b-1024xa100", {schedule, "plan.vpp=2"});
        EXPECT_THAT(refused_pointers([&] { megatron_launch(job); }), ElementsAre("/plan/schedule"));
        EXPECT_THAT(refused_pointers([&] { deepspeed_config(job); }), ElementsAre("/plan/tp", "/plan/schedule"));
    }
}

TEST(ExportMegatron, RoutersHaveFlags) {
    const ExportedLaunch deepseek =
        megatron_launch(bundled_scenario("deepseek-v3-2048xh100", {"plan.expert_overlap=false", "plan.schedule=1f1b", "plan.vpp=1"}));
    EXPECT_EQ(value_of(deepseek, "--moe-router-score-function"), "sigmoid");
    EXPECT_EQ(value_of(deepseek, "--moe-router-enable-expert-bias"), "set");
    EXPECT_EQ(value_of(deepseek, "--moe-router-bias-update-rate"), "0.001");
    EXPECT_EQ(value_of(deepseek, "--moe-router-pre-softmax"), "absent");
    Scenario switching = bundled_scenario("mixtral-8x7b-128xh100");
    MixtureOfExperts& moe = *std::get<TransformerSpec>(switching.workload.spec).moe;
    moe.topk = 1;
    moe.balance_loss = 0.01;
    const ExportedLaunch balanced = megatron_launch(switching);
    EXPECT_EQ(value_of(balanced, "--moe-router-load-balancing-type"), "seq_aux_loss");
    EXPECT_EQ(value_of(balanced, "--moe-aux-loss-coeff"), "0.01");
    EXPECT_EQ(value_of(balanced, "--moe-router-pre-softmax"), "set");
}

TEST(ExportMegatron, WindowsInAllLayersButEveryNthHaveAFlagAndOtherArrangementsNone) {
    Scenario job = bundled_scenario("gpt3-175b-1024xa100");
    auto& spec = std::get<TransformerSpec>(job.workload.spec);
    spec.sliding_window = 1024;
    spec.full_attention_every = 4;
    EXPECT_EQ(value_of(megatron_launch(job), "--window-attn-skip-freq"), "4");
    spec.parallel_residual = spec.qk_norm = spec.qk_norm_whole = true;
    spec.logit_softcap = 30;
    EXPECT_THAT(refused_pointers([&] { megatron_launch(job); }),
                ElementsAre("/workload/parallel_residual", "/workload/qk_norm_whole", "/workload/logit_softcap"));
    spec = std::get<TransformerSpec>(bundled_scenario("gpt3-175b-1024xa100").workload.spec);
    spec.norm_placement = NormPlacement::both;
    EXPECT_THAT(refused_pointers([&] { megatron_launch(job); }), ElementsAre("/workload/norm_placement"));
}

// Every flag that Megatron-LM is told exists there: the list was made from its source, see model/io/export/megatron.cpp.
TEST(ExportMegatron, KnowsNoFlagThatMegatronDoesNot) {
    const std::set<std::string> known{"--tensor-model-parallel-size",
                                      "--pipeline-model-parallel-size",
                                      "--context-parallel-size",
                                      "--expert-model-parallel-size",
                                      "--expert-tensor-parallel-size",
                                      "--sequence-parallel",
                                      "--use-tp-pp-dp-mapping",
                                      "--micro-batch-size",
                                      "--global-batch-size",
                                      "--num-layers-per-virtual-pipeline-stage",
                                      "--pipeline-model-parallel-layout",
                                      "--use-distributed-optimizer",
                                      "--use-megatron-fsdp",
                                      "--data-parallel-sharding-strategy",
                                      "--ckpt-format",
                                      "--num-distributed-optimizer-instances",
                                      "--overlap-grad-reduce",
                                      "--overlap-param-gather",
                                      "--tp-comm-overlap",
                                      "--use-precision-aware-optimizer",
                                      "--optimizer-cpu-offload",
                                      "--recompute-granularity",
                                      "--recompute-method",
                                      "--recompute-num-layers",
                                      "--recompute-modules",
                                      "--bf16",
                                      "--fp16",
                                      "--fp8-format",
                                      "--fp8-recipe",
                                      "--fp4-format",
                                      "--accumulate-allreduce-grads-in-fp32",
                                      "--optimizer",
                                      "--sgd-momentum",
                                      "--num-layers",
                                      "--hidden-size",
                                      "--ffn-hidden-size",
                                      "--num-attention-heads",
                                      "--group-query-attention",
                                      "--num-query-groups",
                                      "--kv-channels",
                                      "--seq-length",
                                      "--max-position-embeddings",
                                      "--position-embedding-type",
                                      "--normalization",
                                      "--swiglu",
                                      "--squared-relu",
                                      "--untie-embeddings-and-output-weights",
                                      "--disable-bias-linear",
                                      "--add-qkv-bias",
                                      "--attention-backend",
                                      "--attention-dropout",
                                      "--hidden-dropout",
                                      "--multi-latent-attention",
                                      "--q-lora-rank",
                                      "--kv-lora-rank",
                                      "--qk-head-dim",
                                      "--qk-pos-emb-head-dim",
                                      "--v-head-dim",
                                      "--mtp-num-layers",
                                      "--mtp-loss-scaling-factor",
                                      "--num-experts",
                                      "--moe-router-topk",
                                      "--moe-router-num-groups",
                                      "--moe-router-group-topk",
                                      "--moe-router-score-function",
                                      "--moe-router-enable-expert-bias",
                                      "--moe-router-bias-update-rate",
                                      "--moe-flex-dispatcher-backend",
                                      "--overlap-moe-expert-parallel-comm",
                                      "--quick-geglu",
                                      "--activation-func-clamp-value",
                                      "--glu-linear-offset",
                                      "--moe-ffn-hidden-size",
                                      "--moe-shared-expert-intermediate-size",
                                      "--moe-layer-freq",
                                      "--moe-token-dispatcher-type",
                                      "--moe-grouped-gemm",
                                      "--moe-shared-expert-gate",
                                      "--qk-layernorm",
                                      "--attention-output-gate",
                                      "--window-size",
                                      "--window-attn-skip-freq"};
    int exported = 0;
    for (const std::string& name : bundled_scenario_names()) {
        try {
            for (const Words& words : megatron_launch(bundled_scenario(name)).arguments)
                EXPECT_TRUE(known.contains(words.front())) << words.front();
            ++exported;
        } catch (const InputError&) {
        }
    }
    EXPECT_GT(exported, 5);
}

TEST(ExportMegatron, RefusesAllThatItCannotDoAtOnce) {
    const Scenario resnet = bundled_scenario("resnet50-snellius-4xa100");
    EXPECT_THAT(refused_pointers([&] { megatron_launch(resnet); }), Contains("/workload"));
    const Scenario job = bundled_scenario("gpt3-175b-1024xa100", {"plan.schedule=gpipe", "plan.optimizer=lamb"});
    EXPECT_THAT(refused_pointers([&] { megatron_launch(job); }), ElementsAre("/plan/schedule", "/plan/optimizer"));
}

TEST(ExportMegatron, KnowsLionAndMuonWhereGradientsStayWholeAndInBf16) {
    const auto job = [](const std::string& optimizer, const std::string& more) {
        return bundled_scenario("mixtral-8x7b-128xh100", {"plan.optimizer=" + optimizer, more});
    };
    const ExportedLaunch lion = megatron_launch(job("lion", "plan.data_parallel=zero1"));
    EXPECT_EQ(value_of(lion, "--optimizer"), "lion");
    EXPECT_EQ(value_of(lion, "--muon-tp-mode"), "absent");
    EXPECT_THAT(lion.notes, Contains(testing::HasSubstr("emerging-optimizers")));
    EXPECT_THAT(refused_pointers([&] { megatron_launch(job("lion", "plan.data_parallel=zero3")); }), ElementsAre("/plan/optimizer"));
    EXPECT_THAT(refused_pointers([&] { megatron_launch(job("lion", "plan.precision=fp16")); }), ElementsAre("/plan/optimizer"));
    const ExportedLaunch muon = megatron_launch(bundled_scenario("gpt3-175b-1024xa100", {"plan.optimizer=muon", "plan.precision=bf16"}));
    EXPECT_EQ(value_of(muon, "--optimizer"), "muon");
    EXPECT_EQ(value_of(muon, "--muon-tp-mode"), "blockwise");
}

}  // namespace
}  // namespace sextant
