#include "model/io/profile/profile_reader.hpp"

#include "model/io/profile/profile_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace sextant {
namespace {

namespace fs = std::filesystem;
using namespace units;
using testing::HasSubstr;

const fs::path bundled = fs::path(SEXTANT_SOURCE_DIR) / "hardware_profiles";

constexpr auto minimal_device = R"({"schema": "device/1", "name": "mine", "memory": "24 GiB", "memory_bandwidth": "1 TB/s",
    "peaks": [{"input": "fp16", "unit": "tensor", "rate": "160 TFLOP/s"}]})";

constexpr auto minimal_cluster = R"({"schema": "cluster/1", "name": "my-box",
    "node": {"device": "RTX 3090", "devices": 4, "host": {"sockets": 1, "cores": 32, "memory": "256 GiB"}}})";

// A directory of its own for one test, with the files that the test writes.
class Files : public testing::Test {
protected:
    void SetUp() override {
        directory_ = fs::temp_directory_path() / ("sextant-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
        fs::create_directories(directory_);
    }
    void TearDown() override { fs::remove_all(directory_); }
    std::string write(const std::string& name, std::string_view text) const {
        const fs::path path = directory_ / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
        return path.string();
    }
    [[nodiscard]] const fs::path& directory() const { return directory_; }

private:
    fs::path directory_;
};

using DeviceFile = Files;
using ClusterFile = Files;
using ProfileCatalog = Files;

// The problem at `pointer`, as one text; empty when there is none.
std::string problem_at(const Diagnostics& problems, std::string_view pointer) {
    for (const Diagnostic& d : problems.list())
        if (d.pointer == pointer) return to_text(d);
    return {};
}

Diagnostics problems_of(const std::string& file) {
    Catalog catalog = open_catalog(bundled);
    Diagnostics problems;
    check_profile(catalog, file, problems);
    return problems;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST_F(ProfileCatalog, FindsByFileNameByNameAndByAliasWhateverTheSpelling) {
    for (const char* name : {"a100-sxm4-40gb", "A100 SXM4 40GB", "a100", "A100_SXM4_40gb"}) {
        Catalog catalog = open_catalog(bundled);
        Diagnostics problems;
        const Device* d = find_device(catalog, name, problems);
        ASSERT_NE(d, nullptr) << name;
        EXPECT_EQ(d->name, "A100 SXM4 40GB");
    }
    Catalog catalog = open_catalog(bundled);
    Diagnostics problems;
    EXPECT_NE(find_device(catalog, "gtx-1080ti", problems), nullptr);
    EXPECT_NE(find_link(catalog, "pcie GEN4 x16", problems), nullptr);
    EXPECT_NE(find_storage(catalog, "lustre, flash (lumi-f)", problems), nullptr);
    EXPECT_NE(find_library(catalog, "NCCL", problems), nullptr);
    EXPECT_NE(find_cluster(catalog, "snellius", problems), nullptr);
    EXPECT_TRUE(problems.empty());
}

TEST_F(ProfileCatalog, LoadsOneFileForOneName) {
    Catalog catalog = open_catalog(bundled);
    Diagnostics problems;
    const Device* first = find_device(catalog, "h100-sxm5-80gb", problems);
    EXPECT_EQ(catalog.devices.loaded.size(), 1U);
    EXPECT_FALSE(catalog.devices.indexed);
    EXPECT_EQ(find_device(catalog, "h100", problems), first);
}

TEST_F(ProfileCatalog, NamesTheNearestProfilesWhenThereIsNone) {
    Catalog catalog = open_catalog(bundled);
    Diagnostics problems;
    EXPECT_EQ(find_cluster(catalog, "snelius-gcn", problems, {"scenario.json", "/hardware/cluster"}), nullptr);
    ASSERT_EQ(problems.list().size(), 1U);
    const std::string text = to_text(problems.list().front());
    EXPECT_THAT(text, HasSubstr("scenario.json:/hardware/cluster"));
    EXPECT_THAT(text, HasSubstr("no cluster is called \"snelius-gcn\""));
    EXPECT_THAT(text, HasSubstr("did you mean \"snellius-gcn\""));
    EXPECT_THAT(text, HasSubstr("`sextant profiles list` has all names"));
}

TEST_F(ProfileCatalog, SurvivesNamesThatAreNone) {
    Catalog catalog = open_catalog(bundled);
    for (const std::string& name : {std::string(), std::string("../../etc/passwd"), std::string(100000, 'x'), std::string("\0\xff", 2)}) {
        Diagnostics problems;
        EXPECT_EQ(find_device(catalog, name, problems), nullptr);
        EXPECT_FALSE(problems.empty());
    }
}

TEST_F(ProfileCatalog, ReadsAFileBesideTheDocumentThatNamesIt) {
    write("gpu.json", minimal_device);
    const std::string cluster = write("box.json", replaced(minimal_cluster, "\"RTX 3090\"", "\"gpu.json\""));
    Catalog catalog = open_catalog(bundled);
    Diagnostics problems;
    const Cluster* c = find_cluster(catalog, cluster, problems);
    ASSERT_NE(c, nullptr) << (problems.empty() ? "" : to_text(problems.list().front()));
    EXPECT_EQ(c->node.device.name, "mine");
}

TEST_F(ProfileCatalog, AProfileInTheDirectoryIsKnownByItsAliases) {
    write("devices/mine.json", replaced(minimal_device, "\"name\"", "\"aliases\": [\"Big Mine\"], \"name\""));
    Catalog catalog = open_catalog(directory());
    Diagnostics problems;
    EXPECT_NE(find_device(catalog, "big-mine", problems), nullptr);
}

TEST_F(ProfileCatalog, AnyDeviceIsKnownWithAndWithoutItsMakersWords) {
    Catalog catalog = open_catalog(bundled);
    for (const auto& [name, meant] : {std::pair("H100 80GB HBM3", "H100 SXM5 80GB"), std::pair("NVIDIA GeForce RTX 4060", "RTX 4060"),
                                      std::pair("RTX 6000 Ada Generation", "RTX 6000 Ada"), std::pair("Tesla P4", "P4")}) {
        Diagnostics problems;
        const Device* device = find_device(catalog, name, problems);
        ASSERT_NE(device, nullptr) << name;
        EXPECT_EQ(device->name, meant);
    }
}

TEST_F(ProfileCatalog, TheDataRootIsWhatIsAskedForOrARefusal) {
    fs::create_directories(directory() / "devices");
    EXPECT_THROW(find_data_root(directory()), InputError);
    fs::create_directories(directory() / "clusters");
    EXPECT_EQ(find_data_root(directory()), directory());
    ::setenv("SEXTANT_PROFILES", directory().c_str(), 1);
    EXPECT_EQ(find_data_root(), directory());
    ::unsetenv("SEXTANT_PROFILES");
    EXPECT_EQ(find_data_root(), bundled);
}

TEST_F(DeviceFile, NeedsNameMemoryBandwidthAndOnePeakAndTheRestIsEstimated) {
    Catalog catalog = open_catalog(bundled);
    Diagnostics problems;
    const Device* d = find_device(catalog, write("mine.json", minimal_device), problems);
    ASSERT_NE(d, nullptr);
    EXPECT_DOUBLE_EQ(d->memory.value / GiB, 24);
    EXPECT_EQ(d->memory.source, "stated in mine.json");
    EXPECT_EQ(d->peaks.front().accumulate, DataType::fp32);  // the usual one
    EXPECT_EQ(d->kernel_overhead.kind, SourceKind::estimated);
    EXPECT_NE(matrix_path(*d, DataType::fp64, false).peak, nullptr);
}

TEST_F(DeviceFile, NumbersTakeTheSourceOfTheirObjectUnlessTheyNameTheirOwn) {
    const std::string text = replaced(replaced(minimal_device, "\"name\"", "\"kind\": \"datasheet\", \"source\": \"the box\", \"name\""),
                                      "\"1 TB/s\"", R"({"value": "1 TB/s", "kind": "measured", "source": "a benchmark"})");
    Catalog catalog = open_catalog(bundled);
    Diagnostics problems;
    const Device* d = find_device(catalog, write("mine.json", text), problems);
    ASSERT_NE(d, nullptr);
    EXPECT_EQ(d->memory.kind, SourceKind::datasheet);
    EXPECT_EQ(d->peaks.front().rate.source, "the box");
    EXPECT_EQ(d->memory_bandwidth.kind, SourceKind::measured);
    EXPECT_EQ(d->memory_bandwidth.source, "a benchmark");
}

TEST_F(DeviceFile, ReportsEveryProblemAtOnceWithFilePointerAndHint) {
    const std::string file = write("bad.json", R"({"schema": "device/1", "name": 7, "memory": "24", "memory_bandwith": "1 TB/s",
        "clock": "-1 GHz", "usable_memory": "1e40 GiB", "stream_fraction": 1.5, "multiprocessors": 2.5,
        "peaks": [{"input": "fp17", "unit": "tensor", "rate": "160 TFLOP/s"}, {"input": "fp16", "rate": "20 us"}]})");
    const Diagnostics problems = problems_of(file);
    EXPECT_THAT(problem_at(problems, "/name"), HasSubstr("expected a text"));
    EXPECT_THAT(problem_at(problems, "/memory"), HasSubstr("unit missing"));
    EXPECT_THAT(problem_at(problems, "/memory_bandwith"), HasSubstr("did you mean \"memory_bandwidth\"?"));
    EXPECT_THAT(problem_at(problems, ""), HasSubstr("\"memory_bandwidth\" is missing"));
    EXPECT_THAT(problem_at(problems, "/clock"), HasSubstr("must be at least"));
    EXPECT_THAT(problem_at(problems, "/usable_memory"), HasSubstr("must be at most"));
    EXPECT_THAT(problem_at(problems, "/stream_fraction"), HasSubstr("must be at most 1"));
    EXPECT_THAT(problem_at(problems, "/multiprocessors"), HasSubstr("not a whole number"));
    EXPECT_THAT(problem_at(problems, "/peaks/0/input"), HasSubstr("did you mean \"fp16\"?"));
    EXPECT_THAT(problem_at(problems, "/peaks/1/rate"), HasSubstr("not a unit of compute rate"));
    EXPECT_THAT(problem_at(problems, "/peaks/1"), HasSubstr("\"unit\" is missing"));
    for (const Diagnostic& d : problems.list()) EXPECT_EQ(d.file, file);
}

TEST_F(DeviceFile, RefusesAPeakThatIsStatedTwiceAndADeviceWithoutAny) {
    const std::string twice =
        replaced(minimal_device, "\"peaks\": [", R"("peaks": [{"input": "fp16", "unit": "tensor", "rate": "80 TFLOP/s"},)");
    EXPECT_THAT(problem_at(problems_of(write("twice.json", twice)), "/peaks/1"), HasSubstr("stated twice"));
    const std::string none = R"({"schema": "device/1", "name": "x", "memory": "1 GiB", "memory_bandwidth": "1 GB/s", "peaks": []})";
    EXPECT_THAT(problem_at(problems_of(write("none.json", none)), "/peaks"), HasSubstr("at least one"));
}

TEST_F(DeviceFile, RefusesMoreUsableMemoryThanThereIs) {
    const std::string text = replaced(minimal_device, "\"name\"", "\"usable_memory\": \"25.5 GiB\", \"name\"");
    EXPECT_THAT(problem_at(problems_of(write("x.json", text)), "/usable_memory"), HasSubstr("more than the memory"));
}

TEST_F(DeviceFile, ReadsGemmMeasurementsBesideIt) {
    write(
        "mine.gemm.json",
        R"({"schema": "gemm/1", "source": "my bench", "curves": [{"type": "fp16", "n": 1024, "k": 512, "m": [1, 64], "time_us": [2.5, 3]}]})");
    const std::string text = replaced(minimal_device, "\"name\"", "\"gemm_curves\": \"mine.gemm.json\", \"name\"");
    Catalog catalog = open_catalog(bundled);
    Diagnostics problems;
    const Device* d = find_device(catalog, write("mine.json", text), problems);
    ASSERT_NE(d, nullptr);
    ASSERT_EQ(d->gemm_curves.size(), 1U);
    EXPECT_EQ(d->gemm_curves[0].k, 512);
    EXPECT_DOUBLE_EQ(d->gemm_curves[0].points[1].time / us, 3);
    write(
        "mine.gemm.json",
        R"({"schema": "gemm/1", "source": "my bench", "curves": [{"type": "fp16", "n": 1024, "k": 512, "m": [64, 1], "time_us": [2.5, 3]}]})");
    EXPECT_THAT(problem_at(problems_of((directory() / "mine.json").string()), "/curves/0/m/1"), HasSubstr("ascend"));
}

TEST_F(ClusterFile, ASingleBoxNeedsLittle) {
    Catalog catalog = open_catalog(bundled);
    Diagnostics problems;
    const Cluster* c = find_cluster(catalog, write("box.json", minimal_cluster), problems);
    ASSERT_NE(c, nullptr) << to_text(problems.list().front());
    EXPECT_EQ(c->node.host_link.name, "PCIe gen4 x16");  // that of the device
    EXPECT_EQ(c->node.host.thread_speed.kind, SourceKind::estimated);
    EXPECT_EQ(c->node.nics, 0);
}

TEST_F(ClusterFile, KeepsWhatAThreadDoesWithSamples) {
    const std::string text = replaced(minimal_cluster, "\"cores\": 32", R"("cores": 32, "samples": {"kind": "measured", "source": "me",
        "decode_jpeg": "180 MB/s", "resize": "300 MB/s", "formats": {"tar": {"read": "3 us", "write_bytes": "2 GB/s"}}})");
    Catalog catalog = open_catalog(bundled);
    Diagnostics problems;
    const Cluster* read = find_cluster(catalog, write("box.json", text), problems);
    ASSERT_NE(read, nullptr) << to_text(problems.list().front());
    // Written and read again.
    const Cluster* c = find_cluster(catalog, write("again.json", cluster_to_profile(*read)), problems);
    ASSERT_NE(c, nullptr) << to_text(problems.list().front());
    const SampleSpeeds& s = c->node.host.samples;
    EXPECT_NEAR(s.decode_jpeg->value / (units::MB / units::s), 180, 1e-9);
    EXPECT_EQ(s.decode_jpeg->source, "me");
    EXPECT_FALSE(s.decode_png);
    const FormatSpeed& tar = s.formats.find("tar")->second;
    EXPECT_NEAR(tar.read->value / units::us, 3, 1e-9);
    EXPECT_NEAR(tar.write_bytes->value / (units::GB / units::s), 2, 1e-9);
    EXPECT_EQ(tar.write_bytes->kind, SourceKind::measured);
    const auto wrong = problems_of(write("wrong.json", replaced(text, "\"tar\"", "\"tarr\"")));
    EXPECT_THAT(problem_at(wrong, "/node/host/samples/formats/tarr"), HasSubstr("\"tar\""));
}

