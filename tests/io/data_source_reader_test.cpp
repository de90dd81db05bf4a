#include "model/io/scenario/data_source_reader.hpp"

#include "tests/io/scenario_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::fixtures {
namespace {

using namespace units;
using ::testing::HasSubstr;

constexpr std::string_view image_job = R"({
    "schema": "scenario/1", "name": "test", "workload": "resnet50", "hardware": {"cluster": "single"}, "framework": "plain",
    "plan": {"dp": 4, "micro_batch": 64}})";

// The test's world knows no storage by name.
std::string data_with(const std::string& fields) {
    return R"(data={"storage": {}, "sample_size": "110 KB")" + (fields.empty() ? "" : ", " + fields) + "}";
}
DataSource good(const std::string& fields, const std::vector<std::string>& more = {}) {
    std::vector<std::string> overrides = more;
    overrides.push_back(data_with(fields));
    const ReadScenario read = read_text(image_job, overrides);
    EXPECT_TRUE(read.problems.empty()) << all_of(read.problems);
    return read.scenario.data;
}

TEST(DataSourceReader, TakesEveryField) {
    const DataSource d = good(R"("samples": 5000, "encoding": "jpeg", "decoded_size": "420 KB", "format": "tar", "samples_per_file": 100,
        "shuffle": "none", "transform": "convert", "workers": 7, "prefetch": 3, "pinned": false, "copy_each_sample": true,
        "other_jobs": 0.25, "page_cache": "1 GB", "staging": {"mode": "untar", "to": {}},
        "checkpoints": {"storage": {}, "every": "30 min", "asynchronous": true})");
    EXPECT_FALSE(d.synthetic);
    EXPECT_EQ(d.samples, 5000);
    EXPECT_EQ(d.sample_bytes, 110 * KB);
    EXPECT_EQ(d.encoding, SampleEncoding::jpeg);
    EXPECT_EQ(d.decoded_bytes, 420 * KB);
    EXPECT_EQ(d.format, DataFormat::tar);
    EXPECT_EQ(d.samples_per_file, 100);
    EXPECT_EQ(shuffle_of(d), Shuffle::none);
    EXPECT_EQ(transform_of(d), Transform::convert);
    EXPECT_EQ(d.workers, 7);
    EXPECT_EQ(d.prefetch, 3);
    EXPECT_FALSE(d.pinned);
    EXPECT_TRUE(d.by_sample);
    EXPECT_EQ(d.others, 0.25);
    EXPECT_EQ(d.page_cache, 1 * GB);
    EXPECT_EQ(d.staging.mode, StagingMode::untar);
    ASSERT_TRUE(d.staging.to && d.checkpoints);
    EXPECT_EQ(d.checkpoints->every, 30 * minute);
    EXPECT_TRUE(d.checkpoints->asynchronous);
}

TEST(DataSourceReader, TakesWhatFormatAndEncodingImply) {
    EXPECT_EQ(shuffle_of(good("")), Shuffle::full);
    EXPECT_EQ(shuffle_of(good(R"("format": "tfrecord")")), Shuffle::window);
    EXPECT_EQ(transform_of(good("")), Transform::none);
    EXPECT_EQ(transform_of(good(R"("encoding": "png")")), Transform::resize);
    EXPECT_TRUE(good("").storage->open_latency) << "what a class leaves open is completed";
}

TEST(DataSourceReader, HasAsManySamplesAsAnEpochOfTheRun) {
    EXPECT_EQ(good("", {R"(run={"epochs": 2, "dataset_samples": 777})"}).samples, 777);
    const ReadScenario other = read_text(image_job, {data_with(R"("samples": 5)"), R"(run={"epochs": 2})"});
    EXPECT_TRUE(other.problems.empty()) << all_of(other.problems);
    EXPECT_EQ(other.scenario.run.dataset_samples, 5);
}

TEST(DataSourceReader, KeepsCheckpointsOfSyntheticData) {
    const ReadScenario read = read_text(image_job, {R"(data={"checkpoints": {"storage": {}, "every_steps": 100}})"});
    EXPECT_TRUE(read.problems.empty()) << all_of(read.problems);
    EXPECT_TRUE(read.scenario.data.synthetic);
    EXPECT_EQ(read.scenario.data.checkpoints->every_steps, 100);
}

