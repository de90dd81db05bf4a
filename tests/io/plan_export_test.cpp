// Plans in the words of other systems.
#include "model/io/search/plan_export.hpp"
#include "tests/golden/bundled_scenarios.hpp"

#include <nlohmann/json.hpp>

#include <gmock/gmock.h>

#include <set>

namespace sextant {
namespace {

using testing::_;
using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

using Json = nlohmann::json;
using Words = std::vector<std::string>;

std::string value_of(const ExportedLaunch& launch, const std::string& flag) {
    for (const Words& words : launch.arguments)
        if (words.front() == flag) return words.size() > 1 ? words[1] : "set";
    return "absent";
}

Words problems_of(const std::function<void()>& act) {
    Words pointers;
    try {
        act();
    } catch (const InputError& e) {
        for (const Diagnostic& d : e.diagnostics()) pointers.push_back(d.pointer);
    }
    return pointers;
}

TEST(ExportMegatron, says_the_degrees_batch_and_recompute_of_gpt3) {
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
TEST(ExportMegatron, chunks_that_divide_are_a_number_of_layers) {
    const ExportedLaunch launch = megatron_launch(
        bundled_scenario("gpt3-175b-1024xa100", {"plan.vpp=2", "plan.schedule=interleaved", "plan.sequence_parallel=true"}));
    EXPECT_EQ(value_of(launch, "--num-layers-per-virtual-pipeline-stage"), "6");
    EXPECT_EQ(value_of(launch, "--sequence-parallel"), "set");
    EXPECT_THAT(launch.environment, Contains(Pair("CUDA_DEVICE_MAX_CONNECTIONS", "1")));
}

// 98 blocks: the embedding and 11 layers, six times 12, 13 and the head.
TEST(ExportMegatron, uneven_stages_are_a_layout) {
    const ExportedLaunch launch = megatron_launch(bundled_scenario("gpt3-175b-1024xa100", {"plan.stage_blocks=[12,12,12,12,12,12,12,14]"}));
    EXPECT_EQ(value_of(launch, "--pipeline-model-parallel-layout"), "Et*11|(t*12|)*6t*13L");
}

TEST(ExportMegatron, sharding_offload_and_experts_have_flags) {
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
TEST(ExportMegatron, shards_of_gradients_and_weights_are_launched_as_fsdp_wants_it) {
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
TEST(ExportMegatron, refuses_an_overlap_of_experts_that_megatron_does_not_start) {
    const std::string overlap = "plan.expert_overlap=true";
    EXPECT_THAT(problems_of([&] { megatron_launch(bundled_scenario("mixtral-8x7b-128xh100", {overlap})); }),
                ElementsAre("/plan/expert_overlap"));
    const std::vector<std::string> chunks{overlap, "plan.schedule=interleaved", "plan.vpp=2"};
    EXPECT_EQ(value_of(megatron_launch(bundled_scenario("mixtral-8x7b-128xh100", chunks)), "--overlap-moe-expert-parallel-comm"), "set");
    std::vector<std::string> again = chunks;
    again.emplace_back("plan.recompute=full");
    EXPECT_THAT(problems_of([&] { megatron_launch(bundled_scenario("mixtral-8x7b-128xh100", again)); }),
                ElementsAre("/plan/expert_overlap"));
}

TEST(ExportMegatron, refuses_what_megatron_does_not_start) {
    const auto refused = [](std::vector<std::string> set) {
        return problems_of([&] { megatron_launch(bundled_scenario("llama-2-70b-128xh100", set)); });
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
    EXPECT_THAT(problems_of([&] { megatron_launch(bloom); }), ElementsAre("/workload/position", "/workload/embedding_norm"));
    EXPECT_EQ(value_of(megatron_launch(bundled_scenario("llama-2-70b-128xh100", {"plan.precision=fp32"})), "--attention-backend"), "auto");
}

TEST(ExportMegatron, refuses_pipelines_that_turn_back) {
    for (const char* schedule : {"plan.schedule=zero_bubble_v", "plan.schedule=dual_pipe_v"}) {
        const Scenario job = bundled_scenario("gpt3-175b-1024xa100", {schedule, "plan.vpp=2"});
        EXPECT_THAT(problems_of([&] { megatron_launch(job); }), ElementsAre("/plan/schedule"));
        EXPECT_THAT(problems_of([&] { deepspeed_config(job); }), ElementsAre("/plan/tp", "/plan/schedule"));
    }
}

TEST(ExportMegatron, routers_have_flags) {
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

TEST(ExportMegatron, windows_in_all_layers_but_every_nth_have_a_flag_and_other_arrangements_none) {
    Scenario job = bundled_scenario("gpt3-175b-1024xa100");
    auto& spec = std::get<TransformerSpec>(job.workload.spec);
    spec.sliding_window = 1024;
    spec.full_attention_every = 4;
    EXPECT_EQ(value_of(megatron_launch(job), "--window-attn-skip-freq"), "4");
    spec.parallel_residual = spec.qk_norm = spec.qk_norm_whole = true;
    spec.logit_softcap = 30;
    EXPECT_THAT(problems_of([&] { megatron_launch(job); }),
                ElementsAre("/workload/parallel_residual", "/workload/qk_norm_whole", "/workload/logit_softcap"));
    spec = std::get<TransformerSpec>(bundled_scenario("gpt3-175b-1024xa100").workload.spec);
    spec.norm_placement = NormPlacement::both;
    EXPECT_THAT(problems_of([&] { megatron_launch(job); }), ElementsAre("/workload/norm_placement"));
}

// Every flag that Megatron-LM is told exists there: the list was made from its source, see export_megatron.cpp.
TEST(ExportMegatron, knows_no_flag_that_megatron_does_not) {
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

TEST(ExportMegatron, refuses_all_that_it_cannot_do_at_once) {
    const Scenario resnet = bundled_scenario("resnet50-snellius-4xa100");
    EXPECT_THAT(problems_of([&] { megatron_launch(resnet); }), Contains("/workload"));
    const Scenario job = bundled_scenario("gpt3-175b-1024xa100", {"plan.schedule=gpipe", "plan.optimizer=lamb"});
    EXPECT_THAT(problems_of([&] { megatron_launch(job); }), ElementsAre("/plan/schedule", "/plan/optimizer"));
}

TEST(ExportTorchrun, full_shards_are_fsdp2_and_shards_in_a_node_hybrid) {
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
    EXPECT_THAT(problems_of([&] { torchrun_launch(hybrid); }), ElementsAre("/plan/shard_group"));
}

TEST(ExportTorchrun, of_some_blocks_that_run_again_says_which) {
    const ExportedLaunch launch = torchrun_launch(bundled_scenario("llama-3-8b-fsdp-64xh100", {R"(plan.recompute={"blocks": 5})"}));
    EXPECT_THAT(launch.environment, Contains(Pair("FSDP_ACTIVATION_CHECKPOINTING", "false")));  // it would take them all
    EXPECT_THAT(launch.notes, Contains(HasSubstr("the first 5 blocks run forward again, and no others: torch.utils.checkpoint")));
}

TEST(ExportTorchrun, plain_data_parallelism_needs_no_fsdp) {
    const ExportedLaunch launch = torchrun_launch(bundled_scenario("resnet50-snellius-4xa100", {"framework=pytorch-ddp"}));
    for (const auto& [name, value] : launch.environment) EXPECT_THAT(name, Not(StartsWith("FSDP")));
    EXPECT_EQ(value_of(launch, "--optim"), "sgd");
}

TEST(Export, says_what_is_left_to_the_program) {
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

TEST(ExportTorchrun, says_tf32_where_the_plan_multiplies_in_it) {
    EXPECT_EQ(value_of(torchrun_launch(bundled_scenario("precision-tf32-a100")), "--tf32"), "true");
    EXPECT_EQ(value_of(torchrun_launch(bundled_scenario("precision-fp32-a100")), "--tf32"), "absent");
}

TEST(ExportTorchrun, divides_no_model) {
    EXPECT_THAT(problems_of([] { torchrun_launch(bundled_scenario("gpt3-175b-1024xa100")); }), ElementsAre("/plan/tp", "/plan/pp"));
}

TEST(ExportDeepspeed, is_json_whose_batch_multiplies_out) {
    const Scenario job = bundled_scenario("does-not-fit-mended", {"plan.offload=optimizer"});
    const Json json = Json::parse(deepspeed_config(job).json);
    EXPECT_EQ(json.at("train_batch_size"),
              json.at("train_micro_batch_size_per_gpu").get<int>() * json.at("gradient_accumulation_steps").get<int>() * job.plan.dp);
    EXPECT_EQ(json.at("zero_optimization").at("stage"), 3);
    EXPECT_EQ(json.at("zero_optimization").at("offload_optimizer").at("device"), "cpu");
    EXPECT_TRUE(json.at("bf16").at("enabled").get<bool>());
    EXPECT_EQ(json.at("optimizer").at("type"), "AdamW");
}

TEST(ExportDeepspeed, of_some_blocks_that_run_again_says_which) {
    const Scenario job = bundled_scenario("gpt3-175b-1024xa100", {R"(plan.recompute={"blocks": 5})", "plan.tp=1", "plan.dp=128"});
    EXPECT_THAT(deepspeed_config(job).notes, Contains(HasSubstr("the first 5 blocks of each stage run forward again")));
}

TEST(ExportDeepspeed, leaves_pipelines_to_the_program_and_refuses_what_zero_cannot_join) {
    const Scenario job = bundled_scenario("gpt3-175b-1024xa100", {"plan.tp=1", "plan.dp=128"});
    EXPECT_THAT(deepspeed_config(job).notes, Contains(HasSubstr("PipelineModule(layers, num_stages=8)")));
    const Scenario zero3 = bundled_scenario("gpt3-175b-1024xa100", {"plan.data_parallel=zero3", "plan.optimizer=lamb"});
    EXPECT_THAT(problems_of([&] { deepspeed_config(zero3); }), ElementsAre("/plan/tp", "/plan/pp", "/plan/optimizer"));
    const Scenario experts = bundled_scenario("mixtral-8x7b-128xh100", {"plan.pp=1", "plan.dp=128", "plan.data_parallel=zero3"});
    EXPECT_THAT(problems_of([&] { deepspeed_config(experts); }), ElementsAre("/plan/ep"));
}

// Its product of micro-batch, accumulation and ranks has tensor ranks too, and it starts with no other.
TEST(ExportDeepspeed, states_no_batch_beside_tensor_parallelism) {
    const Scenario job = bundled_scenario("gpt3-175b-1024xa100", {"plan.pp=1", "plan.dp=128"});
    const Json json = Json::parse(deepspeed_config(job).json);
    EXPECT_EQ(json.at("tensor_parallel").at("autotp_size"), 8);
    EXPECT_FALSE(json.contains("train_batch_size"));
    EXPECT_THAT(deepspeed_config(job).notes, Contains(HasSubstr("a train_batch_size of 8 times the plan's")));
}

TEST(ExportDeepspeed, says_that_an_optimizer_other_than_adam_is_meant) {
    const auto untested = [](const char* optimizer) {
        const Scenario job = bundled_scenario("does-not-fit-mended", {"plan.offload=none", optimizer});
        return Json::parse(deepspeed_config(job).json).contains("zero_allow_untested_optimizer");
    };
    EXPECT_FALSE(untested("plan.optimizer=adamw"));
    EXPECT_TRUE(untested("plan.optimizer=sgd"));
    EXPECT_TRUE(untested("plan.optimizer=momentum"));
}

// A launcher starts as many ranks on each node, and numbers them node by node.
TEST(Export, starts_as_many_ranks_as_the_plan_has) {
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
    EXPECT_THAT(problems_of([&] { torchrun_launch(job); }), ElementsAre("/plan"));
    EXPECT_THAT(problems_of([&] { deepspeed_launch(job); }), ElementsAre("/plan"));
    job.plan.dp = 8;
    job.plan.scattered = true;
    job.cluster.nodes = 8;
    EXPECT_EQ(torchrun_launch(job).nodes, 8);
    EXPECT_EQ(torchrun_launch(job).per_node, 1);
    job.cluster.nodes = 4;
    EXPECT_THAT(problems_of([&] { torchrun_launch(job); }), ElementsAre("/plan/scattered"));
}

}  // namespace
}  // namespace sextant