TEST_F(ClusterFile, LinkCountsMustBeSquareAndSymmetricWithAZeroDiagonal) {
    const auto with_counts = [&](const std::string& counts) {
        return problems_of(
            write("box.json", replaced(minimal_cluster, "\"devices\": 4",
                                       R"("devices": 2, "peers": {"layout": "matrix", "link": "NVLink3", "link_count": )" + counts + "}")));
    };
    EXPECT_TRUE(with_counts("[[0, 2], [2, 0]]").empty());
    EXPECT_THAT(problem_at(with_counts("[[0, 2], [1, 0]]"), "/node/peers/link_count"),
                HasSubstr("not symmetric: 2 links from 0 to 1, 1 back"));
    EXPECT_THAT(problem_at(with_counts("[[1, 2], [2, 0]]"), "/node/peers/link_count"), HasSubstr("links to itself"));
    EXPECT_THAT(problem_at(with_counts("[[0, 2, 1], [2, 0, 1]]"), "/node/peers/link_count/0"), HasSubstr("3 numbers for 2 devices"));
    EXPECT_THAT(problem_at(with_counts("[[0, 2]]"), "/node/peers/link_count"), HasSubstr("1 rows for 2 devices"));
    EXPECT_THAT(problem_at(with_counts("[[0, 0], [0, 0]]"), "/node/peers/link_count"), HasSubstr("no links at all"));
    EXPECT_THAT(problem_at(with_counts("[[0, -1], [-1, 0]]"), "/node/peers/link_count/0/1"), HasSubstr("must be at least 0"));
}

