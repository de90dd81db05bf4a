#include "model/io/measurement/measurement_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sextant {
namespace {

MeasurementFile read(std::string_view text, std::vector<Diagnostic>& problems) {
    Diagnostics diagnostics;
    MeasurementFile file = read_measurements(text, "rows.json", diagnostics);
    problems = diagnostics.list();
    return file;
}

TEST(MeasurementReader, ReadsARowAndPassesOverKeysThatItDoesNotKnow) {
    std::vector<Diagnostic> problems;
    const MeasurementFile file = read(R"({"source": {"title": "T", "url": "U", "commit": "c"}, "rows": [
        {"id": "a", "kind": "training", "suspect": "figures disagree", "future": 1, "hardware": {"gpu": "A100 SXM4 80GB", "gpus": 16, "nodes": 2, "cooling": "water"},
         "plan": {"dp": 16, "grad_accum": null, "cuda_graph": "none/full_iteration", "offload": ["x", "y"]},
         "measured": {"step_time_s": 1.5, "memory_bytes": 7e9}}]})",
                                      problems);
    EXPECT_TRUE(problems.empty());
    EXPECT_EQ(file.title, "T");
    ASSERT_EQ(file.rows.size(), 1U);
    const auto& row = std::get<TrainingRow>(file.rows[0]);
    EXPECT_EQ(row.hardware.nodes, 2);
    EXPECT_FALSE(row.plan.grad_accum);
    EXPECT_EQ(row.plan.cuda_graph, "none/full_iteration");
    EXPECT_EQ(row.plan.offload, (std::vector<std::string>{"x", "y"}));
    EXPECT_DOUBLE_EQ(*row.step_time / units::s, 1.5);
    EXPECT_DOUBLE_EQ(*row.memory / units::GB, 7);
    EXPECT_TRUE(row.header.suspect);
    EXPECT_FALSE(row.header.counted());
}

TEST(MeasurementReader, ALoadingRowHasItsSampleSizeInMebibytes) {
    std::vector<Diagnostic> problems;
    const MeasurementFile file = read(R"({"rows": [{"id": "l", "kind": "loading", "hardware": {"hosts": 3},
        "workload": {"workload": "unet3d", "num_accelerators": 12, "mb_per_sample": 139.8}, "measured": {"samples_per_s": 250}}]})",
                                      problems);
    EXPECT_TRUE(problems.empty());
    const auto& row = std::get<LoadingRow>(file.rows.at(0));
    EXPECT_EQ(row.hosts, 3);
    EXPECT_DOUBLE_EQ(row.sample / units::MiB, 139.8);
    EXPECT_DOUBLE_EQ(row.samples_per_second->si(), 250);
}

TEST(MeasurementReader, ALoadingRowKnowsWhatItsSourceEmulates) {
    std::vector<Diagnostic> problems;
    const MeasurementFile file = read(R"({"source": {"workload_definitions": [
            {"workload": "unet3d", "accelerator": "h100", "batch_size": 7, "computation_time_s": 0.323, "read_threads": 4, "format": "npz",
             "au_threshold": 0.9},
            {"workload": "unet3d", "accelerator": "a100", "batch_size": 7, "computation_time_s": 0.636}]},
        "rows": [{"id": "l", "kind": "loading", "hardware": {"node_read_bytes_per_s": 7e9},
                  "workload": {"workload": "unet3d", "emulated_accelerator": "h100", "num_accelerators": 8}, "measured": {"samples_per_s": 250}},
                 {"id": "m", "kind": "loading", "workload": {"workload": "unet3d", "emulated_accelerator": "b200", "num_accelerators": 8}}]})",
                                      problems);
    EXPECT_TRUE(problems.empty());
    const auto& row = std::get<LoadingRow>(file.rows.at(0));
    ASSERT_TRUE(row.training && row.node_bandwidth);
    EXPECT_EQ(row.training->batch, 7);
    EXPECT_DOUBLE_EQ(row.training->computation / units::s, 0.323);
    EXPECT_EQ(row.training->threads, 4);
    EXPECT_DOUBLE_EQ(row.training->least_utilization.value(), 0.9);
    EXPECT_DOUBLE_EQ(row.node_bandwidth->si(), 7e9);
    EXPECT_FALSE(std::get<LoadingRow>(file.rows.at(1)).training);
}

TEST(MeasurementReader, ALoadingRowKnowsWhetherItsSystemHadMoreAccelerators) {
    std::vector<Diagnostic> problems;
    const auto row = [](const char* system, int hosts, int accelerators) {
        return R"({"id": "l", "kind": "loading", "hardware": {"system": ")" + std::string(system) + R"(", "hosts": )" +
               std::to_string(hosts) + R"(}, "workload": {"workload": "unet3d", "num_accelerators": )" + std::to_string(accelerators) +
               "}}";
    };
    const MeasurementFile file =
        read(R"({"rows": [)" + row("A/unet3d/8", 1, 8) + "," + row("A/unet3d/12", 1, 12) + "," + row("A/unet3d/24", 3, 24) + "," +
                 row("B/unet3d/8", 1, 8) + "," + row("C/unet3d/unet3d_8acc", 1, 8) + "]}",
             problems);
    EXPECT_TRUE(problems.empty());
    std::vector<bool> most;
    for (const MeasurementRow& r : file.rows) most.push_back(std::get<LoadingRow>(r).most_accelerators);
    EXPECT_EQ(most, (std::vector<bool>{false, true, true, true, false}));  // the last is one of several by its name
}

