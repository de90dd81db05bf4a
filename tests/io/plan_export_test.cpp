// Plans in the words of other systems.
#include "tests/base/refusal.hpp"
#include "tests/golden/bundled_scenarios.hpp"
#include "tests/io/exported_launch.hpp"

#include <nlohmann/json.hpp>

#include <gmock/gmock.h>

namespace sextant {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

using Json = nlohmann::json;

TEST(ExportTorchrun, FullShardsAreFsdp2AndShardsInANodeHybrid) {
    const Scenario job = bundled_scenario("llama-3-8b-fsdp-64xh100", {"plan.recompute=full"});
    const ExportedLaunch full = torchrun_launch(job);
    EXPECT_EQ(full.nodes, 8);
    EXPECT_THAT(full.environment, Contains(Pair("ACCELERATE_USE_FSDP", "true")));
    EXPECT_THAT(full.environment, Contains(Pair("FSDP_RESHARD_AFTER_FORWARD", "true")));
    EXPECT_THAT(full.environment, Contains(Pair("FSDP_ACTIVATION_CHECKPOINTING", "true")));
    EXPECT_EQ(value_of(full, "--per_device_train_batch_size"), std::to_string(job.plan.micro_batch));
    EXPECT_EQ(value_of(full, "--gradient_accumulation_steps"), std::to_string(job.plan.micro_batches()));
    EXPECT_EQ(value_of(full, "--bf16"), "set");
    Scenario hybrid = job;
    hybrid.plan.shard_group = 8;
    EXPECT_THAT(torchrun_launch(hybrid).environment, Contains(Pair("FSDP_SHARDING_STRATEGY", "HYBRID_SHARD")));
    hybrid.plan.shard_group = 4;
    EXPECT_THAT(refused_pointers([&] { torchrun_launch(hybrid); }), ElementsAre("/plan/shard_group"));
}

TEST(ExportTorchrun, OfSomeBlocksThatRunAgainSaysWhich) {
    const ExportedLaunch launch = torchrun_launch(bundled_scenario("llama-3-8b-fsdp-64xh100", {R"(plan.recompute={"blocks": 5})"}));
    EXPECT_THAT(launch.environment, Contains(Pair("FSDP_ACTIVATION_CHECKPOINTING", "false")));  // it would take them all
    EXPECT_THAT(launch.notes, Contains(HasSubstr("the first 5 blocks run forward again, and no others: torch.utils.checkpoint")));
}

TEST(ExportTorchrun, PlainDataParallelismNeedsNoFsdp) {
    const ExportedLaunch launch = torchrun_launch(bundled_scenario("resnet50-snellius-4xa100", {"framework=pytorch-ddp"}));
    for (const auto& [name, value] : launch.environment) EXPECT_THAT(name, Not(StartsWith("FSDP")));
    EXPECT_EQ(value_of(launch, "--optim"), "sgd");
}

TEST(Export, SaysWhatIsLeftToTheProgram) {
    const std::vector<std::string> more{"plan.cuda_graph=true", "plan.head_chunks=4", "plan.launch_blocking=true",
                                        "plan.optimizer=momentum"};
    const Scenario job = bundled_scenario("llama-3-8b-adapters", more);
    const auto all =
        testing::AllOf(Contains(HasSubstr("CUDA graphs")), Contains(HasSubstr("over 4 parts")), Contains(HasSubstr("LoraConfig")));
    for (const ExportedLaunch& launch : {torchrun_launch(job), deepspeed_launch(job)}) {
        EXPECT_THAT(launch.notes, all);
        EXPECT_THAT(launch.environment, Contains(Pair("CUDA_LAUNCH_BLOCKING", "1")));
    }
    EXPECT_THAT(torchrun_launch(job).notes, Contains(HasSubstr("no momentum")));
    EXPECT_THAT(megatron_launch(bundled_scenario("gpt3-175b-1024xa100", {"plan.cuda_graph=true"})).notes,
                Contains(HasSubstr("CUDA graphs")));
    EXPECT_THAT(megatron_launch(bundled_scenario("gpt3-175b-1024xa100")).notes, Not(Contains(HasSubstr("CUDA graphs"))));
}

TEST(ExportTorchrun, SaysTf32WhereThePlanMultipliesInIt) {
    EXPECT_EQ(value_of(torchrun_launch(bundled_scenario("precision-tf32-a100")), "--tf32"), "true");
    EXPECT_EQ(value_of(torchrun_launch(bundled_scenario("precision-fp32-a100")), "--tf32"), "absent");
}

TEST(ExportTorchrun, DividesNoModel) {
    EXPECT_THAT(refused_pointers([] { torchrun_launch(bundled_scenario("gpt3-175b-1024xa100")); }), ElementsAre("/plan/tp", "/plan/pp"));
}

TEST(ExportDeepspeed, IsJsonWhoseBatchMultipliesOut) {
    const Scenario job = bundled_scenario("does-not-fit-mended", {"plan.offload=optimizer"});
    const Json json = Json::parse(deepspeed_config(job).json);
    EXPECT_EQ(json.at("train_batch_size"),
              json.at("train_micro_batch_size_per_gpu").get<int>() * json.at("gradient_accumulation_steps").get<int>() * job.plan.dp);
    EXPECT_EQ(json.at("zero_optimization").at("stage"), 3);
    EXPECT_EQ(json.at("zero_optimization").at("offload_optimizer").at("device"), "cpu");
    EXPECT_TRUE(json.at("bf16").at("enabled").get<bool>());
    EXPECT_EQ(json.at("optimizer").at("type"), "AdamW");
}

TEST(ExportDeepspeed, OfSomeBlocksThatRunAgainSaysWhich) {
    const Scenario job = bundled_scenario("gpt3-175b-1024xa100", {R"(plan.recompute={"blocks": 5})", "plan.tp=1", "plan.dp=128"});
    EXPECT_THAT(deepspeed_config(job).notes, Contains(HasSubstr("the first 5 blocks of each stage run forward again")));
}

TEST(ExportDeepspeed, LeavesPipelinesToTheProgramAndRefusesWhatZeroCannotJoin) {
    const Scenario job = bundled_scenario("gpt3-175b-1024xa100", {"plan.tp=1", "plan.dp=128"});
    EXPECT_THAT(deepspeed_config(job).notes, Contains(HasSubstr("PipelineModule(layers, num_stages=8)")));
    const Scenario zero3 = bundled_scenario("gpt3-175b-1024xa100", {"plan.data_parallel=zero3", "plan.optimizer=lamb"});
    EXPECT_THAT(refused_pointers([&] { deepspeed_config(zero3); }), ElementsAre("/plan/tp", "/plan/pp", "/plan/optimizer"));
    const Scenario experts = bundled_scenario("mixtral-8x7b-128xh100", {"plan.pp=1", "plan.dp=128", "plan.data_parallel=zero3"});
    EXPECT_THAT(refused_pointers([&] { deepspeed_config(experts); }), ElementsAre("/plan/ep"));
}

// Its product of micro-batch, accumulation and ranks has tensor ranks too, and it starts with no other.
TEST(ExportDeepspeed, StatesNoBatchBesideTensorParallelism) {
    const Scenario job = bundled_scenario("gpt3-175b-1024xa100", {"plan.pp=1", "plan.dp=128"});
    const Json json = Json::parse(deepspeed_config(job).json);
    EXPECT_EQ(json.at("tensor_parallel").at("autotp_size"), 8);
    EXPECT_FALSE(json.contains("train_batch_size"));
    EXPECT_THAT(deepspeed_config(job).notes, Contains(HasSubstr("a train_batch_size of 8 times the plan's")));
}

TEST(ExportDeepspeed, SaysThatAnOptimizerOtherThanAdamIsMeant) {
    const auto untested = [](const char* optimizer) {
        const Scenario job = bundled_scenario("does-not-fit-mended", {"plan.offload=none", optimizer});
        return Json::parse(deepspeed_config(job).json).contains("zero_allow_untested_optimizer");
    };
    EXPECT_FALSE(untested("plan.optimizer=adamw"));
    EXPECT_TRUE(untested("plan.optimizer=sgd"));
    EXPECT_TRUE(untested("plan.optimizer=momentum"));
    EXPECT_FALSE(untested("plan.optimizer=lion"));
}

TEST(ExportDeepspeed, NamesTheOptimizerOrRefusesIt) {
    const auto job = [](const std::string& optimizer) {
        return bundled_scenario("does-not-fit-mended", {"plan.offload=none", "plan.optimizer=" + optimizer});
    };
    EXPECT_EQ(Json::parse(deepspeed_config(job("lion")).json).at("optimizer").at("type"), "Lion");
    EXPECT_EQ(
        Json::parse(deepspeed_config(bundled_scenario("bert-large-64xv100", {"plan.optimizer=muon"})).json).at("optimizer").at("type"),
        "Muon");
    EXPECT_THAT(refused_pointers([&] { deepspeed_config(job("adafactor")); }), ElementsAre("/plan/optimizer"));
    EXPECT_THAT(refused_pointers([&] { deepspeed_config(job("adamw_8bit")); }), ElementsAre("/plan/optimizer"));
}

TEST(ExportTorchrun, NamesTheOptimizerAsTheTrainerDoes) {
    const auto optim = [](const std::string& optimizer) {
        return value_of(
            torchrun_launch(bundled_scenario("llama-3-8b-fsdp-64xh100", {"plan.recompute=full", "plan.optimizer=" + optimizer})),
            "--optim");
    };
    EXPECT_EQ(optim("adamw"), "adamw_torch");
    EXPECT_EQ(optim("adamw_8bit"), "adamw_bnb_8bit");
    EXPECT_EQ(optim("lion"), "lion_32bit");
    EXPECT_EQ(optim("adafactor"), "adafactor");
    EXPECT_EQ(optim("lamb"), "absent");
}

// A launcher starts as many ranks on each node, and numbers them node by node.
TEST(Export, StartsAsManyRanksAsThePlanHas) {
    const auto ddp = [](const char* dp) {
        return bundled_scenario("llama-3-8b-fsdp-64xh100", {"plan.recompute=none", dp, "plan.global_batch=null", "plan.grad_accum=1"});
    };
    for (const auto& [dp, nodes] : {std::pair{"plan.dp=4", 1}, {"plan.dp=8", 1}, {"plan.dp=24", 3}}) {
        const Scenario job = ddp(dp);
        const ExportedLaunch launch = torchrun_launch(job);
        EXPECT_EQ(launch.nodes, nodes);
        EXPECT_EQ(launch.nodes * launch.per_node, job.plan.dp);
    }
    Scenario job = ddp("plan.dp=14");  // two nodes, seven on each
    EXPECT_EQ(torchrun_launch(job).per_node, 7);
    job.plan.dp = 13;
    EXPECT_THAT(refused_pointers([&] { torchrun_launch(job); }), ElementsAre("/plan"));
    EXPECT_THAT(refused_pointers([&] { deepspeed_launch(job); }), ElementsAre("/plan"));
    job.plan.dp = 8;
    job.plan.scattered = true;
    job.cluster.nodes = 8;
    EXPECT_EQ(torchrun_launch(job).nodes, 8);
    EXPECT_EQ(torchrun_launch(job).per_node, 1);
    job.cluster.nodes = 4;
    EXPECT_THAT(refused_pointers([&] { torchrun_launch(job); }), ElementsAre("/plan/scattered"));
}

}  // namespace
}  // namespace sextant