TEST_F(ClusterFile, WhatDoesNotFitTogetherIsReportedTogether) {
    const std::string file =
        write("bad.json", R"x({"schema": "cluster/1", "name": "bad", "nodes": 4, "node": {"device": "A1000", "devices": 6,
        "devices_per_switch": 4, "peers": {"layout": "pairs", "link": "NVLink9", "domain": 12}, "nics": 2,
        "host": {"sockets": 2, "cores": 1, "memory": "256 GiB"}}, "shared_storage": ["Lustr, flash (LUMI-F)"]})x");
    const Diagnostics problems = problems_of(file);
    EXPECT_THAT(problem_at(problems, "/node/device"), HasSubstr("no device is called \"A1000\""));
    EXPECT_THAT(problem_at(problems, "/node/devices_per_switch"), HasSubstr("4 does not divide the node's 6 devices"));
    EXPECT_THAT(problem_at(problems, "/node/peers/link"), HasSubstr("did you mean \"NVLink"));
    EXPECT_THAT(problem_at(problems, "/node/peers/domain"), HasSubstr("only a crossbar"));
    EXPECT_THAT(problem_at(problems, "/node"), HasSubstr("\"nic_link\" is missing"));
    EXPECT_THAT(problem_at(problems, "/node/host"), HasSubstr("\"socket_link\" is missing"));
    EXPECT_THAT(problem_at(problems, "/node/host/cores"), HasSubstr("fewer cores than sockets"));
    EXPECT_THAT(problem_at(problems, ""), HasSubstr("\"fabric\" is missing"));
    EXPECT_THAT(problem_at(problems, "/shared_storage/0"), HasSubstr("did you mean \"Lustre, flash (LUMI-F)\""));
}

