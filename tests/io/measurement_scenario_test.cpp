#include "tests/base/refusal.hpp"
#include "tests/io/measurement_fixture.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <iostream>

namespace sextant {
namespace {

using namespace units;

TEST(MeasurementScenario, AMegatronRowKeepsItsPlanAndGetsTheDefaultsOfItsFamily) {
    const Scenario s = scenario_of(megatron);
    const Plan& p = s.plan;
    EXPECT_EQ(p.devices(), 2240);
    EXPECT_EQ(p.micro_batches(), 280);  // 2240 / (1 x 8)
    EXPECT_EQ(p.schedule, Schedule::interleaved);
    EXPECT_EQ(p.recompute, Recompute::selective);
    EXPECT_EQ(p.data_parallel, DataParallel::all_reduce);
    EXPECT_EQ(p.optimizer, Optimizer::adam);
    EXPECT_TRUE(p.sequence_parallel);
    EXPECT_FALSE(p.flash_attention);
    EXPECT_TRUE(p.stage_blocks.empty());  // 105 layers = 35 x 3 chunks of one
    EXPECT_TRUE(p.precision.master_weights);
    EXPECT_EQ(s.framework.name, "megatron-lm-2021");

    const auto& t = std::get<TransformerSpec>(s.workload.spec);
    EXPECT_EQ(t.ffn_hidden, 81920);  // 4 x 20480
    EXPECT_EQ(t.kv_heads, 128);
    EXPECT_EQ(t.norm, NormKind::layer);
    EXPECT_TRUE(assumes(s, "ffn_hidden = 4 x hidden"));
    EXPECT_TRUE(assumes(s, "optimizer Adam"));

    EXPECT_EQ(s.cluster.nodes, 280);
    EXPECT_EQ(s.cluster.node.peers.layout, PeerLayout::crossbar);
    EXPECT_DOUBLE_EQ(s.cluster.node.peers.link.bandwidth.value / (GB / units::s), 300);
    EXPECT_EQ(s.cluster.node.nic_link.name, "InfiniBand HDR 4x");
    EXPECT_EQ(s.cluster.node.nics, 8);
    EXPECT_EQ(s.cluster.fabric.kind, FabricKind::rail_leaf_spine);
}

TEST(MeasurementScenario, LayersThatDoNotDivideAreSplitEvenlyWithEmbeddingAndHead) {
    // 126 layers + embedding + head = 128 blocks on 8 stages x 4 chunks: four each.
    std::string row(megatron);
    row.replace(row.find("\"layers\": 105"), 13, "\"layers\": 126");
    row.replace(row.find("\"pp\": 35, \"vpp\": 3"), 18, "\"pp\": 8, \"vpp\": 4");
    const Scenario s = scenario_of(row);
    EXPECT_EQ(s.plan.stage_blocks, std::vector<int>(32, 4));
    EXPECT_TRUE(assumes(s, "pipeline split"));
}

TEST(MeasurementScenario, ChunksThatATableOfNemoLeavesOutAreAssumedForDenseModels) {
    std::string row(megatron);
    row.replace(row.find("\"layers\": 105"), 13, "\"layers\": 96");
    row.replace(row.find("\"pp\": 35, \"vpp\": 3"), 18, "\"pp\": 8");
    row.replace(row.find("\"schedule\": \"interleaved 1f1b\", "), 32, "");
    row.replace(row.find("Megatron-LM (2022)"), 18, "NeMo 2.x");
    row.replace(row.find("\"megatron-lm\""), 13, "\"megatron-core\"");
    const Scenario s = scenario_of(row);
    EXPECT_EQ(s.plan.vpp, 12);
    EXPECT_EQ(s.plan.schedule, Schedule::interleaved);
    EXPECT_TRUE(assumes(s, "chunks of one layer"));
    const auto chunks_of = [](std::string text, std::string_view what, std::string_view with) {
        return scenario_of(text.replace(text.find(what), what.size(), with)).plan.vpp;
    };
    EXPECT_EQ(chunks_of(row, "\"pp\": 8", "\"pp\": 8, \"vpp\": 1"), 1);
    EXPECT_EQ(chunks_of(row, "NeMo 2.x", "Megatron-Core CI"), 1);
    EXPECT_EQ(chunks_of(row, R"json("mlp")json", R"json("experts": 8, "topk": 2, "mlp")json"), 1);
    EXPECT_EQ(chunks_of(row, "\"global_batch\": 2240", "\"global_batch\": 2248"), 1);  // 281 micro-batches: no multiple of 8 stages
}

TEST(MeasurementScenario, AnFsdpRowShardsOverItsGroup) {
    const Scenario s = scenario_of(fsdp);
    EXPECT_EQ(s.plan.data_parallel, DataParallel::zero3);
    EXPECT_EQ(s.plan.shard_group, 8);
    EXPECT_EQ(s.plan.recompute, Recompute::full);
    EXPECT_EQ(s.framework.name, "nemo-automodel");
    const auto& t = std::get<TransformerSpec>(s.workload.spec);
    EXPECT_EQ(t.norm, NormKind::rms);
    EXPECT_FALSE(t.bias);
    // RoCE at 100 Gbit/s is not in the catalogue: the nearest entry at 100 Gbit/s = 12.5 GB/s.
    EXPECT_EQ(s.cluster.node.nic_link.name, "RoCE v2 200 GbE");
    EXPECT_DOUBLE_EQ(s.cluster.node.nic_link.bandwidth.value / (GB / units::s), 12.5);
}

TEST(MeasurementScenario, ShardGradOpIsZero2) {
    std::string row(fsdp);
    row.replace(row.find("FSDP2, group 8"), 14, "SHARD_GRAD_OP");
    EXPECT_EQ(scenario_of(row).plan.data_parallel, DataParallel::zero2);
}

TEST(MeasurementScenario, WordsForNoShardsAndForShardsInANodeAreUnderstood) {
    const auto plan = [](const std::string& word) {
        std::string row(fsdp);
        row.replace(row.find("FSDP2, group 8"), 14, word);
        return scenario_of(row).plan;
    };
    for (const char* none : {"NO_SHARD", "none", "DDP"}) EXPECT_EQ(plan(none).data_parallel, DataParallel::all_reduce) << none;
    EXPECT_EQ(plan("HYBRID_SHARD").data_parallel, DataParallel::zero3);
    EXPECT_EQ(plan("HYBRID_SHARD").shard_group, 8);  // of 8 nodes of 8
    EXPECT_EQ(plan("FULL_SHARD").shard_group, std::nullopt);
}

TEST(MeasurementScenario, ARowMaySpellItsNetworkAsItsSourceDoes) {
    const auto network_of = [](std::string_view name) {
        std::string row = vision_row(R"json("gpu": "V100 SXM2 16GB", "gpus": 1, "nodes": 1, "intra_node": {"kind": "nvlink"})json",
                                     R"json("dp": 1, "global_batch": 32, "framework": "PyTorch", "framework_family": "pytorch-ddp")json");
        row.replace(row.find("resnet50"), 8, name);
        MeasurementSources sources = test_sources();
        sources.workload = find_workload;
        return to_scenario(std::get<TrainingRow>(read_one(row).rows.at(0)), sources).workload.name;
    };
    EXPECT_EQ(network_of("VGG16_BN"), "vgg16_bn");
    EXPECT_EQ(network_of("efficientnet-b0"), "efficientnet_b0");
    EXPECT_EQ(network_of("BERT-large (SQuAD fine-tuning)"), "bert-large-squad");
    for (const char* none : {"BERT", "resnet500"}) EXPECT_THROW(network_of(none), InputError) << none;
}

TEST(MeasurementScenario, ParameterServersShareTheWorkersHosts) {
    const Scenario s = scenario_of(vision_row(
        R"json("gpu": "K80 (per die)", "gpus": 64, "nodes": 8, "gpus_per_node": 8, "intra_node": {"kind": "pcie"},
           "inter_node": {"fabric": "ethernet", "nics_per_node": 1, "nic_gbit_per_s": 10})json",
        R"json("dp": 64, "global_batch": 2048, "framework": "TensorFlow", "framework_family": "tensorflow",
           "variable_update": "distributed_replicated, cross_replica_sync, parameter servers on the same hosts")json"));
    EXPECT_EQ(s.plan.data_parallel, DataParallel::parameter_server);
    EXPECT_EQ(s.plan.parameter_servers, 8);
    EXPECT_TRUE(s.plan.servers_on_workers);
    EXPECT_EQ(s.framework.name, "tf-parameter-server");
    EXPECT_FALSE(s.cluster.node.gpu_direct);
    EXPECT_EQ(s.cluster.node.devices_per_switch, 2);
}

TEST(MeasurementScenario, VariablesOnDevicesAreServedByDevices) {
    const auto plan_of = [](const char* plan) {
        return scenario_of(
                   vision_row(
                       R"json("gpu": "K80 (per die)", "gpus": 8, "nodes": 1, "gpus_per_node": 8, "intra_node": {"kind": "pcie"})json",
                       plan))
            .plan;
    };
    EXPECT_EQ(plan_of(R"json("dp": 8, "global_batch": 256, "framework": "TensorFlow", "variable_update": "parameter_server/gpu")json")
                  .data_parallel,
              DataParallel::all_reduce);
    EXPECT_EQ(plan_of(R"json("dp": 8, "global_batch": 256, "framework": "TensorFlow", "variable_update": "parameter_server/cpu")json")
                  .data_parallel,
              DataParallel::parameter_server);
}

TEST(MeasurementScenario, ABertRowBecomesAnEncoderWithTheHeadOfItsTask) {
    const std::string row = R"json({"id": "bert", "kind": "training",
      "model": {"family": "BERT", "name": "BERT-large (SQuAD fine-tuning)",
    "layers" : 24,
    "hidden" : 1024,
    "ffn_hidden" : 4096,
    "heads" : 16,
    "vocab" : 30522,
    "seq_len" : 384
},
    "hardware" : {"gpu" : "RTX 3090", "gpus" : 2, "nodes" : 1, "gpus_per_node" : 2, "intra_node" : {"kind" : "pcie"}},
                 "plan" : {
                     "dp" : 2,
                     "micro_batch" : 8,
                     "global_batch" : 16,
                     "recompute" : "none",
                     "precision" : "fp32 with TF32 tensor cores enabled by default",
                     "precision_kind" : "tf32",
                     "optimizer" : "BertAdam/Adam fp32",
                     "framework" : "PyTorch NGC container (1.9.0a0)",
                     "framework_family" : "pytorch-ddp"
                 },
                          "measured" : {
    "step_time_s" : 0.4
}
})json";
    const Scenario s = scenario_of(row);
    const auto& t = std::get<TransformerSpec>(s.workload.spec);
    EXPECT_EQ(t.kind, TransformerKind::encoder);
    EXPECT_EQ(t.head, HeadKind::question_answering);
    EXPECT_TRUE(t.bidirectional);
    EXPECT_EQ(t.type_vocab, 2);
    EXPECT_EQ(t.max_positions, 512);
    EXPECT_EQ(s.plan.optimizer, Optimizer::adam);
    EXPECT_EQ(s.framework.name, "pytorch-ddp-bertadam");
    EXPECT_EQ(s.cluster.node.host.sockets, 1);
}

