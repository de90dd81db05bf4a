#include "model/io/measurement/measurement_evaluation.hpp"
#include "model/io/measurement/validation_writer.hpp"
#include "tests/io/measurement_fixture.hpp"

#include <nlohmann/json.hpp>

namespace sextant {
namespace {

using namespace units;

constexpr std::string_view training = R"({"id": "t", "kind": "training", "model": {"name": "resnet50", "family": "cnn"},
  "hardware": {"gpu": "A100 SXM4 80GB"}, "plan": {"micro_batch": 8, "global_batch": 8, "precision_kind": "fp16"},
  "measured": {"step_time_s": 2, "memory_bytes": 1e10}})";
constexpr std::string_view loading =
    R"({"id": "l", "kind": "loading", "workload": {"workload": "unet3d", "num_accelerators": 8}, "measured": {"samples_per_s": 250}})";
constexpr std::string_view collective = R"({"id": "c", "kind": "collective", "collective": "all_reduce", "message_bytes": 1000000,
  "hardware": {"gpu": "A100 SXM4 80GB", "ranks": 8, "nodes": 1, "intra_node": {"kind": "nvswitch"}}, "measured": {"time_s": 1e-4}})";

Predictors fixed_predictors() {
    return {.training = [](const Scenario&) { return RowPrediction{2.2 * s, 1.9 * s, 2.5 * s, 11 * GB, 9 * GB, true}; },
            .collective = [](const CollectiveScenario&) { return 0.9e-4 * s; },
            .loading = [](const LoadingRow&) -> Seconds {
                throw InputError({"", "", "the source does not define what is emulated", ""});
            }};
}

RowResult evaluate_one(std::string_view row) { return evaluate(read_one(row).rows.at(0), test_sources(), fixed_predictors()); }

TEST(MeasurementEvaluation, HoldsAPredictionAgainstItsMeasurement) {
    const RowResult r = evaluate_one(training);
    EXPECT_NEAR(*r.step_error(), 0.1, 1e-12);
    EXPECT_NEAR(*r.memory_error(), 0.1, 1e-12);
    EXPECT_TRUE(r.inside());           // of 1.9 to 2.5 s
    EXPECT_EQ(r.measured_fits, true);  // it ran
    EXPECT_EQ(r.series, "vision, one GPU");
    EXPECT_FALSE(r.assumptions.empty());
}

TEST(MeasurementEvaluation, MemoryIsHeldAgainstWhatTheSourceMeasured) {
    Diagnostics diagnostics;
    const std::string source = R"({"source": {"definitions": {"memory": "torch.cuda.max_memory_allocated"}}, "rows": [)";
    const MeasurementFile file = read_measurements(source + std::string(training) + "]}", "rows.json", diagnostics);
    diagnostics.throw_if_any();
    EXPECT_NEAR(*evaluate(file.rows.at(0), test_sources(), fixed_predictors()).memory_error(), -0.1, 1e-12);  // 9 of 10 GB
}

TEST(MeasurementEvaluation, ThroughputOfATrainingCountsAsTimePerStep) {
    const std::string row(training);
    const auto with = [&](const std::string& measured) {
        std::string changed = row;
        changed.replace(changed.find("\"step_time_s\": 2"), std::string("\"step_time_s\": 2").size(), measured);
        return *evaluate_one(changed).measured_step / s;
    };
    EXPECT_DOUBLE_EQ(with(R"("images_per_s": 16)"), 0.5);  // 8 in a step
    EXPECT_DOUBLE_EQ(with(R"("samples_per_s_per_gpu": 32)"), 0.25);
    // 2 sequences of 1024 tokens at 4096 tokens/s
    const RowResult tokens = evaluate_one(R"({"id": "t", "kind": "training",
        "model": {"family": "GPT", "layers": 2, "hidden": 128, "heads": 2, "seq_len": 1024, "vocab": 1000}, "hardware": {"gpu": "A100 SXM4 80GB"},
        "plan": {"micro_batch": 1, "global_batch": 2, "precision_kind": "bf16"}, "measured": {"tokens_per_s": 4096}})");
    EXPECT_DOUBLE_EQ(*tokens.measured_step / s, 0.5);
    EXPECT_EQ(tokens.measured_fits, true);
}