TEST_F(ClusterFile, ChangesOfAnotherAreReportedWhereTheyStand) {
    const auto problems_in = [&](const std::string& text) {
        Catalog catalog = open_catalog(bundled);
        Diagnostics problems;
        Cluster c;
        EXPECT_FALSE(read_cluster_reference(JsonFile::from_text(text, "job.json", problems).root(), catalog, c));
        return problems;
    };
    const Diagnostics wrong = problems_in(R"({"base": "selene", "nodes": 0, "node": {"nicks": 4, "devices": 5, "device": "A1000"}})");
    EXPECT_THAT(problem_at(wrong, "/nodes"), HasSubstr("at least 1"));
    EXPECT_THAT(problem_at(wrong, "/node/nicks"), HasSubstr("did you mean \"nics\""));
    EXPECT_THAT(problem_at(wrong, "/node/device"), HasSubstr("no device is called"));
    EXPECT_THAT(problem_at(wrong, "/node/devices_per_switch"), HasSubstr("does not divide the node's 5 devices"));
    EXPECT_THAT(problem_at(problems_in(R"({"base": "selen"})"), "/base"), HasSubstr("no cluster is called"));
    EXPECT_THAT(problem_at(problems_in(R"({"base": 7})"), "/base"), HasSubstr("expected the name"));
    EXPECT_THAT(problem_at(problems_in(R"({"base": "selene", "node": 8})"), "/node"), HasSubstr("object"));
    // A file is whole: else two could name each other.
    EXPECT_THAT(problem_at(problems_of(write("again.json", R"({"schema": "cluster/1", "base": "again.json"})")), "/base"),
                HasSubstr("unknown key"));
}

