#include "model/plan/scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace sextant {
namespace {

using ::testing::HasSubstr;

// Four nodes of eight devices, a transformer of 12 layers, 16 devices in use: possible as it stands.
Scenario possible() {
    Scenario s;
    s.workload = {"gpt", "GPT", TransformerSpec{}, ""};
    s.cluster.name = "box";
    s.cluster.nodes = 4;
    s.cluster.node.devices = 8;
    s.cluster.node.nics = 8;
    s.plan.dp = 4;
    s.plan.tp = 2;
    s.plan.pp = 2;
    s.plan.global_batch = 32;
    return s;
}

TEST(CheckPlan, APlanThatDividesHasNoProblem) { EXPECT_THAT(check_plan(possible()), ::testing::IsEmpty()); }

struct Impossible {
    std::string what;
    std::function<void(Scenario&)> change;
    std::string pointer, fragment;
};
void PrintTo(const Impossible& i, std::ostream* out) { *out << i.what; }

class ImpossiblePlan : public ::testing::TestWithParam<Impossible> {};

TEST_P(ImpossiblePlan, HasOneProblemWithItsPlaceAndReason) {
    Scenario s = possible();
    GetParam().change(s);
    const std::vector<Diagnostic> problems = check_plan(s);
    std::string all;
    for (const Diagnostic& d : problems) all += to_text(d) + "\n";
    ASSERT_EQ(problems.size(), 1u) << all;
    EXPECT_EQ(problems[0].pointer, GetParam().pointer);
    EXPECT_THAT(to_text(problems[0]), HasSubstr(GetParam().fragment));
}

void give_experts(Scenario& s) {
    std::get<TransformerSpec>(s.workload.spec).moe = MixtureOfExperts{.experts = 6, .topk = 2, .ffn_hidden = 64};
}
// `dp` copies of the whole model, one sample each.
void data_parallel(Scenario& s, int dp) {
    s.plan = Plan{};
    s.plan.dp = dp;
    s.plan.global_batch = dp;
}
void train_resnet(Scenario& s) {
    s.workload = {"resnet50", "ResNet-50", ConvolutionalSpec{}, ""};
    data_parallel(s, 16);
}

INSTANTIATE_TEST_SUITE_P(Machine, ImpossiblePlan,
                         ::testing::Values(Impossible{"more devices than there are", [](Scenario& s) { s.plan.pp = 6; }, "/plan",
                                                      "needs more devices than the 32 there are"},
                                           Impossible{"more copies than there is room for", [](Scenario& s) { data_parallel(s, 64); },
                                                      "/plan", "without dp (\"dp\": null) the plan fills them"},
                                           Impossible{"overflowing degrees",
                                                      [](Scenario& s) {
                                                          data_parallel(s, 1'000'000);
                                                          s.plan.tp = s.plan.cp = 1'000'000;
                                                      },
                                                      "/plan", "box has 4 nodes of 8 devices"},
                                           Impossible{"more of each node than it has", [](Scenario& s) { s.plan.devices_per_node = 9; },
                                                      "/hardware/devices_per_node", "no node has 9 devices"},
                                           Impossible{"nodes without a network", [](Scenario& s) { s.cluster.node.nics = 0; }, "/plan",
                                                      "they have no network"},
                                           Impossible{"servers on hosts that nothing connects",
                                                      [](Scenario& s) {
                                                          s.plan.dp = 8;
                                                          s.plan.tp = s.plan.pp = 1;
                                                          s.cluster.node.nics = 0;
                                                          s.plan.data_parallel = DataParallel::parameter_server;
                                                      },
                                                      "/plan/servers_on_workers", "need a network"},
                                           Impossible{"servers beside full nodes",
                                                      [](Scenario& s) {
                                                          data_parallel(s, 32);
                                                          s.plan.data_parallel = DataParallel::parameter_server;
                                                      },
                                                      "/plan/parameter_servers", "servers_on_workers"},
                                           Impossible{"fewer reserved than used", [](Scenario& s) { s.reserved_devices = 8; },
                                                      "/hardware/reserved_devices", "fewer than the 16"},
                                           Impossible{"more reserved than there are", [](Scenario& s) { s.reserved_devices = 33; },
                                                      "/hardware/reserved_devices", "more than there are"},
                                           Impossible{"more stragglers than devices",
                                                      [](Scenario& s) {
                                                          s.straggler = Straggler{17, 0.5};
                                                      },
                                                      "/hardware/straggler/devices", "more than the 16"}));

INSTANTIATE_TEST_SUITE_P(Allocation, ImpossiblePlan,
                         ::testing::Values(Impossible{"ranks on nodes that are not the plan's",
                                                      [](Scenario& s) {
                                                          s.plan.node_ranks = {8, 7};
                                                      },
                                                      "/hardware/devices_per_node", "15 devices on these nodes, and the plan has 16"},
                                           Impossible{"more ranks than a node has devices",
                                                      [](Scenario& s) {
                                                          s.plan.node_ranks = {9, 7};
                                                      },
                                                      "/hardware/devices_per_node", "no node has 9 devices"},
                                           Impossible{"other nodes than the plan fills",
                                                      [](Scenario& s) {
                                                          s.cluster.node_numbers = {0, 1, 2};
                                                      },
                                                      "/hardware/node_list", "3 nodes, and the plan has ranks on 2"},
                                           // Copies of tp 2 on three slow devices.
                                           Impossible{"half a copy of the model on slow devices",
                                                      [](Scenario& s) {
                                                          data_parallel(s, 8);
                                                          s.plan.tp = 2;
                                                          s.straggler = Straggler{.devices = 3, .speed = 0.5, .has_smaller_batches = true};
                                                      },
                                                      "/hardware/straggler/batches", "slow devices and others"}));

INSTANTIATE_TEST_SUITE_P(
    Schedule, ImpossiblePlan,
    ::testing::Values(
        // 3 samples x 4 copies = 12; 24 and 36 are the multiples around 32.
        Impossible{"batch that does not divide", [](Scenario& s) { s.plan.micro_batch = 3; }, "/plan/global_batch", "24 and 36"},
        Impossible{"batch beyond counting", [](Scenario& s) { s.plan.micro_batch = std::int64_t{1} << 62; }, "/plan/micro_batch",
                   "must be at most"},
        Impossible{"job beyond any machine",
                   [](Scenario& s) {
                       s.cluster.nodes = 1'000'000;
                       data_parallel(s, 1'000'000);
                       s.plan.tp = 2;
                   },
                   "/plan", "2000000 devices"},
        Impossible{"zero degree", [](Scenario& s) { s.plan.tp = 0; }, "/plan/tp", "must be at least 1"},
        Impossible{"interleaving without chunks", [](Scenario& s) { s.plan.schedule = Schedule::interleaved; }, "/plan/vpp",
                   "at least two chunks"},
        Impossible{"chunks without interleaving", [](Scenario& s) { s.plan.vpp = 2; }, "/plan/vpp", "only the interleaved schedule"},
        Impossible{"turning back with one chunk", [](Scenario& s) { s.plan.schedule = Schedule::zero_bubble_v; }, "/plan/vpp",
                   "has two chunks"},
        Impossible{"turning back without a pipeline",
                   [](Scenario& s) {
                       data_parallel(s, 16);
                       s.plan.vpp = 2;
                       s.plan.schedule = Schedule::dual_pipe_v;
                   },
                   "/plan/pp", "needs a pipeline"},
        Impossible{"interleaving without a pipeline",
                   [](Scenario& s) {
                       data_parallel(s, 16);
                       s.plan.vpp = 2;
                       s.plan.schedule = Schedule::interleaved;
                   },
                   "/plan/pp", "needs a pipeline"},
        // 28 / 4 copies = 7 micro-batches for 2 stages
        Impossible{"interleaving an odd number",
                   [](Scenario& s) {
                       s.plan.schedule = Schedule::interleaved;
                       s.plan.vpp = 2;
                       s.plan.global_batch = 28;
                   },
                   "/plan/schedule", "2 does not divide 7"},
        Impossible{"sequential in parts", [](Scenario& s) { s.plan.schedule = Schedule::sequential; }, "/plan/schedule",
                   "one micro-batch, not 8"},
        Impossible{"more stages than blocks",
                   [](Scenario& s) {
                       data_parallel(s, 1);
                       s.plan.pp = 15;
                   },
                   "/plan/pp", "the network has 14 blocks"},
        Impossible{"stages that hold too little",
                   [](Scenario& s) {
                       s.plan.stage_blocks = {7, 6};
                   },
                   "/plan/stage_blocks", "hold 13 blocks, the network has 14"},
        Impossible{"stages unlike pp", [](Scenario& s) { s.plan.stage_blocks = {14}; }, "/plan/stage_blocks", "each of the 2 stages"}));

INSTANTIATE_TEST_SUITE_P(
    Dimensions, ImpossiblePlan,
    ::testing::Values(Impossible{"sequence parallel alone",
                                 [](Scenario& s) {
                                     data_parallel(s, 16);
                                     s.plan.sequence_parallel = true;
                                 },
                                 "/plan/sequence_parallel", "tp is 1"},
                      Impossible{"context of images",
                                 [](Scenario& s) {
                                     train_resnet(s);
                                     s.plan.dp = 8;
                                     s.plan.cp = 2;
                                 },
                                 "/plan/cp", "resnet50 is no transformer"},
                      Impossible{"sequence of images",
                                 [](Scenario& s) {
                                     train_resnet(s);
                                     s.plan.dp = 8;
                                     s.plan.tp = 2;
                                     s.plan.sequence_parallel = true;
                                 },
                                 "/plan/sequence_parallel", "needs a sequence"},
                      Impossible{"experts of a dense model", [](Scenario& s) { s.plan.ep = 2; }, "/plan/ep", "gpt has none"},
                      Impossible{"experts that do not divide",
                                 [](Scenario& s) {
                                     give_experts(s);
                                     s.plan.ep = 4;
                                 },
                                 "/plan/ep", "4 does not divide 6"},
                      Impossible{"experts over too few ranks",
                                 [](Scenario& s) {
                                     give_experts(s);
                                     s.plan.ep = 6;
                                 },
                                 "/plan/ep", "12 does not divide 8"},
                      Impossible{"experts cut too often",
                                 [](Scenario& s) {
                                     give_experts(s);
                                     s.plan.ep = 2;
                                     s.plan.expert_tp = 8;
                                 },
                                 "/plan/expert_tp", "8 does not divide 2"},
                      Impossible{"shards of nothing", [](Scenario& s) { s.plan.shard_group = 2; }, "/plan/shard_group",
                                 "nothing is sharded"},
                      Impossible{"uneven shards",
                                 [](Scenario& s) {
                                     s.plan.data_parallel = DataParallel::zero3;
                                     s.plan.shard_group = 3;
                                 },
                                 "/plan/shard_group", "3 does not divide 4"},
                      Impossible{"whole parameters in host memory", [](Scenario& s) { s.plan.offload = Offload::optimizer_and_parameters; },
                                 "/plan/offload", "this plan shards none"},
                      Impossible{"server of a cut model", [](Scenario& s) { s.plan.data_parallel = DataParallel::parameter_server; },
                                 "/plan/data_parallel", "hold the whole model"},
                      Impossible{"dimension without a place",
                                 [](Scenario& s) {
                                     s.plan.placement = {PlanDimension::tensor, PlanDimension::data};
                                 },
                                 "/plan/placement", "\"pipeline\" is missing"},
                      Impossible{"dimension placed twice", [](Scenario& s) { s.plan.placement.push_back(PlanDimension::data); },
                                 "/plan/placement", "listed twice"},
                      Impossible{"training integers", [](Scenario& s) { s.plan.precision = precision_policy(DataType::int8); },
                                 "/plan/precision", "integers do not train"},
                      Impossible{"recomputing more than there is",
                                 [](Scenario& s) {
                                     s.plan.recompute = Recompute::blocks;
                                     s.plan.recompute_blocks = 13;
                                 },
                                 "/plan/recompute/blocks", "12 layers"},
                      Impossible{"factors of small kernels",
                                 [](Scenario& s) {
                                     train_resnet(s);
                                     s.plan.optimizer = Optimizer::adafactor;
                                 },
                                 "/plan/optimizer", "saves nothing on convolutions"},
                      Impossible{"orthogonal kernels",
                                 [](Scenario& s) {
                                     train_resnet(s);
                                     s.plan.optimizer = Optimizer::muon;
                                 },
                                 "/plan/optimizer", "not on the kernels of convolutions"},
                      Impossible{"products of shards",
                                 [](Scenario& s) {
                                     s.plan.optimizer = Optimizer::muon;
                                     s.plan.data_parallel = DataParallel::zero2;
                                 },
                                 "/plan/optimizer", "whole matrices"},
                      Impossible{"products on the host",
                                 [](Scenario& s) {
                                     s.plan.optimizer = Optimizer::muon;
                                     s.plan.offload = Offload::optimizer;
                                 },
                                 "/plan/offload", "for devices"},
                      Impossible{"zero bubble without backward",
                                 [](Scenario& s) {
                                     s.plan.forward_only = true;
                                     s.plan.schedule = Schedule::zero_bubble;
                                 },
                                 "/plan/schedule", "there is none"}));

TEST(CheckPlan, MixedPrecisionKeepsSixteenBitsAndAMasterCopy) {
    const Precision p = precision_policy(DataType::bf16);
    EXPECT_EQ(p.compute, DataType::bf16);
    EXPECT_EQ(p.parameter, DataType::bf16);
    EXPECT_EQ(p.optimizer_state, DataType::fp32);
    EXPECT_TRUE(p.master_weights);
}

TEST(CheckPlan, FullPrecisionUsesTf32OnlyWhereAsked) {
    EXPECT_FALSE(precision_policy(DataType::fp32).tf32);
    const Precision p = precision_policy(DataType::tf32);
    EXPECT_TRUE(p.tf32);
    EXPECT_EQ(p.compute, DataType::fp32);  // stored as fp32, multiplied as TF32 where the device can
    EXPECT_FALSE(p.master_weights);
}

TEST(CheckPlan, EightBitsMultiplyWhatIsKeptInSixteen) {
    const Precision p = precision_policy(DataType::fp8);
    EXPECT_EQ(p.compute, DataType::fp8);
    EXPECT_EQ(p.activation, DataType::bf16);
    EXPECT_EQ(p.parameter, DataType::bf16);
}

TEST(CheckPlan, AnOptimizerReadsAndWritesEachOfItsTensors) {
    EXPECT_EQ(facts_of(Optimizer::sgd).reads_per_parameter, 2 + 1);       // p, g; p
    EXPECT_EQ(facts_of(Optimizer::momentum).reads_per_parameter, 3 + 2);  // p, g, m; p, m
    EXPECT_EQ(facts_of(Optimizer::adamw).reads_per_parameter, 4 + 3);     // p, g, m, v; p, m, v
    EXPECT_EQ(facts_of(Optimizer::lamb).reads_per_parameter, 4 + 3 + 2 + 2 + 1);
    EXPECT_EQ(facts_of(Optimizer::lion).reads_per_parameter, 3 + 2);  // p, g, m; p, m
    // Adafactor: norm of p, decay; rows, columns; their product, scaled, bounded, its root, times g; the norm of that, the step.
    EXPECT_EQ(facts_of(Optimizer::adafactor).reads_per_parameter, 1 + 2 + 1 + 1 + 1 + 2 + 2 + 2 + 3 + 1 + 3);
}

TEST(CheckPlan, AnOptimizerKeepsItsStates) {
    const auto bytes = [](Optimizer o, DataType type) { return size_of_states(o, type) / units::B; };
    EXPECT_EQ(bytes(Optimizer::sgd, DataType::fp32), 0);
    EXPECT_EQ(bytes(Optimizer::lion, DataType::fp32), 4);
    EXPECT_EQ(bytes(Optimizer::adam, DataType::fp32), 8);
    EXPECT_EQ(bytes(Optimizer::adam, DataType::bf16), 4);
    EXPECT_EQ(bytes(Optimizer::adamw_8bit, DataType::fp32), 2 + 2 * 4 / 256.0);  // of 256 elements two scales of four bytes
}

}  // namespace
}  // namespace sextant
