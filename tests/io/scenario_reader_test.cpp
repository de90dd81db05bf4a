#include "model/io/scenario/scenario_reader.hpp"

#include "tests/golden/bundled_scenarios.hpp"
#include "tests/io/scenario_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::fixtures {
namespace {

using namespace units;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Scenario read_good(const std::vector<std::string>& assignments = {}) {
    ReadScenario read = read_text(good_scenario, assignments);
    EXPECT_EQ(all_of(read.problems), "");
    return std::move(read.scenario);
}

TEST(ScenarioReader, DataParallelismFillsTheNodesThatTheModelLeaves) {
    // 2 nodes x 8 devices = 16; tp 2 x pp 2 = 4 for one copy of the model; 16 / 4 = 4 copies.
    const Scenario scenario = read_good();
    EXPECT_EQ(scenario.plan.dp, 4);
    EXPECT_EQ(scenario.plan.devices(), 16);
    EXPECT_EQ(scenario.plan.micro_batches(), 8);  // 32 / (1 x 4)
}

TEST(ScenarioReader, WhatIsGivenByItsNameKeepsItWhenOneOfItsFieldsIsSet) {
    const std::int64_t usual = std::get<TransformerSpec>(read_good().workload.spec).seq_len;
    const Scenario scenario = read_good({"workload.seq_len=512"});
    EXPECT_EQ(std::get<TransformerSpec>(scenario.workload.spec).seq_len, 512);
    EXPECT_NE(usual, 512);
    EXPECT_EQ(scenario.workload.name, read_good().workload.name);
}

TEST(ScenarioReader, AMachineOfOneNodeIsFilledWithoutSayingSo) {
    EXPECT_EQ(read_good({"hardware={\"cluster\": \"single\"}"}).plan.dp, 1);  // 4 / (2 x 2)
}

TEST(ScenarioReader, OnlySomeDevicesOfEachNodeMayBeUsed) {
    const Scenario scenario = read_good({"hardware.devices_per_node=4"});
    EXPECT_EQ(scenario.plan.devices_per_node, 4);
    EXPECT_EQ(scenario.plan.dp, 2);  // 2 x 4 / 4
}

TEST(ScenarioReader, DevicesOfEachNodeMayBeAsASchedulerGaveThem) {
    // 3 + 5 = 8 devices, 2 copies of tp 2 x pp 2; nodes that are full but for the last are said by one number.
    for (const char* list : {"[3, 5]", "3,5"}) {
        const Scenario uneven = read_good({"hardware.devices_per_node=" + std::string(list), "hardware.nodes=null"});
        EXPECT_THAT(uneven.plan.node_ranks, ElementsAre(3, 5));
        EXPECT_EQ(uneven.plan.dp, 2);
    }
    const Scenario full = read_good({"hardware.devices_per_node=8(x2)", "hardware.nodes=null"});
    EXPECT_THAT(full.plan.node_ranks, IsEmpty());
    EXPECT_EQ(full.plan.devices_per_node, 8);
    EXPECT_EQ(full.plan.dp, 4);
    const ReadScenario wrong = read_text(good_scenario, {"hardware.devices_per_node=8(x2"});
    EXPECT_THAT(all_of(wrong.problems), HasSubstr("SLURM_TASKS_PER_NODE"));
    EXPECT_THAT(all_of(read_text(good_scenario, {"hardware.devices_per_node=[]"}).problems), HasSubstr("a list of no node"));
    const ReadScenario nodes = read_text(good_scenario, {"hardware.devices_per_node=[3, 4, 1]"});
    EXPECT_THAT(all_of(nodes.problems), HasSubstr("devices_per_node lists 3"));
}

TEST(ScenarioReader, NodesMayBeThoseOfAList) {
    const Scenario s = read_good({"hardware.nodes=null", "hardware.node_list=gcn[0-1]"});
    EXPECT_THAT(s.cluster.node_numbers, ElementsAre(0, 1));
    EXPECT_EQ(s.plan.dp, 4);  // 2 x 8 / 4
    const ReadScenario wrong = read_text(good_scenario, {"hardware.node_list=gcn[1-0]"});
    EXPECT_THAT(all_of(wrong.problems), HasSubstr("SLURM_JOB_NODELIST"));
}

TEST(ScenarioReader, APartOfADeviceHasThatPartOfItsRatesAndMemory) {
    const Device whole = read_good().cluster.node.device;
    const Device half = read_good({"hardware.device.share=0.5"}).cluster.node.device;
    EXPECT_DOUBLE_EQ(half.peaks[0].rate.value / whole.peaks[0].rate.value, 0.5);
    EXPECT_DOUBLE_EQ(half.memory.value / whole.memory.value, 0.5);
    // 3g.20gb: 3 of 8 clusters of multiprocessors, and half of 40 GB.
    const std::vector<std::string> forty{R"(hardware.device={"memory": "40 GB", "mig": "3g.20gb"})"};
    const Device slice = read_good(forty).cluster.node.device;
    EXPECT_DOUBLE_EQ(slice.peaks[0].rate.value / whole.peaks[0].rate.value, 3.0 / 8);
    EXPECT_DOUBLE_EQ(slice.memory.value / GB, 20);
    const ReadScenario wrong = read_text(good_scenario, {"hardware.device.mig=9g.20gb"});
    EXPECT_THAT(all_of(wrong.problems), HasSubstr("is no slice of this device"));
}

TEST(ScenarioReader, RanksMayShareTheCoresOfACpuAndNothingElse) {
    const ReadScenario gpus = read_text(good_scenario, {"hardware.ranks_per_device=2"});
    EXPECT_THAT(all_of(gpus.problems), HasSubstr("/hardware/ranks_per_device"));
    EXPECT_THAT(all_of(gpus.problems), HasSubstr("only the cores of a CPU are shared"));
    EXPECT_EQ(read_good({"hardware.ranks_per_device=1"}).cluster.node.ranks_per_device, 1);
}

TEST(ScenarioReader, AnyTwoNumbersOfTheBatchGiveTheThird) {
    // dp is 4: 2 x 4 x 6 = 48.
    const std::string cases[] = {R"({"tp": 2, "pp": 2, "micro_batch": 2, "grad_accum": 6})",
                                 R"({"tp": 2, "pp": 2, "micro_batch": 2, "global_batch": 48})",
                                 R"({"tp": 2, "pp": 2, "global_batch": 48, "grad_accum": 6})",
                                 R"({"tp": 2, "pp": 2, "micro_batch": 2, "global_batch": 48, "grad_accum": 6})"};
    for (const std::string& plan : cases) {
        const Scenario scenario = read_good({"plan=" + plan});
        EXPECT_EQ(scenario.plan.micro_batch, 2) << plan;
        EXPECT_EQ(scenario.plan.global_batch, 48) << plan;
        EXPECT_EQ(scenario.plan.micro_batches(), 6) << plan;
    }
}

TEST(ScenarioReader, OneNumberOfTheBatchIsEnoughWithoutAPipeline) {
    const Scenario by_micro = read_good({R"(plan={"micro_batch": 3})"});
    EXPECT_EQ(by_micro.plan.global_batch, 48);  // 3 x 16
    const Scenario by_global = read_good({R"(plan={"global_batch": 64})"});
    EXPECT_EQ(by_global.plan.micro_batch, 4);  // 64 / 16
}

TEST(ScenarioReader, AModelIsNamedAndAFieldOfItOverridden) {
    const Scenario scenario = read_good({R"(workload={"model": "gpt", "seq_len": 4096, "heads": 16})"});
    const auto& spec = std::get<TransformerSpec>(scenario.workload.spec);
    EXPECT_EQ(scenario.workload.name, "gpt");
    EXPECT_EQ(spec.seq_len, 4096);
    EXPECT_EQ(spec.kv_heads, 16);  // the model has as many as heads, and keeps it so
    EXPECT_EQ(spec.layers, 12);
}

TEST(ScenarioReader, ATransformerOfOnesOwnHasTheCustomaryWidths) {
    const Scenario scenario =
        read_good({R"(workload={"transformer": {"layers": 24, "hidden": 1024, "heads": 16, "vocab": 32000, "seq_len": 2048,
        "moe": {"experts": 16, "topk": 2, "ffn_hidden": 2816}}})"});
    const auto& spec = std::get<TransformerSpec>(scenario.workload.spec);
    EXPECT_EQ(spec.kv_heads, 16);
    EXPECT_EQ(spec.ffn_hidden, 4096);
    EXPECT_EQ(spec.moe->experts, 16);
}