TEST_F(ClusterFile, FileSystemsHaveTheNamesThatUsersKnow) {
    const std::string systems = R"x("file_systems": {"tmp": "local", "scratch": "NFS (SURF Lisa)",
        "datasets": {"name": "mine", "type": "nfs", "read_only": true, "capacity": "3 TB"}}, "slurm": {"partition": "gpu"}, "node": )x";
    const std::string box =
        replaced(replaced(minimal_cluster, "\"node\": ", systems), "\"devices\": 4", R"("devices": 4, "local_storage": "NVMe gen4, 7 TB")");
    Catalog catalog = open_catalog(bundled);
    Diagnostics none;
    const Cluster* found = find_cluster(catalog, write("box.json", box), none);
    ASSERT_NE(found, nullptr) << (none.empty() ? "" : to_text(none.list().front()));
    const Cluster& c = *found;
    ASSERT_EQ(c.file_systems.size(), 3u);
    EXPECT_EQ(c.file_systems.at("tmp").name, "NVMe gen4, 7 TB");
    EXPECT_EQ(c.file_systems.at("scratch").name, "NFS (SURF Lisa)");
    EXPECT_TRUE(c.file_systems.at("datasets").read_only);
    EXPECT_EQ(c.slurm.partition, "gpu");
    const std::string bare =
        replaced(minimal_cluster, "\"node\": ", R"("file_systems": {"tmp": "local"}, "local_storage_nodes": 1, "node": )");
    const Diagnostics problems = problems_of(write("bare.json", bare));
    EXPECT_THAT(problem_at(problems, "/file_systems/tmp"), HasSubstr("the nodes have no local disk"));
    EXPECT_THAT(problem_at(problems, "/local_storage_nodes"), HasSubstr("node.local_storage is missing"));
}

