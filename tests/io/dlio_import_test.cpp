#include "model/io/storage_benchmark/dlio_import.hpp"

#include "model/io/storage_benchmark/storage_benchmark_reader.hpp"
#include "tests/base/refusal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using namespace units;
using testing::ElementsAre;
using testing::HasSubstr;

StorageBenchmark read(const std::string& document) {
    Diagnostics diagnostics;
    JsonFile file = JsonFile::from_text(document, "imported.json", diagnostics);
    file.set("storage=any");
    ScenarioSources sources;
    sources.storage = [](const JsonNode&) { return StorageClass{}; };
    StorageBenchmark benchmark = read_storage_benchmark(file, sources);
    diagnostics.throw_if_any();
    return benchmark;
}
StorageBenchmark imported(std::string_view yaml) { return read(import_dlio(yaml, "w.yaml")); }

std::vector<Diagnostic> problems_of(std::string_view yaml) {
    return problems_found_by([&] { return import_dlio(yaml, "w.yaml"); });
}

constexpr std::string_view volumes = R"(
model:
  name: volumes
  model_size: 500000000
framework: pytorch
workflow:
  generate_data: False
  train: True
  checkpoint: True
dataset:
  data_folder: data/volumes/
  format: npz
  num_files_train: 168
  num_samples_per_file: 1
  record_length_bytes: 146600628
  record_length_bytes_stdev: 68341808
reader:
  data_loader: pytorch
  batch_size: 7
  read_threads: 4
  file_shuffle: seed
train:
  epochs: 5
  computation_time: 0.323
checkpoint:
  checkpoint_after_epoch: 5
  epochs_between_checkpoints: 2
metric:
  au: 0.90
)";

TEST(DlioImport, TakesWhatDecidesHowMuchIsReadWhen) {
    const StorageBenchmark b = imported(volumes);
    EXPECT_EQ(b.title, "volumes, as DLIO runs it");
    const BenchmarkTraining& t = *b.training;
    EXPECT_EQ(t.batch, 7);
    EXPECT_NEAR(t.computation / ms, 323, 1e-9);
    EXPECT_EQ(t.readers, 4);
    EXPECT_EQ(t.files, 168);
    EXPECT_EQ(t.sample, 146600628 * B);
    EXPECT_EQ(t.format, DataFormat::files);
    EXPECT_EQ(t.shuffle, Shuffle::window);
    EXPECT_EQ(t.epochs, 5);
    EXPECT_EQ(t.least_utilization, 0.9);
    EXPECT_EQ(b.checkpoint->size, 500 * MB);
    EXPECT_EQ(b.checkpoint->writers, 1);
    EXPECT_EQ(b.checkpoint->first_epoch, 5);
    EXPECT_EQ(b.checkpoint->every_epochs, 2);
    EXPECT_FALSE(b.accelerators);
}

TEST(DlioImport, NamesWhatHasNoInfluenceAndWhatItDoesNotKnow) {
    EXPECT_THAT(imported(volumes).notes,
                ElementsAre("without influence here: dataset.data_folder, dataset.record_length_bytes_stdev, reader.data_loader, "
                            "workflow.generate_data"));
    const StorageBenchmark b = imported("train: {computation_time: 1, epoch: 3}\nworkflow: {evaluation: true}\nhydra: 1\n");
    EXPECT_THAT(b.notes, ElementsAre("evaluation is not predicted", "not known here, and passed over: hydra, train.epoch"));
}

TEST(DlioImport, KnowsTheKeysOfWhatTheWorkloadDoesNot) {
    const StorageBenchmark b = imported("train: {computation_time: 1}\ncheckpoint: {epochs_between_checkpoints: 2}\n");
    EXPECT_THAT(b.notes, ElementsAre("without influence here: checkpoint.epochs_between_checkpoints"));
}

TEST(DlioImport, WritesNoControlCharacters) {
    const StorageBenchmark b = imported("model: {name: \"a\\e[31mred one\"}\ntrain: {computation_time: 1, \"b\\b\": 3}\n");
    EXPECT_EQ(b.title, "a?[31mred one, as DLIO runs it");
    EXPECT_THAT(b.notes, ElementsAre("not known here, and passed over: train.b?"));
}

TEST(DlioImport, AssumesWhatDlioDoes) {
    const StorageBenchmark b = imported("train: {computation_time: 0.5}");
    const BenchmarkTraining& t = *b.training;
    EXPECT_EQ(t.batch, 1);
    EXPECT_EQ(t.readers, 1);
    EXPECT_EQ(t.sample, 65536 * B);
    EXPECT_EQ(t.shuffle, Shuffle::none);
    EXPECT_EQ(t.epochs, 1);
    EXPECT_EQ(t.least_utilization, 0.9);
    EXPECT_FALSE(b.checkpoint);
}

TEST(DlioImport, TakesTheMeanOfADistribution) {
    const auto mean_s = [](const std::string& time) {
        return imported("train: {computation_time: " + time + "}").training->computation / s;
    };
    EXPECT_NEAR(mean_s("{mean: 0.25, stdev: 0.1}"), 0.25, 1e-12);
    EXPECT_NEAR(mean_s("{type: uniform, min: 0.5, max: 1.5}"), 1, 1e-12);
    EXPECT_NEAR(mean_s("{type: gamma, shape: 2, scale: 0.3}"), 0.6, 1e-12);
    EXPECT_NEAR(mean_s("{type: exponential, scale: 0.3}"), 0.3, 1e-12);
    EXPECT_NEAR(mean_s("{type: poisson, lam: 2}"), 2, 1e-12);
}