TEST(ScenarioReader, AChainOfLayersIsReadInOrder) {
    const Scenario scenario = read_good({R"(workload={"chain": {"input_shape": [3, 32, 32], "classes": 10, "layers": [
        {"conv": {"width": 16, "kernel": 3}}, {"norm": "batch"}, {"activation": "relu"}, "residual_begin", {"conv": {"width": 16, "kernel": 3}},
        "residual_end", {"pool": {"kind": "max", "kernel": 2}}, {"pool": "global_average"}, "dropout", {"dense": {"width": 10}}]}})",
                                         R"(plan={"micro_batch": 8})"});
    using Kind = ChainLayer::Kind;
    const auto& spec = std::get<ChainSpec>(scenario.workload.spec);
    std::vector<Kind> kinds;
    for (const ChainLayer& layer : spec.layers) kinds.push_back(layer.kind);
    EXPECT_EQ(kinds, (std::vector{Kind::conv, Kind::norm, Kind::activation, Kind::residual_begin, Kind::conv, Kind::residual_end,
                                  Kind::pool, Kind::pool, Kind::dropout, Kind::dense}));
    EXPECT_EQ(spec.layers[6].stride, 2);  // as the window
    EXPECT_EQ(spec.layers[7].pooling, PoolingKind::global_average);
    EXPECT_EQ(spec.input_shape, (std::vector<std::int64_t>{3, 32, 32}));
}