TEST(MeasurementScenario, AutocastKeepsWeightsAndGradientsInFp32) {
    std::string row = vision_row(
        R"json("gpu": "V100 SXM2 16GB", "gpus": 1, "nodes": 1, "intra_node": {"kind": "nvlink"})json",
        R"json("dp": 1, "global_batch": 32, "framework": "PyTorch", "framework_family": "pytorch-ddp", "phase": "forward_backward")json");
    for (auto at = row.find("fp32"); at != std::string::npos; at = row.find("fp32")) row.replace(at, 4, "amp_");
    row.replace(row.find("amp_"), 4, "fp16");
    const Plan p = scenario_of(row).plan;
    EXPECT_EQ(p.precision.compute, DataType::fp16);
    EXPECT_EQ(p.precision.parameter, DataType::fp32);
    EXPECT_FALSE(p.precision.master_weights);
    EXPECT_TRUE(p.without_optimizer);
}

TEST(MeasurementScenario, AnOptimizerInBf16KeepsNoFp32Masters) {
    std::string row(megatron);
    row.replace(row.find(R"json("precision": "fp16")json"), 19, R"json("precision": "fp16", "optimizer": "AdamW, bf16 m and v")json");
    const Plan p = scenario_of(row).plan;
    EXPECT_EQ(p.optimizer, Optimizer::adamw);
    EXPECT_EQ(p.precision.optimizer_state, DataType::bf16);
    EXPECT_FALSE(p.precision.master_weights);
}