TEST(DlioImport, KnowsHowItsFormatsLieOnStorage) {
    const auto training = [](const std::string& dataset) {
        return *imported("train: {computation_time: 1}\nreader: {sample_shuffle: seed}\ndataset: {" + dataset + "}").training;
    };
    EXPECT_EQ(training("format: tfrecord, num_samples_per_file: 1251").format, DataFormat::tfrecord);
    EXPECT_EQ(training("format: tfrecord, num_samples_per_file: 1251").shuffle, Shuffle::window);  // read from its beginning
    EXPECT_EQ(training("format: hdf5, num_samples_per_file: 2").format, DataFormat::hdf5);
    EXPECT_EQ(training("format: hdf5, num_samples_per_file: 2").shuffle, Shuffle::full);
    EXPECT_EQ(training("format: jpeg").encoding, SampleEncoding::jpeg);
    EXPECT_EQ(training("format: mmap_indexed_binary, num_samples_per_file: 9").format, DataFormat::npy);
}

TEST(DlioImport, CountsTheCheckpointOfATransformer) {
    const StorageBenchmark b = imported(R"(
model:
  type: transformer
  num_layers: 3
  parallelism: {tensor: 2, pipeline: 1, zero_stage: 3}
  transformer: {vocab_size: 1000, hidden_size: 64, ffn_hidden_size: 128, num_attention_heads: 4, num_kv_heads: 2}
workflow: {train: False, checkpoint: True}
checkpoint: {num_checkpoints_write: 10, num_checkpoints_read: 10}
)");
    // Two embeddings of 1000 x 64; a layer's two norms of 64, queries, keys and values of 64 x (64 + 2 x 2 x 16), a projection of 64 x 64
    // and three matrices of 64 x 128; a norm. 2 bytes of each weight, 3 x 4 of its optimizer.
    const double layer = 2 * 64 + 64 * 128 + 64 * 64 + 3 * 64 * 128;
    EXPECT_NEAR(b.checkpoint->size / B, (2 * 64000 + 3 * layer + 64) * 14, 1e-6);
    EXPECT_FALSE(b.checkpoint->writers);  // every rank has a part
    EXPECT_EQ(b.checkpoint->writes, 10);
    EXPECT_FALSE(b.training);
    // Llama 3 70B: 912 GiB by MLPerf Storage (Submission_guidelines.md, table 2).
    const StorageBenchmark large = imported(R"(
model:
  num_layers: 80
  parallelism: {zero_stage: 3}
  transformer: {vocab_size: 128256, hidden_size: 8192, ffn_hidden_size: 28672, num_attention_heads: 128, num_kv_heads: 8}
workflow: {train: False, checkpoint: True}
)");
    EXPECT_NEAR(large.checkpoint->size / GiB, 912, 1);
}

TEST(DlioImport, PointsAtEveryProblemByLineAndColumn) {
    const std::vector<Diagnostic> problems =
        problems_of("dataset:\n  format: parket\n  num_files_train: many\nreader:\n  batch_size: 1.5\ntrain:\n  computation_time: 0\n");
    ASSERT_EQ(problems.size(), 4U);
    EXPECT_EQ(problems[0].pointer, "3:20");
    EXPECT_THAT(problems[0].what, HasSubstr("must be a number"));
    EXPECT_EQ(problems[1].pointer, "2:11");
    EXPECT_THAT(problems[1].what, HasSubstr("parket"));
    EXPECT_EQ(problems[2].pointer, "5:15");
    EXPECT_EQ(problems[3].pointer, "7:3");
    EXPECT_EQ(problems[0].file, "w.yaml");
    const std::vector<Diagnostic> broken = problems_of("train: {computation_time: 1\nreader: [");
    ASSERT_EQ(broken.size(), 1U);
    EXPECT_THAT(broken[0].what, HasSubstr("no YAML"));
    EXPECT_EQ(broken[0].pointer, "2:7");
}

TEST(DlioImport, TakesNoKeyTwice) {
    std::string twice(volumes);
    twice.replace(twice.find("  batch_size: 7\n"), 0, "  batch_size: 70\n");
    const std::vector<Diagnostic> problems = problems_of(twice);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].what, "\"batch_size\" stands twice");
}

TEST(DlioImport, RefusesWhatHasNothingToPredict) {
    EXPECT_EQ(problems_of("- a\n- b\n").size(), 1U);
    EXPECT_EQ(problems_of("").size(), 1U);
    EXPECT_EQ(problems_of("workflow: {train: false, generate_data: true}\n").size(), 1U);
    EXPECT_EQ(problems_of("train: {epochs: 2}\n").size(), 1U);
    EXPECT_THAT(problems_of("train: {computation_time: 1}\ndataset: {format: synthetic}").at(0).what, HasSubstr("nowhere"));
    EXPECT_FALSE(problems_of("train: 3\nreader: [a]\n").empty());
}

}  // namespace
}  // namespace sextant