TEST(ScenarioReader, WhatIfNumbersReplaceThoseOfTheProfileAndNameTheScenarioAsSource) {
    const Scenario scenario =
        read_good({R"(hardware.device={"memory": "40 GiB", "peak_scale": 2})", "hardware.network_bandwidth=100 Gbit/s"});
    const NodeSpec& node = scenario.cluster.node;
    EXPECT_EQ(node.device.name, "chip");
    EXPECT_DOUBLE_EQ(*node.device.memory / GiB, 40);
    EXPECT_EQ(node.device.memory.source, "the scenario");
    EXPECT_DOUBLE_EQ(*node.device.peaks.front().rate / (TFLOP / s), 200);
    EXPECT_DOUBLE_EQ(*node.nic_link.bandwidth / (GB / s), 12.5);  // 100 / 8
    EXPECT_DOUBLE_EQ(*read_good({"hardware.host_memory=96 GiB"}).cluster.node.host.memory / GiB, 96);
}

TEST(ScenarioReader, AClusterMayBeAnotherOneWithChanges) {
    const auto cluster = [](const std::vector<std::string>& set) { return bundled_scenario("gpt3-175b-1024xa100", set).cluster; };
    const Cluster selene = cluster({});
    const Cluster changed = cluster({"hardware.cluster.fabric.oversubscription=2", "hardware.cluster.node.host.memory=1024 GiB",
                                     "hardware.cluster.node.nic_link.bandwidth=50 GB/s"});
    ASSERT_DOUBLE_EQ(selene.fabric.oversubscription, 1);
    EXPECT_DOUBLE_EQ(changed.fabric.oversubscription, 2);
    EXPECT_EQ(changed.fabric.nodes_per_leaf, selene.fabric.nodes_per_leaf);
    EXPECT_DOUBLE_EQ(*changed.node.host.memory / GiB, 1024);
    EXPECT_NE(changed.node.host.memory.source, selene.node.host.memory.source);  // it says nothing of this number
    EXPECT_DOUBLE_EQ(*changed.node.nic_link.bandwidth / (GB / s), 50);
    EXPECT_EQ(changed.node.nic_link.name, selene.node.nic_link.name);
    EXPECT_EQ(changed.node.device.gemm_curves.size(), selene.node.device.gemm_curves.size());  // which the file beside it holds
    EXPECT_FALSE(selene.node.device.gemm_curves.empty());
    // A device is another one, not the same with another name.
    EXPECT_EQ(cluster({"hardware.cluster.node.device=h100"}).node.device.name, "H100 SXM5 80GB");
}