TEST(MeasurementEvaluation, BusBandwidthOfACollectiveCountsAsTimePerCall) {
    std::string row(collective);
    row.replace(row.find("\"time_s\": 1e-4"), std::string("\"time_s\": 1e-4").size(), "\"busbw_bytes_per_s\": 1.75e10");
    EXPECT_DOUBLE_EQ(*evaluate_one(row).measured_step / us, 100);  // 2 x 7/8 of 1 MB
    row.replace(row.find("all_reduce"), std::string("all_reduce").size(), "sendrecv");
    EXPECT_DOUBLE_EQ(*evaluate_one(row).measured_step / us, 1 / 0.0175);  // all of it
}

TEST(MeasurementEvaluation, ARowThatIsNotUnderstoodIsRefusedWithThePlaceAndOthersArePredicted) {
    Diagnostics diagnostics;
    const MeasurementFile file = read_measurements(
        "{\"rows\": [" + std::string(training) + R"(, {"id": "x", "kind": "training", "plan": {"dp": "two"}}]})", "rows.json", diagnostics);
    diagnostics.throw_if_any();
    EXPECT_FALSE(evaluate(file.rows.at(0), test_sources(), fixed_predictors()).refused);
    const RowResult r = evaluate(file.rows.at(1), test_sources(), fixed_predictors());
    EXPECT_EQ(r.id, "x");
    EXPECT_TRUE(r.refused.value().starts_with("plan/dp: ")) << *r.refused;
}

TEST(MeasurementEvaluation, ThroughputOfALoaderCountsAsTimePerSample) {
    const RowResult r = evaluate_one(loading);
    EXPECT_DOUBLE_EQ(*r.measured_step / ms, 4);  // 1 / 250
    EXPECT_EQ(r.refused, "the source does not define what is emulated");
}

TEST(MeasurementEvaluation, UtilizationIsThePartOfABatchThatAnAcceleratorComputes) {
    // Two accelerators take batches of 10: at 10 ms a sample each has one in 200 ms, of which it computes 150.
    LoadingRow row;
    row.accelerators = 2;
    row.training = EmulatedTraining{10, 150 * ms, 4, "npz", {}};
    row.accelerator_utilization = 0.6;
    Predictors predictors = fixed_predictors();
    predictors.loading = [](const LoadingRow&) { return 10 * ms; };
    const RowResult r = evaluate(row, test_sources(), predictors);
    EXPECT_NEAR(*r.predicted_utilization, 0.75, 1e-12);
    EXPECT_NEAR(*r.utilization_error(), 0.25, 1e-12);
}

TEST(MeasurementEvaluation, ACollectiveIsTimedByTheCall) {
    const RowResult r = evaluate_one(collective);
    EXPECT_NEAR(*r.step_error(), -0.1, 1e-12);
    EXPECT_EQ(r.series, "collectives above 64 KiB");
}

TEST(MeasurementEvaluation, ARefusalSaysWhatWouldHelp) {
    std::string row(collective);
    row.replace(row.find("\"nodes\": 1"), 10, R"("nodes": 2, "inter_node": {"fabric": "Myrinet"})");
    EXPECT_EQ(evaluate_one(row).refused,
              "fabric \"Myrinet\" is not known here (one of: infiniband, roce, omni-path, efa, aries, tcpx, slingshot, ethernet)");
}