TEST(MeasurementScenario, AnAttentionOfWhichNothingIsStatedIsPlainAndSaysSo) {
    EXPECT_FALSE(assumes(scenario_of(megatron), "FlashAttention"));
    std::string row(megatron);
    const std::string_view stated = R"json("flash_attention": false,)json";
    row.erase(row.find(stated), stated.size());
    EXPECT_FALSE(scenario_of(row).plan.flash_attention);
    EXPECT_TRUE(assumes(scenario_of(row), "FlashAttention"));
}

TEST(MeasurementScenario, ImagesLieAsTheRowSays) {
    const auto layout = [](std::string_view said) {
        return scenario_of(vision_row(R"json("gpu": "V100 SXM2 16GB", "gpus": 1, "nodes": 1, "intra_node": {"kind": "nvlink"})json",
                                      R"json("dp": 1, "global_batch": 32, "framework": "PyTorch", "framework_family": "pytorch-ddp")json" +
                                          std::string(said)))
            .plan.channels_last;
    };
    EXPECT_EQ(layout(""), std::nullopt);
    EXPECT_EQ(layout(R"json(, "memory_format": "nhwc")json"), true);
    EXPECT_EQ(layout(R"json(, "memory_format": "channels_last")json"), true);
    EXPECT_EQ(layout(R"json(, "memory_format": "contiguous_nchw")json"), false);
}