TEST(ScenarioReader, AnotherClockChangesThePeaksInProportion) {
    const auto device = [](const std::vector<std::string>& set) {
        return bundled_scenario("precision-fp16-a100", set).cluster.node.device;
    };
    const auto peak = [&](const std::vector<std::string>& set) { return *device(set).peaks.front().rate; };
    ASSERT_DOUBLE_EQ(*device({}).clock / MHz, 1410);
    EXPECT_DOUBLE_EQ(peak({"hardware.device.clock=705 MHz"}) / peak({}), 0.5);
    EXPECT_DOUBLE_EQ(peak({"hardware.device.clock=705 MHz", "hardware.device.peak_scale=2"}) / peak({}), 1);
}

TEST(ScenarioReader, AnotherScaleOfThePeaksIsWhatAReportCallsTwiceTheComputeRate) {
    // Of attention on later devices the clock is the bound, of products the curve that was measured.
    for (const char* name : {"llama-3-8b-fsdp-64xh100", "default"}) {
        const Seconds as_what_if = estimate(prepare(bundled_scenario(name)), {.compute = 2}).step;
        EXPECT_NEAR(estimate(prepare(bundled_scenario(name, {"hardware.device.peak_scale=2"}))).step / as_what_if, 1, 1e-9) << name;
    }
}

TEST(ScenarioReader, TheBandwidthOfTheNetworkIsThatOfTheLinkInUse) {
    const NodeSpec node = bundled_scenario("ethernet-while-infiniband-idle", {"hardware.network_bandwidth=3 GB/s"}).cluster.node;
    const NodeSpec as_it_is = bundled_scenario("ethernet-while-infiniband-idle").cluster.node;
    EXPECT_DOUBLE_EQ(node.ethernet->bandwidth.value / (GB / s), 3);
    EXPECT_EQ(node.nic_link.bandwidth.value, as_it_is.nic_link.bandwidth.value);
}

TEST(ScenarioReader, TheLibraryIsTheFrameworksUnlessTheScenarioNamesOne) {
    EXPECT_EQ(read_good().library.name, "fast");
    EXPECT_EQ(read_good({"library=sockets"}).library.name, "sockets");
}

TEST(ScenarioReader, ActivationsInHostMemoryAreAllResidualsOrThoseOfSomeLayers) {
    EXPECT_EQ(read_good({"plan.offload_activations=false"}).plan.offload_activations, OffloadActivations::none);
    EXPECT_EQ(read_good({"plan.offload_activations=residuals"}).plan.offload_activations, OffloadActivations::residuals);
    const Plan some = read_good({R"(plan.offload_activations={"layers": 3})"}).plan;
    EXPECT_EQ(some.offload_activations, OffloadActivations::layers);
    EXPECT_EQ(some.offloaded_layers, 3);
}

