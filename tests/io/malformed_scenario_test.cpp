// Scenarios that are wrong, and what is said of them.

#include "tests/io/scenario_fixture.hpp"
#include "tests/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <fstream>

namespace sextant::fixtures {
namespace {

using ::testing::HasSubstr;

// Each gives exactly one problem, at this place, saying this.
struct Malformed {
    std::string what;
    std::vector<std::string> assignments;
    std::string pointer, fragment;
};

void PrintTo(const Malformed& m, std::ostream* out) { *out << m.what; }

class MalformedScenario : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedScenario, HasOneProblemWithItsPlaceAndReason) {
    const Malformed& m = GetParam();
    const auto problems = read_text(good_scenario, m.assignments).problems;
    ASSERT_EQ(problems.size(), 1u) << all_of(problems);
    EXPECT_EQ(problems[0].file, "test.json");
    EXPECT_EQ(problems[0].pointer, m.pointer);
    EXPECT_THAT(to_text(problems[0]), HasSubstr(m.fragment));
}

INSTANTIATE_TEST_SUITE_P(
    Form, MalformedScenario,
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
        Malformed{"key of the plan at the top", {"tp=2"}, "/tp", "did you mean \"plan.tp\"?"},
        Malformed{
            "key of the plan at the top, with a value of another kind", {"recompute=2"}, "/recompute", "did you mean \"plan.recompute\"?"},
        Malformed{"key of the network at the top", {"workload=gpt", "seq_len=64"}, "/seq_len", "did you mean \"workload.seq_len\"?"},
        Malformed{"key of a network that is described, at the top",
                  {R"(workload={"transformer": {"layers": 2, "hidden": 64, "heads": 2, "vocab": 10, "seq_len": 8, "ffn_hidden": 64}})",
                   "heads=4"},
                  "/heads",
                  "did you mean \"workload.heads\"?"},
        Malformed{"key of what need not be there at the top", {"epochs=3"}, "/epochs", "did you mean \"run.epochs\"?"},
        Malformed{"a learning rate of no batch", {"run.base_learning_rate=0.1"}, "/run", "\"base_batch\" is missing"},
        Malformed{"a batch of no learning rate", {"run.base_batch=256"}, "/run", "\"base_learning_rate\" is missing"},
        Malformed{"text where a number belongs", {"plan.tp=\"eight\""}, "/plan/tp", "expected a whole number, found \"eight\""},
        Malformed{"half a device", {"plan.tp=1.5"}, "/plan/tp", "1.5 is not a whole number"},
        Malformed{"negative", {"plan.pp=-2"}, "/plan/pp", "-2 must be at least 1"},
        Malformed{"zero", {"plan.micro_batch=0"}, "/plan/micro_batch", "0 must be at least 1"},
        Malformed{"huge", {"plan.tp=1e18"}, "/plan/tp", "must be at most 1000000"},
        Malformed{"not a number", {"plan.tp=NaN"}, "/plan/tp", "expected a whole number, found \"NaN\""},
        Malformed{"truth as text", {"plan.scattered=\"yes\""}, "/plan/scattered", "expected true or false, found \"yes\""},
        Malformed{"truth where one of several words belongs",
                  {"plan.recompute=true"},
                  "/plan/recompute",
                  "expected a text, found true\n  hint: one of: none, selective, full"},
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
        Malformed{"unknown model of no kind", {"workload=xyzzy"}, "/workload", "hint: `sextant profiles list` has all names"},
        Malformed{"unknown model of a known kind",
                  {"workload=llama-3.2-2b"},
                  "/workload",
                  "there are llama-3.2-1b, llama-3.2-3b, llama-3.1-8b. "},
        Malformed{
            "unknown cluster", {"hardware.cluster=bocks", "hardware.network_bandwidth=1 GB/s"}, "/hardware/cluster", "one of: box, single"},
        Malformed{"unknown framework", {"framework=plane"}, "/framework", "did you mean \"plain\"?"},
        Malformed{"unknown library", {"library=fats"}, "/library", "did you mean \"fast\"?"},
        Malformed{"workload is a number", {"workload=7"}, "/workload", "a workload is a name or an object"},
        Malformed{"two networks", {R"(workload={"model": "gpt", "mlp": {"widths": [1, 2]}})"}, "/workload", "more than one network"},
        Malformed{"plan in parts of a list", {"plan.stage_blocks=[7, \"x\", 7, 7]"}, "/plan/stage_blocks/1", "expected a whole number"},
        Malformed{"unknown dimension", {"plan.placement=[\"tensor\", \"dta\"]"}, "/plan/placement/1", "did you mean \"data\"?"}));