TEST(MeasurementScenario, AGraphThatIsTimedForwardAndWithGradientsFreezesItsBatchNorms) {
    const auto of = [](const std::string& family, const std::string& phase) {
        return scenario_of(vision_row(R"json("gpu": "V100 SXM2 16GB", "gpus": 1, "nodes": 1, "intra_node": {"kind": "nvlink"})json",
                                      R"json("dp": 1, "global_batch": 32, "framework": "TensorFlow 1.12.0", "framework_family": ")json" +
                                          family + R"json(", "phase": ")json" + phase + R"json(")json"));
    };
    EXPECT_TRUE(of("tensorflow", "forward_backward").plan.frozen_batch_norm);
    EXPECT_TRUE(assumes(of("tensorflow", "forward_backward"), "statistics of inference"));
    EXPECT_FALSE(of("tensorflow", "forward").plan.frozen_batch_norm);  // nothing trains
    EXPECT_FALSE(of("pytorch-ddp", "forward_backward").plan.frozen_batch_norm);
}

TEST(MeasurementScenario, ANoteOfBlockingLaunchesMakesThemWait) {
    EXPECT_FALSE(scenario_of(megatron).plan.launch_blocking);
    std::string row(megatron);
    row.replace(row.find(R"json("complete")json"), 0, R"json("notes": "CUDA_LAUNCH_BLOCKING=1 was set", )json");
    EXPECT_TRUE(scenario_of(row).plan.launch_blocking);
}

