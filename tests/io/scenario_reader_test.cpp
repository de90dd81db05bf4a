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

TEST(ScenarioReader, data_parallelism_fills_the_nodes_that_the_model_leaves) {
    // 2 nodes x 8 devices = 16; tp 2 x pp 2 = 4 for one copy of the model; 16 / 4 = 4 copies.
    const Scenario scenario = read_good();
    EXPECT_EQ(scenario.plan.dp, 4);
    EXPECT_EQ(scenario.plan.devices(), 16);
    EXPECT_EQ(scenario.plan.micro_batches(), 8);  // 32 / (1 x 4)
}

TEST(ScenarioReader, what_is_given_by_its_name_keeps_it_when_one_of_its_fields_is_set) {
    const std::int64_t usual = std::get<TransformerSpec>(read_good().workload.spec).seq_len;
    const Scenario scenario = read_good({"workload.seq_len=512"});
    EXPECT_EQ(std::get<TransformerSpec>(scenario.workload.spec).seq_len, 512);
    EXPECT_NE(usual, 512);
    EXPECT_EQ(scenario.workload.name, read_good().workload.name);
}

TEST(ScenarioReader, a_machine_of_one_node_is_filled_without_saying_so) {
    EXPECT_EQ(read_good({"hardware={\"cluster\": \"single\"}"}).plan.dp, 1);  // 4 / (2 x 2)
}

TEST(ScenarioReader, only_some_devices_of_each_node_may_be_used) {
    const Scenario scenario = read_good({"hardware.devices_per_node=4"});
    EXPECT_EQ(scenario.plan.devices_per_node, 4);
    EXPECT_EQ(scenario.plan.dp, 2);  // 2 x 4 / 4
}