TEST(MeasurementReader, ARowOfWrongTypesOrHugeOrNegativeNumbersSaysAllThatIsWrongAndOthersAreRead) {
    std::vector<Diagnostic> problems;
    const MeasurementFile file = read(R"({"rows": [
        {"id": "a", "kind": "training", "hardware": {"gpu": 5, "gpus": -1}, "plan": {"dp": 1e99, "recompute_modules": "x"}, "measured": {"step_time_s": -3}},
        {"id": "b", "kind": "dancing"},
        {"id": "c", "kind": "collective", "hardware": {"ranks": 2.5}, "measured": []},
        {"id": "d", "kind": "loading", "workload": {"workload": "resnet50", "num_accelerators": 4}, "measured": {"samples_per_s": 10}},
        7]})",
                                      problems);
    EXPECT_TRUE(problems.empty());  // of the file
    std::vector<std::string> ids, places;
    for (const MeasurementRow& row : file.rows) {
        ids.push_back(header_of(row).id);
        const auto* unread = std::get_if<UnreadRow>(&row);
        if (unread == nullptr) continue;
        for (const Diagnostic& d : unread->problems) {
            EXPECT_EQ(d.file, "rows.json");
            places.push_back(d.pointer);
        }
    }
    EXPECT_EQ(ids, (std::vector<std::string>{"a", "b", "c", "d", "/rows/4"}));
    EXPECT_TRUE(std::holds_alternative<LoadingRow>(file.rows[3]));
    const std::vector<std::string> expected{"/rows/0/hardware/gpus",
                                            "/rows/0/hardware/gpu",
                                            "/rows/0/plan/dp",
                                            "/rows/0/plan/recompute_modules",
                                            "/rows/0/measured/step_time_s",
                                            "/rows/1/kind",
                                            "/rows/2/hardware/ranks",
                                            "/rows/2/measured",
                                            "/rows/4"};
    for (const std::string& place : expected) EXPECT_NE(std::ranges::find(places, place), places.end()) << place;
}

TEST(MeasurementReader, ATrainingRowMaySayItsPlanInBooleansAndItsSpeedAsThroughput) {
    std::vector<Diagnostic> problems;
    const MeasurementFile file = read(R"({"rows": [
        {"id": "a", "kind": "training", "hardware": {"gpu": "A100", "gpus": 8}, "plan": {"fsdp": true, "recompute": true}, "measured": {"images_per_s_per_gpu": 100}},
        {"id": "b", "kind": "training", "hardware": {"gpu": "A100", "gpus": 8}, "plan": {"fsdp": false, "recompute": false}, "measured": {"tokens_per_s": 5000}}]})",
                                      problems);
    EXPECT_TRUE(problems.empty());
    const auto& images = std::get<TrainingRow>(file.rows.at(0));
    EXPECT_EQ(images.plan.fsdp, "FULL_SHARD");
    EXPECT_EQ(images.plan.recompute, "full");
    EXPECT_DOUBLE_EQ(images.samples_per_second->si(), 800);
    const auto& tokens = std::get<TrainingRow>(file.rows.at(1));
    EXPECT_EQ(tokens.plan.fsdp, "");
    EXPECT_EQ(tokens.plan.recompute, "none");
    EXPECT_DOUBLE_EQ(tokens.tokens_per_second->si(), 5000);
}

TEST(MeasurementReader, ASourceMayDefineItsMemoryAsWhatAnAllocatorHandsOut) {
    const auto is_allocated = [](const std::string& words) {
        std::vector<Diagnostic> problems;
        const MeasurementFile file = read(R"({"source": {"definitions": {"memory": ")" + words + R"("}}, "rows": [
            {"id": "a", "kind": "training", "measured": {"memory_bytes": 1e9}}]})",
                                          problems);
        EXPECT_TRUE(problems.empty());
        return std::get<TrainingRow>(file.rows.at(0)).memory_is_allocated;
    };
    EXPECT_TRUE(is_allocated("max over ranks of torch.cuda.max_memory_allocated"));
    EXPECT_FALSE(is_allocated("GB reported by nvidia-smi"));
}

TEST(MeasurementReader, FilesThatAreNoMeasurementsAreDiagnosed) {
    std::vector<Diagnostic> problems;
    for (const char* text : {"", "[1, 2]", "{}", "null", "{\"rows\": 3}", "{\"rows\": [", "{\"source\": 1, \"rows\": []}"}) {
        const MeasurementFile file = read(text, problems);
        EXPECT_FALSE(problems.empty()) << text;
        EXPECT_TRUE(file.rows.empty());
    }
    Diagnostics diagnostics;
    load_measurements("no/such/file.json", diagnostics);
    EXPECT_FALSE(diagnostics.empty());
}

}  // namespace
}  // namespace sextant