TEST(MeasurementScenario, AnOptimizerThatTheRowNamesChoosesTheFramework) {
    const auto framework = [](std::string_view optimizer) {
        return scenario_of(
                   vision_row(
                       R"json("gpu": "V100 SXM2 16GB", "gpus": 1, "nodes": 1, "intra_node": {"kind": "nvlink"})json",
                       R"json("dp": 1, "global_batch": 32, "framework": "PyTorch, apex", "framework_family": "pytorch-ddp", "optimizer": ")json" +
                           std::string(optimizer) + "\""))
            .framework.name;
    };
    EXPECT_EQ(framework("apex FusedAdam"), "pytorch-ddp-apex");
    EXPECT_EQ(framework("BertAdam/Adam fp32"), "pytorch-ddp-bertadam");
}

TEST(MeasurementScenario, AFrameworkThatIsNotKnownIsTakenForTheNearestThatIs) {
    const auto framework = [](std::string row, const std::string& name) {
        const auto named = row.find(R"json("Megatron-LM (2022)")json");
        row.replace(named, 20, '"' + name + '"');
        row.replace(row.find(R"json("megatron-lm")json"), 13, R"json("another")json");
        const Scenario s = scenario_of(row);
        EXPECT_TRUE(assumes(s, "framework not known, another: "));
        return s.framework.name;
    };
    std::string replicas(megatron);
    replicas.replace(replicas.find(R"json("dp": 8, "tp": 8, "pp": 35, "vpp": 3)json"), 36,
                     R"json("dp": 2240, "tp": 1, "pp": 1, "vpp": 1)json");
    replicas.replace(replicas.find(R"json("sequence_parallel": true)json"), 25, R"json("sequence_parallel": false)json");
    std::string shards(replicas);
    shards.replace(shards.find(R"json("zero_stage": 0)json"), 15, R"json("zero_stage": 3)json");
    EXPECT_EQ(framework(std::string(megatron), "Nobody's"), "megatron-core");  // tensor and pipeline parallel
    EXPECT_EQ(framework(shards, "Nobody's"), "pytorch-fsdp");
    EXPECT_EQ(framework(replicas, "Nobody's"), "pytorch-ddp");
    EXPECT_EQ(framework(replicas, "Nobody's, on DeepSpeed"), "deepspeed");
    EXPECT_EQ(framework(shards, "torchtitan"), "pytorch-fsdp2");
}

// llm.q has shards of a single rank: what they are shards of lies in host memory, and comes block by block.
TEST(MeasurementScenario, WeightsWhoseMastersAreInHostMemoryAreThere) {
    const auto row = [](const std::string& plan) {
        return scenario_of(
            R"json({"id": "x", "kind": "training", "model": {"family": "Qwen2.5", "layers": 4, "hidden": 256, "heads": 4, "seq_len": 128, "vocab": 1000},
      "hardware": {"gpu": "RTX 4090", "gpus": 1}, "plan": {"dp": 1, "micro_batch": 1, "framework_family": "llm.q", )json" +
            plan + R"json(}, "measured": {}})json");
    };
    const Scenario streamed = row(R"("precision_kind": "bf16", "shard_weights": true, "offload": ["offload-opt-m", "offload-master"])");
    EXPECT_EQ(streamed.plan.data_parallel, DataParallel::zero3);
    EXPECT_EQ(streamed.plan.offload, Offload::optimizer_and_parameters);
    EXPECT_NE(streamed.framework.offloaded_gradients, OffloadedGradients::added_on_device);
    const Scenario all = row(R"("precision_kind": "bf16", "shard_weights": true, "offload": ["offload-master", "offload-gradients"])");
    EXPECT_EQ(all.framework.offloaded_gradients, OffloadedGradients::added_on_device);
    // Without shards the device keeps what it multiplies.
    const Scenario quants = row(R"("precision_kind": "fp8", "offload": ["offload-opt-m", "offload-master"])");
    EXPECT_EQ(quants.plan.offload, Offload::optimizer);
    EXPECT_EQ(quants.plan.precision.parameter, DataType::fp8);
    EXPECT_EQ(row(R"("precision_kind": "fp8", "offload": ["offload-opt-m"])").plan.precision.parameter, DataType::bf16);
}