// No row is at fault, and all that stand on the file would be refused for it.
TEST(MeasurementEvaluation, AFileThatANameStandsForIsToBeMendedBeforeAnyRowIsJudged) {
    MeasurementSources sources = test_sources();
    sources.framework = [](std::string_view) -> std::optional<Framework> {
        throw InputError({"frameworks/pytorch-ddp.json", "/nonsense", "unknown key \"nonsense\"", ""});
    };
    const MeasurementFile file = read_one(training);
    EXPECT_THROW(evaluate(file.rows.at(0), sources, fixed_predictors()), InputError);
    sources.framework = [](std::string_view) { return std::optional<Framework>(); };
    EXPECT_TRUE(evaluate(file.rows.at(0), sources, fixed_predictors()).refused);
}

TEST(MeasurementEvaluation, ATransformerWithoutANameIsCalledWhatItIs) {
    const Scenario s = scenario_of(R"({"id": "n", "kind": "training", "model": {"layers": 2, "hidden": 64, "heads": 4},
      "hardware": {"gpu": "A100 SXM4 80GB"}, "plan": {"global_batch": 8, "precision_kind": "fp16"}, "measured": {"step_time_s": 2}})");
    EXPECT_EQ(s.workload.title, "custom transformer");
    EXPECT_TRUE(assumes(s, "MLP as is usual in GPT: no family is stated"));
}

TEST(ValidationJson, HasTheKeysThatOtherProgramsRelyOn) {
    const Validation v{{{"f.json", "", {evaluate_one(training), evaluate_one(loading)}}}};
    const auto json = nlohmann::json::parse(validation_json(v, {.rows = false, .group_by = "gpu"}));
    const auto& file = json.at("files").at(0);
    EXPECT_EQ(file.at("file"), "f.json");
    EXPECT_EQ(file.at("rows"), 2);
    EXPECT_EQ(file.at("predicted"), 1);
    EXPECT_EQ(file.at("refused"), 1);
    for (const char* key : {"mape", "median_ape", "bias", "max_ape"}) {
        EXPECT_NEAR(file.at("step_time").at(key).get<double>(), 0.1, 1e-12);
        EXPECT_NEAR(json.at("total").at("memory").at(key).get<double>(), 0.1, 1e-12);
    }
    const auto& result = file.at("results").at(0);
    EXPECT_EQ(result.at("id"), "t");
    EXPECT_EQ(result.at("counted"), true);
    EXPECT_DOUBLE_EQ(result.at("measured_step_time_s"), 2);
    EXPECT_DOUBLE_EQ(result.at("predicted_step_time_s"), 2.2);
    EXPECT_NEAR(result.at("ape").get<double>(), 0.1, 1e-12);
    EXPECT_DOUBLE_EQ(result.at("measured_memory_bytes"), 1e10);
    EXPECT_DOUBLE_EQ(result.at("predicted_memory_bytes"), 1.1e10);
    EXPECT_EQ(result.at("predicted_fits"), true);
    EXPECT_EQ(file.at("results").at(1).at("refused"), "the source does not define what is emulated");
    EXPECT_FALSE(file.at("results").at(1).contains("predicted_step_time_s"));
    EXPECT_TRUE(json.at("groups").contains("A100 SXM4 80GB"));
}

TEST(ValidationText, TablesLineUpAndMarkdownHasARowPerFile) {
    const Validation v{{{"f.json", "", {evaluate_one(training), evaluate_one(loading)}}}};
    const std::string text = validation_text(v, {.rows = true, .group_by = "gpu"});
    EXPECT_NE(text.find("total (counted rows)"), std::string::npos);
    EXPECT_NE(text.find("refused: the source does not define"), std::string::npos);
    const std::string markdown = validation_markdown(v);
    EXPECT_NE(markdown.find("| f.json | 2 | 2 | 1 | 1 | 10.0 % |"), std::string::npos) << markdown;
    EXPECT_NE(markdown.find("|---|---:"), std::string::npos);
    EXPECT_EQ(markdown.rfind("# Validation\n", 0), 0U);  // a document says what it is about, a terminal does not
    EXPECT_EQ(text.find("# Validation"), std::string::npos);
}

}  // namespace
}  // namespace sextant