StorageClass class_named(const char* name, bool shared) {
    StorageClass s;
    s.name = name;
    s.shared = shared;
    return s;
}

// As "scratch" and "$SCRATCH", by class, or by what they are to a job; whatever else is looked up elsewhere, and who knows nothing of it is
// told what there is.
TEST(DataSourceReader, KnowsTheClustersFileSystemsByName) {
    Cluster c;
    c.name = "box";
    c.shared_storage = {class_named("first", true)};
    c.node.local_storage = class_named("disk", false);
    c.file_systems = {{"home", class_named("home of box", true)}, {"scratch", class_named("scratch of box", true)}};
    Diagnostics problems;
    const auto found = [&](const std::string& name) {
        const JsonFile file = JsonFile::from_text('"' + name + '"', "test", problems);
        const auto nobody = [](const JsonNode& n) {
            n.complain("no such class", "look again");
            return StorageClass{};
        };
        return read_job_storage(file.root(), nobody, c).name;
    };
    EXPECT_EQ(found("scratch"), "scratch of box");
    EXPECT_EQ(found("$SCRATCH"), "scratch of box");
    EXPECT_EQ(found("home of box"), "home of box");
    EXPECT_EQ(found("shared"), "first");
    EXPECT_EQ(found("local"), "disk");
    EXPECT_TRUE(problems.empty());
    found("projects");
    ASSERT_EQ(problems.list().size(), 1u);
    EXPECT_EQ(problems.list()[0].what, "no such class");
    EXPECT_EQ(problems.list()[0].hint, R"(box has "shared", "local", "home", "scratch"; or name a storage class; look again)");
}

struct Refused {
    std::string data;
    std::string pointer;
    std::string what;
};
class DataSourceReaderRefuses : public ::testing::TestWithParam<Refused> {};

TEST_P(DataSourceReaderRefuses, WithPlaceAndReason) {
    const ReadScenario read = read_text(image_job, {GetParam().data});
    ASSERT_EQ(read.problems.size(), 1u) << all_of(read.problems);
    EXPECT_EQ(read.problems[0].pointer, GetParam().pointer);
    EXPECT_THAT(read.problems[0].what, HasSubstr(GetParam().what));
    EXPECT_FALSE(read.problems[0].hint.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Data, DataSourceReaderRefuses,
    ::testing::Values(Refused{data_with(R"("format": "tar", "shuffle": "full")"), "/data/shuffle", "read from its beginning"},
                      Refused{data_with(R"("samples_per_file": 3)"), "/data/samples_per_file", "one sample in each file"},
                      Refused{data_with(R"("decoded_size": "1 MB")"), "/data/decoded_size", "raw samples are not decoded"},
                      Refused{data_with(R"("format": "parquet")"), "/data/format", "\"parquet\" is not known"},
                      Refused{data_with(R"("worker": 3)"), "/data/worker", "unknown key"},
                      Refused{data_with(R"("samples": 9, "staging": {"mode": "copy"})"), "/data/staging", "\"to\" is missing"},
                      Refused{data_with(R"("samples": 9, "staging": {"mode": "untar", "to": {}})"), "/data/staging/mode", "unpacked"},
                      Refused{data_with(R"("staging": {"mode": "copy", "to": {}})"), "/data", "\"samples\" is missing"},
                      Refused{data_with(R"("checkpoints": {"storage": {}})"), "/data/checkpoints", "stated nowhere"},
                      Refused{data_with(R"("checkpoints": {"storage": {}, "every": "1 h", "every_steps": 2})"), "/data/checkpoints",
                              "stated twice"},
                      Refused{R"(data={"synthetic": true, "sample_size": "1 GiB"})", "/data/sample_size", "has no effect"},
                      Refused{R"(data={"storage": "shared", "sample_size": "1 KB"})", "/data/storage", "nothing about shared storage"},
                      Refused{R"(data={"storage": {}, "sample_size": "1 KB", "synthetic": true, "workers": 2})", "/data/storage",
                              "synthetic data is not read"}));

}  // namespace
}  // namespace sextant::fixtures