TEST(MeasurementScenario, WhatARowSaysOfItsOwnRunGoesBeforeItsFramework) {
    const auto said = [](const std::string& plan) {
        const MeasurementFile file = read_one(R"({"id": "x", "kind": "training", "plan": {)" + plan + R"(}, "measured": {}})");
        Framework framework;
        framework.fused_gradient_accumulation = true;
        set_habits_of_one_run(std::get<TrainingRow>(file.rows.at(0)).plan, framework);
        return framework;
    };
    EXPECT_FALSE(said("").fused_cross_entropy);
    EXPECT_TRUE(said(R"("cross_entropy_fusion": true)").fused_cross_entropy);
    EXPECT_TRUE(said("").fused_gradient_accumulation);
    EXPECT_FALSE(said(R"("framework": "Megatron-Core CI, no gradient-accumulation fusion")").fused_gradient_accumulation);
}

TEST(MeasurementScenario, WhatARowDoesNotSayOfItsPlanIsAssumed) {
    const Scenario s = scenario_of(R"json({"id": "x", "kind": "training",
      "model": {"family": "OPT", "layers": 4, "hidden": 256, "heads": 4, "seq_len": 128, "vocab": 1000},
      "hardware": {"gpu": "A100 SXM4 80GB", "gpus": 8, "intra_node": {"kind": "nvswitch"}},
      "plan": {"tp": 2, "pp": 2, "micro_batch": 1, "global_batch": 8, "precision": "mixed bf16", "schedule": "ZB-V"}, "measured": {}})json");
    EXPECT_EQ(s.plan.dp, 2);  // 8 devices for models of 4
    EXPECT_TRUE(assumes(s, "2 copies of the model"));
    EXPECT_EQ(s.plan.precision.compute, DataType::bf16);
    EXPECT_EQ(s.plan.schedule, Schedule::zero_bubble_v);
    EXPECT_EQ(s.plan.vpp, 2);
    const auto& opt = std::get<TransformerSpec>(s.workload.spec);
    EXPECT_EQ(opt.mlp, MlpKind::relu);
    EXPECT_TRUE(opt.tied_embeddings);
}