INSTANTIATE_TEST_SUITE_P(
    Workload, MalformedScenario,
    ::testing::Values(
        Malformed{"key of another model",
                  {R"(workload={"model": "resnet50", "seq_len": 5})", R"(plan={"micro_batch": 1})"},
                  "/workload/seq_len",
                  "unknown key"},
        Malformed{"sequence beyond learned positions",
                  {R"(workload={"model": "bert", "seq_len": 1024})"},
                  "/workload/seq_len",
                  "512 positions that the model has a table of"},
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
    Agreement, MalformedScenario,
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

TEST(ScenarioReader, ATextThatIsNoJSONIsOneProblem) {
    const std::string whole(good_scenario);
    for (const std::string& text :
         {std::string{}, whole.substr(0, whole.size() / 2), whole + "}", std::string("{\"plan\": {\"tp\": 1e999}}")}) {
        const auto problems = read_text(text).problems;
        ASSERT_EQ(problems.size(), 1u) << text;
        EXPECT_THAT(problems[0].what, HasSubstr("not valid JSON")) << text;
    }
}

TEST(ScenarioReader, AClusterThatIsNotKnownIsTheOnlyProblem) {
    const auto problems =
        read_text(good_scenario, {"hardware.cluster=bocks", R"(data={"storage": "shared", "sample_size": "1 KB"})"}).problems;
    ASSERT_EQ(problems.size(), 1U) << all_of(problems);
    EXPECT_EQ(problems[0].pointer, "/hardware/cluster");
}

using ScenarioOfFiles = TemporaryFolder;

TEST_F(ScenarioOfFiles, AWorkloadThatNamesItselfIsOneProblem) {
    std::ofstream(file("one.json")) << R"({"schema": "workload/1", "model": "other.json"})";
    std::ofstream(file("other.json")) << R"({"schema": "workload/1", "model": "one.json"})";
    const auto problems = read_text(good_scenario, {"workload=" + file("one.json")}).problems;
    ASSERT_EQ(problems.size(), 1U) << all_of(problems);
    EXPECT_EQ(problems[0].pointer, "/model");
    EXPECT_THAT(problems[0].what, HasSubstr("names itself"));
}

TEST(ScenarioReader, EveryTruncationOfAScenarioIsReported) {
    for (std::size_t length = 0; length < good_scenario.size(); ++length)
        EXPECT_FALSE(read_text(good_scenario.substr(0, length)).problems.empty()) << length;
}

TEST(ScenarioReader, NestingWithoutEndIsOneProblem) {
    const std::string deep = "{\"workload\": " + std::string(100000, '[') + std::string(100000, ']') + "}";
    const auto problems = read_text(deep).problems;
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_THAT(problems[0].what, HasSubstr("nested deeper than"));
}

TEST(ScenarioReader, ManyObjectsInAListTakeNoLongerThanTheirTextIsLong) {
    std::string text = "[{}";
    for (int i = 0; i < 200'000; ++i) text += ",{}";
    const std::clock_t start = std::clock();
    EXPECT_EQ(read_text(text + "]").problems.size(), 1U);
    EXPECT_LT(std::clock() - start, 10 * CLOCKS_PER_SEC);  // half a minute where each of them was looked at for each
}

TEST(ScenarioReader, AKeyThatStandsTwiceIsAProblemBesideTheOthers) {
    std::string text(good_scenario);
    text.insert(text.find('{') + 1, R"("notes~/": [1, {"a": {}, "b": [2], "a": 3}], "name": "another",)");
    std::vector<std::string> places;
    for (const Diagnostic& d : read_text(text).problems) places.push_back(d.pointer + ": " + d.what);
    EXPECT_THAT(places, testing::Contains("/name: stands twice"));
    EXPECT_THAT(places, testing::Contains("/notes~0~1/1/a: stands twice"));
    EXPECT_THAT(places, testing::Contains(HasSubstr("notes")).Times(2));  // and nobody asks for it
}

TEST(ScenarioReader, AnAssignmentIsAsStrictAsAFile) {
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

TEST(ScenarioReader, WhatFollowsAByteOfZeroIsNotPassedOver) {
    const auto problems = read_text(std::string(good_scenario) + '\0' + "and more").problems;
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_THAT(problems[0].what, HasSubstr("a byte of zero"));
}

TEST(ScenarioReader, AllProblemsAreReportedAtOnce) {
    const auto problems = read_text(good_scenario, {"name=7", "workload=gpt3-175", "hardware.nodes=-1", "plan.tp=\"x\"",
                                                    "plan.shedule=gpipe", "framework=plane", R"(run={"price": 2})", "extra=1"})
                              .problems;
    std::set<std::string> pointers;
    for (const Diagnostic& d : problems) pointers.insert(d.pointer);
    EXPECT_EQ(pointers, (std::set<std::string>{"/name", "/workload", "/hardware/nodes", "/plan/tp", "/plan/shedule", "/framework",
                                               "/run/price", "/extra"}))
        << all_of(problems);
}

// Its keys are not a scenario's.
TEST(ScenarioReader, AFileOfAnotherKindIsSaidToBeThatAlone) {
    const auto problems = read_text(good_scenario, {"schema=workload/1", "transformer=1", "title=2"}).problems;
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems.front().pointer, "/schema");
}

TEST(ScenarioReader, APlanThatDoesNotDivideHasAllItsProblemsReported) {
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