TEST_F(ClusterFile, ADeviceThatIsBrokenIsReportedInItsOwnFile) {
    const std::string device = write("gpu.json", R"({"schema": "device/1", "name": "x"})");
    const Diagnostics problems = problems_of(write("box.json", replaced(minimal_cluster, "\"RTX 3090\"", "\"gpu.json\"")));
    ASSERT_FALSE(problems.empty());
    for (const Diagnostic& d : problems.list()) EXPECT_EQ(d.file, device);
}

TEST_F(ClusterFile, AnyBytesGiveDiagnosticsAndNoCrash) {
    for (const char* text :
         {"", "{", "[]", "7", "null", "{\"schema\": 1}", "{\"schema\": \"cluster/1\"}", "{\"schema\": \"device/1\", \"peaks\": {}}",
          "{\"schema\": \"cluster/1\", \"node\": []}", "{\"schema\": \"cluster/1\", \"node\": {\"device\": {\"device\": {}}}}",
          "{\"schema\": \"links/1\", \"links\": [[], {}, null]}", "{\"schema\": \"library/1\", \"protocols\": [{\"ring_step\": 3}]}",
          "{\"schema\": \"cluster/1\", \"node\": {\"devices\": 1e300, \"peers\": {\"layout\": \"matrix\", \"link_count\": [[[]]]}}}"})
        EXPECT_FALSE(problems_of(write("x.json", text)).empty()) << text;
}

}  // namespace
}  // namespace sextant