TEST(MeasurementScenario, APlanIsCalledAsSourcesSpellIt) {
    const auto row = [](const std::string& plan) {
        return scenario_of(R"json({"id": "x", "kind": "training",
            "model": {"family": "OPT", "layers": 8, "hidden": 256, "heads": 4, "seq_len": 128, "vocab": 1000},
            "hardware": {"gpu": "A100 SXM4 80GB", "gpus": 4, "intra_node": {"kind": "nvswitch"}},
            "plan": {"dp": 1, "pp": 4, "micro_batch": 1, "global_batch": 8, "precision_kind": "bf16", )json" +
                           plan + R"json(}, "measured": {}})json");
    };
    const auto schedule = [&](const std::string& word) { return row("\"schedule\": \"" + word + '"').plan.schedule; };
    EXPECT_EQ(schedule("zero_bubble"), Schedule::zero_bubble);
    EXPECT_EQ(schedule("Zero-Bubble"), Schedule::zero_bubble);
    EXPECT_EQ(schedule("ZB-H1"), Schedule::zero_bubble);
    EXPECT_EQ(schedule("zero_bubble_v"), Schedule::zero_bubble_v);
    EXPECT_EQ(schedule("dual_pipe_v"), Schedule::dual_pipe_v);
    EXPECT_EQ(schedule("1F1B"), Schedule::one_f_one_b);
    const Scenario interleaved = row(R"("schedule": "interleaved 1F1B")");
    EXPECT_EQ(interleaved.plan.schedule, Schedule::interleaved);
    EXPECT_EQ(interleaved.plan.vpp, 2);
    EXPECT_TRUE(assumes(interleaved, "two chunks"));
    EXPECT_EQ(row(R"~("schedule": "1f1b (interleaving not stated)")~").plan.vpp, 1);
    EXPECT_TRUE(assumes(row(R"("schedule": "chimera")"), "\"chimera\" is not known here"));
    EXPECT_EQ(row(R"("recompute": "Full")").plan.recompute, Recompute::full);
    EXPECT_EQ(row(R"("optimizer": "LARS")").plan.optimizer, Optimizer::momentum);
    EXPECT_EQ(row(R"("optimizer": "Adam")").plan.optimizer, Optimizer::adam);
    EXPECT_EQ(row(R"("optimizer": "8-bit AdamW")").plan.optimizer, Optimizer::adamw_8bit);
    EXPECT_EQ(row(R"("optimizer": "bnb.optim.AdamW8bit")").plan.optimizer, Optimizer::adamw_8bit);
    EXPECT_EQ(row(R"("optimizer": "Lion")").plan.optimizer, Optimizer::lion);
    EXPECT_EQ(row(R"("optimizer": "Adafactor")").plan.optimizer, Optimizer::adafactor);
    EXPECT_EQ(row(R"("optimizer": "Muon, AdamW for embeddings")").plan.optimizer, Optimizer::muon);
}

TEST(MeasurementScenario, AnMlpOfNoFamilyHasTwoMatricesUnlessItIsGated) {
    const auto mlp = [](const std::string& more) {
        const Scenario s = scenario_of(
            R"json({"id": "x", "kind": "training", "model": {"layers": 4, "hidden": 256, "heads": 4, "seq_len": 128, "vocab": 1000)json" +
            more + R"json(}, "hardware": {"gpu": "A100 SXM4 80GB"}, "plan": {"precision_kind": "bf16"}, "measured": {}})json");
        return std::get<TransformerSpec>(s.workload.spec);
    };
    EXPECT_EQ(mlp("").mlp, MlpKind::gelu);
    EXPECT_EQ(mlp(R"(, "family": "Mystery")").norm, NormKind::layer);
    EXPECT_EQ(mlp(R"(, "mlp": "swiglu")").mlp, MlpKind::swiglu);
    EXPECT_EQ(mlp(R"(, "mlp": "swiglu")").norm, NormKind::rms);
    EXPECT_EQ(mlp(R"(, "mlp": "3mat")").mlp, MlpKind::swiglu);
    EXPECT_EQ(mlp(R"(, "family": "Mistral")").mlp, MlpKind::swiglu);
    EXPECT_EQ(mlp(R"(, "family": "Pythia")").position, PositionKind::rotary);
}

TEST(MeasurementScenario, EveryProblemOfARowIsNamedAtOnce) {
    const std::string row = R"json({"id": "x", "kind": "training", "model": {"family": "Nemotron", "name": "nemotron hybrid"},
      "hardware": {"gpu": "Abacus", "gpus": 8}, "plan": {"dp": 8, "precision_kind": "fp7"}, "measured": {}})json";
    EXPECT_THAT(refused_pointers([&] { return scenario_of(row); }),
                testing::ElementsAre("/rows/0/hardware/gpu", "/rows/0/model", "/rows/0/plan/precision_kind"));
}

TEST(MeasurementScenario, TheTextSearchIgnoresCase) {
    EXPECT_TRUE(mentions("NVIDIA MXNet 21.05", "mxnet"));
    EXPECT_TRUE(mentions("anything", ""));
    EXPECT_FALSE(mentions("", "mxnet"));
}