TEST(ScenarioReader, devices_of_each_node_may_be_as_a_scheduler_gave_them) {
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

TEST(ScenarioReader, nodes_may_be_those_of_a_list) {
    const Scenario s = read_good({"hardware.nodes=null", "hardware.node_list=gcn[0-1]"});
    EXPECT_THAT(s.cluster.node_numbers, ElementsAre(0, 1));
    EXPECT_EQ(s.plan.dp, 4);  // 2 x 8 / 4
    const ReadScenario wrong = read_text(good_scenario, {"hardware.node_list=gcn[1-0]"});
    EXPECT_THAT(all_of(wrong.problems), HasSubstr("SLURM_JOB_NODELIST"));
}

TEST(ScenarioReader, a_part_of_a_device_has_that_part_of_its_rates_and_memory) {
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

TEST(ScenarioReader, ranks_may_share_the_cores_of_a_cpu_and_nothing_else) {
    const ReadScenario gpus = read_text(good_scenario, {"hardware.ranks_per_device=2"});
    EXPECT_THAT(all_of(gpus.problems), HasSubstr("/hardware/ranks_per_device"));
    EXPECT_THAT(all_of(gpus.problems), HasSubstr("only the cores of a CPU are shared"));
    EXPECT_EQ(read_good({"hardware.ranks_per_device=1"}).cluster.node.ranks_per_device, 1);
}

TEST(ScenarioReader, any_two_numbers_of_the_batch_give_the_third) {
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

TEST(ScenarioReader, one_number_of_the_batch_is_enough_without_a_pipeline) {
    const Scenario by_micro = read_good({R"(plan={"micro_batch": 3})"});
    EXPECT_EQ(by_micro.plan.global_batch, 48);  // 3 x 16
    const Scenario by_global = read_good({R"(plan={"global_batch": 64})"});
    EXPECT_EQ(by_global.plan.micro_batch, 4);  // 64 / 16
}

TEST(ScenarioReader, a_model_is_named_and_a_field_of_it_overridden) {
    const Scenario scenario = read_good({R"(workload={"model": "gpt", "seq_len": 4096, "heads": 16})"});
    const auto& spec = std::get<TransformerSpec>(scenario.workload.spec);
    EXPECT_EQ(scenario.workload.name, "gpt");
    EXPECT_EQ(spec.seq_len, 4096);
    EXPECT_EQ(spec.kv_heads, 16);  // the model has as many as heads, and keeps it so
    EXPECT_EQ(spec.layers, 12);
}

TEST(ScenarioReader, a_transformer_of_ones_own_has_the_customary_widths) {
    const Scenario scenario =
        read_good({R"(workload={"transformer": {"layers": 24, "hidden": 1024, "heads": 16, "vocab": 32000, "seq_len": 2048,
        "moe": {"experts": 16, "topk": 2, "ffn_hidden": 2816}}})"});
    const auto& spec = std::get<TransformerSpec>(scenario.workload.spec);
    EXPECT_EQ(spec.kv_heads, 16);
    EXPECT_EQ(spec.ffn_hidden, 4096);
    EXPECT_EQ(spec.moe->experts, 16);
}

TEST(ScenarioReader, a_chain_of_layers_is_read_in_order) {
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

TEST(ScenarioReader, what_if_numbers_replace_those_of_the_profile_and_name_the_scenario_as_source) {
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

TEST(ScenarioReader, another_clock_changes_the_peaks_in_proportion) {
    const auto device = [](const std::vector<std::string>& set) {
        return bundled_scenario("precision-fp16-a100", set).cluster.node.device;
    };
    const auto peak = [&](const std::vector<std::string>& set) { return *device(set).peaks.front().rate; };
    ASSERT_DOUBLE_EQ(*device({}).clock / MHz, 1410);
    EXPECT_DOUBLE_EQ(peak({"hardware.device.clock=705 MHz"}) / peak({}), 0.5);
    EXPECT_DOUBLE_EQ(peak({"hardware.device.clock=705 MHz", "hardware.device.peak_scale=2"}) / peak({}), 1);
}

TEST(ScenarioReader, another_scale_of_the_peaks_is_what_a_report_calls_twice_the_compute_rate) {
    // Of attention on later devices the clock is the bound, of products the curve that was measured.
    for (const char* name : {"llama-3-8b-fsdp-64xh100", "default"}) {
        const Seconds as_what_if = estimate(prepare(bundled_scenario(name)), {.compute = 2}).step;
        EXPECT_NEAR(estimate(prepare(bundled_scenario(name, {"hardware.device.peak_scale=2"}))).step / as_what_if, 1, 1e-9) << name;
    }
}

TEST(ScenarioReader, the_bandwidth_of_the_network_is_that_of_the_link_in_use) {
    const NodeSpec node = bundled_scenario("ethernet-while-infiniband-idle", {"hardware.network_bandwidth=3 GB/s"}).cluster.node;
    const NodeSpec as_it_is = bundled_scenario("ethernet-while-infiniband-idle").cluster.node;
    EXPECT_DOUBLE_EQ(node.ethernet->bandwidth.value / (GB / s), 3);
    EXPECT_EQ(node.nic_link.bandwidth.value, as_it_is.nic_link.bandwidth.value);
}

TEST(ScenarioReader, the_library_is_the_frameworks_unless_the_scenario_names_one) {
    EXPECT_EQ(read_good().library.name, "fast");
    EXPECT_EQ(read_good({"library=sockets"}).library.name, "sockets");
}

TEST(ScenarioReader, activations_in_host_memory_are_all_residuals_or_those_of_some_layers) {
    EXPECT_EQ(read_good({"plan.offload_activations=false"}).plan.offload_activations, OffloadActivations::none);
    EXPECT_EQ(read_good({"plan.offload_activations=residuals"}).plan.offload_activations, OffloadActivations::residuals);
    const Plan some = read_good({R"(plan.offload_activations={"layers": 3})"}).plan;
    EXPECT_EQ(some.offload_activations, OffloadActivations::layers);
    EXPECT_EQ(some.offloaded_layers, 3);
}

TEST(ScenarioReader, a_schedule_that_turns_back_has_two_chunks_without_saying_so) {
    EXPECT_EQ(read_good({"plan.pp=2", "plan.schedule=dual_pipe_v"}).plan.vpp, 2);
}

TEST(ScenarioReader, every_setting_of_the_plan_arrives) {
    const Scenario scenario =
        read_good({R"(plan={"dp": 8, "tp": 2, "micro_batch": 1, "grad_accum": 4, "data_parallel": "fsdp", "shard_group": 4,
        "sequence_parallel": true, "recompute": {"blocks": 3}, "precision": {"base": "fp16", "reduction": "fp32", "master_weights": false},
        "optimizer": "none", "flash_attention": false, "cuda_graph": true, "offload": "optimizer", "offload_activations": true,
        "pruned_fraction": 0.5, "gradient_overlap": false, "placement": ["data", "tensor"], "scattered": true})"});
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
    EXPECT_EQ(plan.offload, Offload::optimizer);
    EXPECT_EQ(plan.offload_activations, OffloadActivations::all);
    EXPECT_EQ(plan.pruned_fraction, 0.5);
    EXPECT_EQ(plan.gradient_overlap, false);
    EXPECT_EQ(plan.gather_overlap, std::nullopt);
    EXPECT_EQ(plan.placement, (std::vector{PlanDimension::data, PlanDimension::tensor}));
    EXPECT_TRUE(plan.scattered);
}

TEST(ScenarioReader, run_data_and_uneven_hardware_arrive) {
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

// ---- malformed input: each gives exactly one problem, at this place, saying this

struct Malformed {
    std::string what;
    std::vector<std::string> assignments;
    std::string pointer, fragment;
};

void PrintTo(const Malformed& m, std::ostream* out) { *out << m.what; }

class MalformedScenario : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedScenario, has_one_problem_with_its_place_and_reason) {
    const Malformed& m = GetParam();
    const auto problems = read_text(good_scenario, m.assignments).problems;
    ASSERT_EQ(problems.size(), 1u) << all_of(problems);
    EXPECT_EQ(problems[0].file, "test.json");
    EXPECT_EQ(problems[0].pointer, m.pointer);
    EXPECT_THAT(to_text(problems[0]), HasSubstr(m.fragment));
}

INSTANTIATE_TEST_SUITE_P(
    form, MalformedScenario,
    ::testing::Values(
        Malformed{"schema of a later version", {"schema=scenario/2"}, "/schema", "expected \"scenario/1\""},
        Malformed{"name is a number", {"name=7"}, "/name", "expected a text, found a number"},
        Malformed{"name that colours a terminal", {R"(name="\u001b[31mred")"}, "/name", "control characters"},
        Malformed{"no workload", {"workload=null"}, "", "\"workload\" is missing"},
        Malformed{"no plan", {"plan=null"}, "", "\"plan\" is missing"},
        Malformed{"no framework", {"framework=null"}, "", "\"framework\" is missing"},
        Malformed{"plan is a list", {"plan=[1, 2]"}, "/plan", "expected an object, found a JSON array"},
        Malformed{"unknown key with a near name", {"plan.micro_bach=2"}, "/plan/micro_bach", "did you mean \"micro_batch\"?"},
        Malformed{"unknown key at the top", {"hardwear={}"}, "/hardwear", "did you mean \"hardware\"?"},
        Malformed{"a learning rate of no batch", {"run.base_learning_rate=0.1"}, "/run", "\"base_batch\" is missing"},
        Malformed{"a batch of no learning rate", {"run.base_batch=256"}, "/run", "\"base_learning_rate\" is missing"},
        Malformed{"text where a number belongs", {"plan.tp=\"eight\""}, "/plan/tp", "expected a whole number, found a JSON string"},
        Malformed{"half a device", {"plan.tp=1.5"}, "/plan/tp", "1.5 is not a whole number"},
        Malformed{"negative", {"plan.pp=-2"}, "/plan/pp", "-2 must be at least 1"},
        Malformed{"zero", {"plan.micro_batch=0"}, "/plan/micro_batch", "0 must be at least 1"},
        Malformed{"huge", {"plan.tp=1e18"}, "/plan/tp", "must be at most 1000000"},
        Malformed{"not a number", {"plan.tp=NaN"}, "/plan/tp", "expected a whole number, found a JSON string"},
        Malformed{"truth as text", {"plan.scattered=\"yes\""}, "/plan/scattered", "expected true or false"},
        Malformed{"unit missing", {R"(run={"price": 2.5})"}, "/run/price", "unit missing"},
        Malformed{"failures of nothing",
                  {R"(run={"samples": 1e6, "failures": {"restart": "1 min"}})"},
                  "/run/failures",
                  "how often the job fails"},
        Malformed{"failures without a restart",
                  {R"(run={"samples": 1e6, "failures": {"node_mtbf": "1000 h"}})"},
                  "/run/failures",
                  "\"restart\" is missing"},
        Malformed{"failures of a run without an end",
                  {R"(run={"failures": {"node_mtbf": "1000 h", "restart": "1 min"}})"},
                  "/run/failures",
                  "the run has no end"},
        Malformed{"unit of another dimension", {"hardware.network_bandwidth=100 GiB"}, "/hardware/network_bandwidth", "is not a unit of"},
        Malformed{"quantity that is not a number",
                  {"hardware.network_bandwidth=nan Gbit/s"},
                  "/hardware/network_bandwidth",
                  "not a finite number"},
        Malformed{"negative quantity", {R"(hardware.device={"memory": "-40 GiB"})"}, "/hardware/device/memory", "must be at least"},
        Malformed{"unknown schedule", {"plan.schedule=1f1bb"}, "/plan/schedule", "did you mean \"1f1b\"?"},
        Malformed{"unknown precision", {"plan.precision=bf61"}, "/plan/precision", "did you mean \"bf16\"?"},
        Malformed{"unknown type inside precision",
                  {R"(plan.precision={"reduction": "fp33"})"},
                  "/plan/precision/reduction",
                  "did you mean \"fp32\"?"},
        Malformed{"unknown model", {"workload=gpt3-175"}, "/workload", "did you mean \"gpt3-175b\"?"},
        Malformed{"unknown model with another's weights", {"workload=meta-llama/Llama-3.1-8B"}, "/workload", "mean \"llama-3.1-8b\"?"},
        Malformed{"unknown model of a known kind", {"workload=llama-3.2-2b"}, "/workload", "those of this kind: llama-7b, llama-13b"},
        Malformed{
            "unknown cluster", {"hardware.cluster=bocks", "hardware.network_bandwidth=1 GB/s"}, "/hardware/cluster", "one of: box, single"},
        Malformed{"unknown framework", {"framework=plane"}, "/framework", "did you mean \"plain\"?"},
        Malformed{"unknown library", {"library=fats"}, "/library", "did you mean \"fast\"?"},
        Malformed{"workload is a number", {"workload=7"}, "/workload", "a workload is a name or an object"},
        Malformed{"two networks", {R"(workload={"model": "gpt", "mlp": {"widths": [1, 2]}})"}, "/workload", "more than one network"},
        Malformed{"plan in parts of a list", {"plan.stage_blocks=[7, \"x\", 7, 7]"}, "/plan/stage_blocks/1", "expected a whole number"},
        Malformed{"unknown dimension", {"plan.placement=[\"tensor\", \"dta\"]"}, "/plan/placement/1", "did you mean \"data\"?"}));

INSTANTIATE_TEST_SUITE_P(
    workload, MalformedScenario,
    ::testing::Values(
        Malformed{"key of another model",
                  {R"(workload={"model": "resnet50", "seq_len": 5})", R"(plan={"micro_batch": 1})"},
                  "/workload/seq_len",
                  "unknown key"},
        Malformed{"sequence beyond learned positions",
                  {R"(workload={"model": "bert", "seq_len": 1024})"},
                  "/workload/seq_len",
                  "512 learned positions"},
        Malformed{"absurd depth", {R"(workload={"model": "gpt", "layers": 1000000000})"}, "/workload/layers", "must be at most 10000"},
        Malformed{"gated MLP without its width",
                  {R"(workload={"transformer": {"layers": 2, "hidden": 64, "heads": 2, "vocab": 10, "seq_len": 8, "mlp": "swiglu"}})"},
                  "/workload/transformer",
                  "\"ffn_hidden\" is missing"},
        Malformed{"experts without their width",
                  {R"(workload={"model": "gpt", "moe": {"experts": 8, "topk": 2}})"},
                  "/workload/moe",
                  "\"ffn_hidden\" is missing"},
        Malformed{"heads that do not divide what is described",
                  {R"(workload={"transformer": {"layers": 2, "hidden": 64, "heads": 5, "vocab": 10, "seq_len": 8, "ffn_hidden": 64}})"},
                  "/workload/transformer/heads",
                  "5 does not divide 64"},
        Malformed{"heads that do not divide what is named",
                  {R"(workload={"model": "gpt", "hidden": 770})"},
                  "/workload/heads",
                  "does not divide 770"},
        Malformed{"MLP of one width",
                  {R"(workload={"mlp": {"widths": [784]}})", R"(plan={"micro_batch": 1})"},
                  "/workload/mlp/widths",
                  "an output width"},
        Malformed{"layer of two kinds",
                  {R"(workload={"chain": {"input_shape": [4], "layers": [{"activation": "relu", "norm": "layer"}]}})",
                   R"(plan={"micro_batch": 1})"},
                  "/workload/chain/layers/0",
                  "exactly one kind"},
        Malformed{"unknown bare layer",
                  {R"(workload={"chain": {"input_shape": [4], "layers": ["dropot"]}})", R"(plan={"micro_batch": 1})"},
                  "/workload/chain/layers/0",
                  "did you mean \"dropout\"?"}));

INSTANTIATE_TEST_SUITE_P(
    agreement, MalformedScenario,
    ::testing::Values(
        Malformed{"batch stated three times differently", {"plan.grad_accum=5"}, "/plan/grad_accum", "is not global_batch 32"},
        Malformed{"no batch", {R"(plan={"tp": 2})"}, "/plan", "no batch is stated"},
        Malformed{"pipeline with half a batch", {R"(plan={"pp": 2, "global_batch": 32})"}, "/plan", "half stated"},
        Malformed{"dp missing and no nodes", {R"(hardware={"cluster": "box"})"}, "/plan", "\"dp\" is missing"},
        Malformed{"degrees that do not divide the devices", {"plan.tp=3"}, "/plan", "does not divide the 16 devices"},
        Malformed{"too many nodes", {"hardware.nodes=5", "plan.dp=4"}, "/hardware/nodes", "box has 4"},
        Malformed{"plan larger than the nodes", {"plan.dp=8"}, "/hardware/nodes", "the plan needs 32 devices, these nodes have 16"},
        Malformed{"whole nodes idle", {"plan.dp=2"}, "/hardware/nodes", "leaves whole nodes idle"},
        Malformed{"bandwidth of another century", {"hardware.network_bandwidth=1 KB/s"}, "/hardware/network_bandwidth", "must be at least"},
        Malformed{"memory without its prefix", {R"(hardware.device={"memory": "1 B"})"}, "/hardware/device/memory", "must be at least"},
        Malformed{"sockets without an interface", {"hardware.ethernet=true"}, "/hardware/ethernet", "names no Ethernet interface"},
        Malformed{"network of a machine without one",
                  {R"(hardware={"cluster": "single", "network_bandwidth": "1 GB/s"})"},
                  "/hardware/network_bandwidth",
                  "have no network"},
        Malformed{
            "faster straggler", {R"(hardware.straggler={"devices": 1, "speed": 1.5})"}, "/hardware/straggler/speed", "must be at most 1"},
        Malformed{"epochs of nothing", {R"(run={"epochs": 3})"}, "/run", "\"dataset_samples\" is missing"},
        Malformed{"two lengths", {R"(run={"tokens": 1e9, "samples": 1e6})"}, "/run", "stated more than once"},
        Malformed{"tokens of images",
                  {"workload=resnet50", R"(plan={"micro_batch": 1})", R"(run={"tokens": 1e9})"},
                  "/run/tokens",
                  "resnet50 has no tokens"},
        Malformed{"storage without sample size", {R"(data={"storage": {}})"}, "/data", "\"sample_size\" is missing"},
        Malformed{"local disk that is not there",
                  {R"(data={"storage": "local", "sample_size": "1 KB"})"},
                  "/data/storage",
                  "nothing about a local disk"},
        Malformed{"servers without a server plan", {"plan.parameter_servers=2"}, "/plan/parameter_servers", "there is no parameter server"},
        Malformed{"modules without selection",
                  {"plan.recompute=full", "plan.recompute_modules=[\"mlp\"]"},
                  "/plan/recompute_modules",
                  "only selective"}));

TEST(ScenarioReader, a_text_that_is_no_JSON_is_one_problem) {
    const std::string whole(good_scenario);
    for (const std::string& text :
         {std::string{}, whole.substr(0, whole.size() / 2), whole + "}", std::string("{\"plan\": {\"tp\": 1e999}}")}) {
        const auto problems = read_text(text).problems;
        ASSERT_EQ(problems.size(), 1u) << text;
        EXPECT_THAT(problems[0].what, HasSubstr("not valid JSON")) << text;
    }
}

TEST(ScenarioReader, every_truncation_of_a_scenario_is_reported) {
    for (std::size_t length = 0; length < good_scenario.size(); ++length)
        EXPECT_FALSE(read_text(good_scenario.substr(0, length)).problems.empty()) << length;
}

TEST(ScenarioReader, nesting_without_end_is_one_problem) {
    const std::string deep = "{\"workload\": " + std::string(100000, '[') + std::string(100000, ']') + "}";
    const auto problems = read_text(deep).problems;
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_THAT(problems[0].what, HasSubstr("nested deeper than"));
}

TEST(ScenarioReader, a_key_that_stands_twice_is_a_problem_beside_the_others) {
    std::string text(good_scenario);
    text.insert(text.find('{') + 1, R"("notes~/": [1, {"a": {}, "b": [2], "a": 3}], "name": "another",)");
    std::vector<std::string> places;
    for (const Diagnostic& d : read_text(text).problems) places.push_back(d.pointer + ": " + d.what);
    EXPECT_THAT(places, testing::Contains("/name: stands twice"));
    EXPECT_THAT(places, testing::Contains("/notes~0~1/1/a: stands twice"));
    EXPECT_THAT(places, testing::Contains(HasSubstr("notes")).Times(2));  // and nobody asks for it
}

TEST(ScenarioReader, an_assignment_is_as_strict_as_a_file) {
    const auto twice = read_text(good_scenario, {R"(run={"tokens": 1e9, "tokens": 5e9})"}).problems;
    ASSERT_EQ(twice.size(), 1u) << all_of(twice);
    EXPECT_EQ(twice[0].pointer + ": " + twice[0].what, "/tokens: stands twice");
    for (const char* cut : {"plan={", "plan= {\"tp\": 2", "pinned=[\"tp\""}) {
        const auto problems = read_text(good_scenario, {cut}).problems;
        ASSERT_EQ(problems.size(), 1u) << all_of(problems);
        EXPECT_THAT(problems[0].what, HasSubstr("not valid JSON"));
        EXPECT_EQ(problems[0].file, std::string("--set ") + cut);
    }
}

TEST(ScenarioReader, what_follows_a_byte_of_zero_is_not_passed_over) {
    const auto problems = read_text(std::string(good_scenario) + '\0' + "and more").problems;
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_THAT(problems[0].what, HasSubstr("a byte of zero"));
}

TEST(ScenarioReader, all_problems_are_reported_at_once) {
    const auto problems = read_text(good_scenario, {"name=7", "workload=gpt3-175", "hardware.nodes=-1", "plan.tp=\"x\"",
                                                    "plan.shedule=gpipe", "framework=plane", R"(run={"price": 2})", "extra=1"})
                              .problems;
    std::set<std::string> pointers;
    for (const Diagnostic& d : problems) pointers.insert(d.pointer);
    EXPECT_EQ(pointers, (std::set<std::string>{"/name", "/workload", "/hardware/nodes", "/plan/tp", "/plan/shedule", "/framework",
                                               "/run/price", "/extra"}))
        << all_of(problems);
}

TEST(ScenarioReader, a_plan_that_does_not_divide_has_all_its_problems_reported) {
    const auto problems =
        read_text(good_scenario, {R"(plan={"dp": 3, "tp": 1, "pp": 5, "micro_batch": 2, "global_batch": 32, "vpp": 3, "ep": 2,
        "sequence_parallel": true, "shard_group": 2, "data_parallel": "zero3", "stage_blocks": [1, 2], "unknown": 1})"})
            .problems;
    std::multiset<std::string> pointers;
    for (const Diagnostic& d : problems) pointers.insert(d.pointer);
    // 2 x 3 does not divide 32; 5 micro-batches are a multiple of 5; 5 x 3 stages are more than 14 blocks; two numbers for 15 stages, of
    // sum 3; no sequence without tp; no experts, and 2 does not divide 3; neither does the shard group.
    EXPECT_EQ(pointers,
              (std::multiset<std::string>{"/plan/global_batch", "/plan/pp", "/plan/stage_blocks", "/plan/stage_blocks",
                                          "/plan/sequence_parallel", "/plan/ep", "/plan/ep", "/plan/shard_group", "/plan/unknown"}))
        << all_of(problems);
}

}  // namespace
}  // namespace sextant::fixtures