TEST(ScenarioReader, AScheduleThatTurnsBackHasTwoChunksWithoutSayingSo) {
    EXPECT_EQ(read_good({"plan.pp=2", "plan.schedule=dual_pipe_v"}).plan.vpp, 2);
}

TEST(ScenarioReader, EveryOptimizerHasItsName) {
    for (const Optimizer o : all_optimizers)
        EXPECT_EQ(read_good({"plan.optimizer=" + std::string(facts_of(o).name)}).plan.optimizer, o) << facts_of(o).name;
    EXPECT_TRUE(read_good({"plan.optimizer=none"}).plan.without_optimizer);
}

TEST(ScenarioReader, EverySettingOfThePlanArrives) {
    const Scenario scenario =
        read_good({R"(plan={"dp": 8, "tp": 2, "micro_batch": 1, "grad_accum": 4, "data_parallel": "fsdp", "shard_group": 4,
        "sequence_parallel": true, "recompute": {"blocks": 3}, "precision": {"base": "fp16", "reduction": "fp32", "master_weights": false},
        "optimizer": "none", "flash_attention": false, "cuda_graph": true, "offload": "optimizer", "offload_activations": true,
        "frozen_batch_norm": true, "pruned_fraction": 0.5, "gradient_overlap": false, "placement": ["data", "tensor"], "scattered": true})"});
    const Plan& plan = scenario.plan;
    EXPECT_EQ(plan.data_parallel, DataParallel::zero3);
    EXPECT_EQ(plan.shard_ranks(), 4);
    EXPECT_TRUE(plan.sequence_parallel);
    EXPECT_EQ(plan.recompute, Recompute::blocks);
    EXPECT_EQ(plan.recompute_blocks, 3);
    EXPECT_EQ(plan.precision.compute, DataType::fp16);
    EXPECT_EQ(plan.precision.reduction, DataType::fp32);
    EXPECT_FALSE(plan.precision.master_weights);
    EXPECT_TRUE(plan.without_optimizer);
    EXPECT_FALSE(plan.flash_attention);
    EXPECT_TRUE(plan.cuda_graph);
    EXPECT_TRUE(plan.frozen_batch_norm);
    EXPECT_EQ(plan.offload, Offload::optimizer);
    EXPECT_EQ(plan.offload_activations, OffloadActivations::all);
    EXPECT_EQ(plan.pruned_fraction, 0.5);
    EXPECT_EQ(plan.gradient_overlap, false);
    EXPECT_EQ(plan.gather_overlap, std::nullopt);
    EXPECT_EQ(plan.placement, (std::vector{PlanDimension::data, PlanDimension::tensor}));
    EXPECT_TRUE(plan.scattered);
}

TEST(ScenarioReader, RunDataAndUnevenHardwareArrive) {
    const Scenario scenario = read_good({R"(run={"epochs": 90, "dataset_samples": 1281167, "price": "3.6 USD/h", "base_batch": 256,
                                             "base_learning_rate": 0.1})",
                                         R"(data={"storage": {}, "sample_size": "110 KB"})", "hardware.reserved_devices=32",
                                         R"(hardware.straggler={"devices": 1, "speed": 0.8})", "hardware.step_noise=0.02"});
    EXPECT_EQ(scenario.run.epochs, 90);
    EXPECT_EQ(scenario.run.dataset_samples, 1281167);
    EXPECT_DOUBLE_EQ(*scenario.run.device_price / (USD / s), 0.001);  // 3.6 / 3600
    EXPECT_FALSE(scenario.data.synthetic);
    EXPECT_TRUE(scenario.data.storage);
    EXPECT_DOUBLE_EQ(scenario.data.sample_bytes / KB, 110);
    EXPECT_EQ(scenario.reserved_devices, 32);
    EXPECT_EQ(scenario.straggler->speed, 0.8);
    EXPECT_EQ(scenario.step_noise, 0.02);
}

}  // namespace
}  // namespace sextant::fixtures