TEST(MeasurementScenario, APrecisionIsCalledAsSourcesSpellIt) {
    const auto precision = [](const std::string& kind) {
        std::string row(fsdp);
        const auto at = row.find(R"("precision_kind")");
        row.replace(at, row.find(',', at) - at, R"("precision_kind": ")" + kind + '"');
        return scenario_of(row).plan.precision.compute;
    };
    EXPECT_EQ(precision("bfloat16"), DataType::bf16);
    EXPECT_EQ(precision("FP16"), DataType::fp16);
    EXPECT_EQ(precision("bf16-mixed"), DataType::bf16);
    EXPECT_EQ(precision("AMP"), DataType::fp16);
    EXPECT_EQ(precision("16-mixed"), DataType::fp16);
    TrainingRow unknown = std::get<TrainingRow>(read_one(fsdp).rows.at(0));
    unknown.plan.precision_kind.clear();
    unknown.plan.precision = "int8";
    EXPECT_THROW(to_scenario(unknown, test_sources()), InputError);
}

TEST(MeasurementScenario, Fp16IsBf16OnADeviceThatMultipliesNoOther16Bits) {
    MeasurementSources sources = test_sources();
    sources.device = [found = sources.device](std::string_view name) {
        auto device = found(name);
        device->peaks.resize(2);
        device->peaks[0].rate.value = units::TFLOP / units::s;
        device->peaks[1].input = DataType::bf16;
        device->peaks[1].unit = ComputeUnit::tensor;
        device->peaks[1].rate.value = 100 * units::TFLOP / units::s;
        return device;
    };
    const MeasurementFile file = read_one(vision_row(R"("gpu": "Gaudi2", "gpus": 1)", R"("framework": "mxnet")"));
    TrainingRow row = std::get<TrainingRow>(file.rows.at(0));
    row.plan.precision_kind = "fp16";
    EXPECT_EQ(to_scenario(row, sources).plan.precision.compute, DataType::bf16);
    row.plan.precision_kind = "fp32";
    EXPECT_EQ(to_scenario(row, sources).plan.precision.compute, DataType::fp32);
}

// All bundled rows: each becomes a scenario or is refused with a reason, and the reasons are few.
TEST(MeasurementScenario, NearlyEveryCompleteBundledRowBecomesAScenario) {
    std::map<std::string, int> reasons;
    int complete = 0, converted = 0;
    const MeasurementSources sources = test_sources();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(SEXTANT_SOURCE_DIR "/measurements")) {
        if (entry.path().extension() != ".json") continue;
        Diagnostics diagnostics;
        const MeasurementFile file = load_measurements(entry.path(), diagnostics);
        EXPECT_TRUE(diagnostics.empty()) << to_text(diagnostics.list().front());
        EXPECT_FALSE(file.rows.empty());
        for (const MeasurementRow& row : file.rows) {
            if (!header_of(row).counted() || std::holds_alternative<LoadingRow>(row)) continue;
            ++complete;
            ASSERT_FALSE(std::holds_alternative<UnreadRow>(row)) << header_of(row).id;
            try {
                if (const auto* training = std::get_if<TrainingRow>(&row))
                    to_scenario(*training, sources);
                else
                    to_scenario(std::get<CollectiveRow>(row), sources);
                ++converted;
            } catch (const InputError& e) {
                ASSERT_FALSE(e.diagnostics().empty());
                EXPECT_FALSE(e.diagnostics().front().what.empty());
                ++reasons[e.diagnostics().front().what];
            }
        }
    }
    std::cout << converted << " of " << complete << " complete rows become scenarios\n";
    for (const auto& [why, rows] : reasons) std::cout << rows << "  " << why << '\n';
    EXPECT_GT(complete, 3000);
    EXPECT_GE(converted, 0.99 * complete);
}

}  // namespace
}  // namespace sextant
