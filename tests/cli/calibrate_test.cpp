// `sextant calibrate` on the machine at hand, as ./run uses it.
#include "model/io/profile/profile_reader.hpp"
#include "model/sextant.hpp"
#include "tests/cli/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

namespace sextant {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

class Calibrate : public testing::Test {
protected:
    void SetUp() override {
        if (!fs::exists(fs::path(SEXTANT_BINARY).parent_path() / "sextant-exec-cpu")) GTEST_SKIP() << "built without oneDNN and MPI";
    }
    void TearDown() override {
        fs::remove(profile_);
        std::error_code written_to;  // by ranks of a program that was killed
        fs::remove_all(runs_, written_to);
    }
    std::string profile_ = (fs::temp_directory_path() / ("sextant-calibrate-test-" + std::to_string(::getpid()) + ".json")).string();
    std::string runs_ = (fs::temp_directory_path() / ("sextant-calibrate-runs-" + std::to_string(::getpid()))).string();
};

// What is said of runs that were there before: what other programs took meanwhile is not known.
std::string without_others(const std::string& out) {
    const std::size_t begin = out.find(", others took"), end = out.find('\n', begin);
    EXPECT_NE(begin, std::string::npos) << out;
    return begin == std::string::npos ? out : out.substr(0, begin) + out.substr(end);
}

TEST_F(Calibrate, WritesAProfileThatPredictsThisMachine) {
    const ProcessResult r = run_sextant({"calibrate", "--quick", "--out", profile_, "--keep", runs_});
    if (r.exit_code == 3 && r.err.find("too busy to be measured") != std::string::npos) GTEST_SKIP() << r.err;
    ASSERT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr("fp32 rate of large GEMMs"));
    Library library = open_library();
    Diagnostics problems;
    const Cluster* cluster = find_cluster(library.catalog, profile_, problems);
    ASSERT_NE(cluster, nullptr) << to_text(problems.list().front());
    ASSERT_TRUE(cluster->calibration);
    EXPECT_GE(cluster->calibration->runs, 5);
    EXPECT_EQ(cluster->node.device.memory_bandwidth.kind, SourceKind::measured);
    // Any core since 2010, and none yet.
    const FlopRate rate = cluster->node.device.peaks.back().rate.value;
    EXPECT_GT(rate.si(), 1e9);
    EXPECT_LT(rate.si(), 1e13);

    // The runs that were kept, fitted anew, say the same.
    const std::vector<std::string> again{"calibrate", "--quick", "--out", profile_, "--keep", runs_, "--passes", "0"};
    fs::remove(profile_);
    const ProcessResult fitted = run_sextant(again);
    ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
    EXPECT_EQ(fitted.out, without_others(r.out));
    std::ofstream(fs::path(runs_) / "many small operators.json") << "{}";
    EXPECT_THAT(run_sextant(again), exits_with(2, HasSubstr("another probe of this name")));
}

TEST_F(Calibrate, RefusesHostsBetweenWhichThereIsNoNetwork) {
    const auto refused = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words{"calibrate", "--out", profile_};
        words.insert(words.end(), more.begin(), more.end());
        const ProcessResult r = run_sextant(words);
        EXPECT_EQ(r.exit_code, 2);
        EXPECT_FALSE(fs::exists(profile_));
        return r.err;
    };
    fs::create_directories(runs_);
    const std::string hosts = runs_ + "/hosts";
    EXPECT_THAT(refused({"--hostfile", hosts}), HasSubstr("no such file"));
    std::ofstream(hosts) << "node1 slots=2\nnode1\n# node2\n";
    EXPECT_THAT(refused({"--hostfile", hosts}), AllOf(HasSubstr(hosts), HasSubstr("it names 1 host"), HasSubstr("two or more")));
    EXPECT_THAT(refused({"--hostfile", hosts, "--backend", "cuda"}), HasSubstr("--from"));
    EXPECT_THAT(refused({"--hostfile", hosts, "--from", hosts}), HasSubstr("excludes"));
}

TEST_F(Calibrate, SaysWhatAMachineWithoutAGpuLacks) {
    const ProcessResult r = run_sextant({"calibrate", "--backend", "cuda", "--out", profile_, "--passes", "0"});
    if (r.exit_code == 2) GTEST_SKIP() << "there is a GPU";
    EXPECT_EQ(r.exit_code, 3);
    EXPECT_THAT(r.err, testing::AnyOf(HasSubstr("no GPU can be measured here"), HasSubstr("-DCMAKE_CUDA_COMPILER=")));
    EXPECT_FALSE(fs::exists(profile_));
}

// All of `calibrate --backend cuda` but the GPU: in place of its executor a program that tells of one, and lets cores run the probes, which
// are small ones here. What comes out is no profile of anything.
TEST_F(Calibrate, GoesFromWhatTheExecutorTellsOfItsGpusToAProfileAndAFramework) {
    const fs::path source = SEXTANT_SOURCE_DIR, bin = fs::path(SEXTANT_BINARY).parent_path(), root = runs_;
    for (const char* folder : {"bin", "calibration"}) fs::create_directories(root / folder);
    for (const char* folder : {"hardware_profiles", "frameworks"}) fs::create_directory_symlink(source / folder, root / folder);
    fs::copy_file(SEXTANT_BINARY, root / "bin/sextant");
    std::ofstream(root / "bin/sextant-exec-cuda") << R"(#!/bin/sh
[ "$1" = --devices ] || exec ')" << (bin / "sextant-exec-cpu").string()
                                                  << R"(' "$@"
echo '{"schema": "devices/1", "devices": [{"name": "NVIDIA H200", "compute_capability": "9.0", "multiprocessors": 132, "clock_hz": 1.98e9,
       "memory_bytes": 1.5e11, "l2_bytes": 5.2e7, "memory_bytes_per_s": 4.9e12, "copies_bytes_per_s": 5e10}]}'
)";
    fs::permissions(root / "bin/sextant-exec-cuda", fs::perms::owner_all);
    std::ofstream(root / "calibration/gpu_probes.json") << R"({"schema": "probes/1", "framework": "sextant-cuda", "probes": [
        {"name": "products in bf16", "workload": {"mlp": {"widths": [16, 128, 128]}}, "plan": {"micro_batch": 64, "precision": "bf16"}},
        {"name": "small", "workload": {"mlp": {"widths": [32, 32, 32]}}, "plan": {"micro_batch": 8}},
        {"name": "tensor halves", "workload": {"mlp": {"widths": [32, 32, 32]}}, "plan": {"micro_batch": 8, "tp": 2}}]})";
    const auto calibrate = [&](const char* passes, const fs::path& keep) {
        return run_program((root / "bin/sextant").string(), {"calibrate", "--backend", "cuda", "--passes", passes, "--keep", keep.string(),
                                                             "--out", profile_, "--profiles", (root / "hardware_profiles").string()});
    };
    const ProcessResult r = calibrate("1", root / "kept");
    if (r.exit_code == 3 && r.err.find("too busy to be measured") != std::string::npos) GTEST_SKIP() << r.err;
    ASSERT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr("1 x NVIDIA H200"));
    EXPECT_THAT(r.out, testing::Not(HasSubstr("tensor halves"))) << "there is one GPU";
    const std::string framework = fs::path(profile_).replace_extension(".framework.json").string();
    EXPECT_THAT(r.out, HasSubstr("--set framework=" + framework));
    Library library = open_library();
    const Scenario s =
        load_scenario(library, source / "scenarios/default.json", {"hardware.cluster=" + profile_, "framework=" + framework, "plan.dp=1"});
    EXPECT_EQ(s.framework.name, "sextant-cuda");
    ASSERT_TRUE(s.cluster.calibration);
    EXPECT_EQ(s.cluster.calibration->processor, "NVIDIA H200");
    EXPECT_EQ(s.cluster.calibration->runs, 2);
    EXPECT_EQ(s.cluster.node.host_link.achievable.kind, SourceKind::measured);
    // What was kept can be carried elsewhere, and fitted to there.
    fs::rename(root / "kept", root / "carried");
    const ProcessResult again = calibrate("0", root / "carried");
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_EQ(again.out, without_others(r.out));
    fs::remove(framework);
}

TEST_F(Calibrate, ThatIsInterruptedLeavesWhatWasThere) {
    std::ofstream(profile_) << "what was there";
    fs::create_directories(runs_);
    for (const char* signal : {"INT", "TERM", "KILL"}) {
        const ProcessResult r = run_program(
            "env", {"TMPDIR=" + runs_, "timeout", "-s", signal, "3", SEXTANT_BINARY, "calibrate", "--quick", "--out", profile_});
        for (const fs::directory_entry& left : fs::directory_iterator(runs_)) {
            if (signal == std::string("KILL")) break;
            EXPECT_THAT(left.path().filename().string(), testing::Not(testing::StartsWith("sextant-"))) << signal;
        }
        EXPECT_NE(r.exit_code, 0) << signal << ": " << r.out;
        std::ostringstream text;
        text << std::ifstream(profile_).rdbuf();
        EXPECT_EQ(text.str(), "what was there") << signal;
        EXPECT_THAT(r.out, testing::Not(HasSubstr("written to"))) << signal;
    }
}

// Logs and profiles made for tests.
const std::string logs = SEXTANT_SOURCE_DIR "/tests/io/logs/";

TEST(CalibrateFrom, LogsMakesAProfileThatPredicts) {
    const std::string profile = testing::TempDir() + "sextant_from_" + std::to_string(::getpid()) + ".json";
    const ProcessResult r = run_sextant({"calibrate", "--from", logs + "nccl_all_reduce.txt", logs + "nccl_all_reduce_two_hosts.txt",
                                         logs + "topo_nvswitch.txt", "--cluster", "dgx-a100-40gb", "--out", profile});
    ASSERT_EQ(r.exit_code, 0) << r.err;
    for (const char* part : {"4 adapters beside the devices", "bandwidth achieved, fraction of NVLink3", "uncertainty",
                             "all_reduce_perf, 16 ranks on 2 hosts", "median error", "hardware.cluster="})
        EXPECT_THAT(r.out, HasSubstr(part));
    Library library = open_library();
    Diagnostics problems;
    const Cluster* cluster = find_cluster(library.catalog, profile, problems);
    ASSERT_NE(cluster, nullptr) << to_text(problems.list().front());
    ASSERT_TRUE(cluster->calibration);
    // The logs are predictions of an earlier model with 2 % of noise, whose trees over nodes and whose steps were faster inside each.
    EXPECT_LT(cluster->calibration->median_error, 0.07);
    EXPECT_EQ(cluster->node.nics, 4);

    const ProcessResult shown = run_sextant({"calibrate", "--show", profile});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr("all_reduce_perf, 8 ranks on 1 host"));
    for (const char* picture : {".svg", ".html"}) {
        EXPECT_EQ(run_sextant({"calibrate", "--show", profile, "--picture", profile + picture}).exit_code, 0);
        EXPECT_GT(fs::file_size(profile + picture), 5000U);
        fs::remove(profile + picture);
    }
    fs::remove(profile);
}

TEST(CalibrateShow, TellsWhichPointsOfItsPictureWereLeftOut) {
    const std::string picture = (fs::temp_directory_path() / ("h200_" + std::to_string(getpid()) + ".svg")).string();
    const ProcessResult r = run_sextant({"calibrate", "--show", "hardware_profiles/clusters/h200-vm.json", "--picture", picture});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    std::stringstream drawn;
    drawn << std::ifstream(picture).rdbuf();
    EXPECT_THAT(drawn.str(), HasSubstr("left out of the fit</text>"));
    fs::remove(picture);
}

TEST(CalibrateFrom, ALogOfOneHostAndItsTopologySayWhichMachineTheyAreOf) {
    const std::string profile = testing::TempDir() + "sextant_named_" + std::to_string(::getpid()) + ".json";
    const ProcessResult r =
        run_sextant({"calibrate", "--from", logs + "nccl_all_reduce.txt", logs + "topo_nvswitch.txt", "--out", profile});
    ASSERT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr("8 x NVIDIA A100-SXM4-40GB, named by the files"));
    EXPECT_EQ(run_sextant({"calibrate", "--show", profile}).exit_code, 0) << "what it wrote does not read back";
    fs::remove(profile);
}

TEST(CalibrateFrom, ALogOfOtherDevicesThanTheClustersIsNamed) {
    const auto warns = [](const std::string& cluster) {
        const ProcessResult r = run_sextant({"calibrate", "--from", logs + "nccl_all_reduce.txt", "--cluster", cluster});
        EXPECT_EQ(r.exit_code, 0) << r.err;
        return r.out.find("is of A100 SXM4 40GB, and " + cluster + " has H100 SXM5 80GB") != std::string::npos;
    };
    EXPECT_TRUE(warns("dgx-h100"));
    EXPECT_FALSE(warns("dgx-a100-40gb"));
}

// Gigabit Ethernet, and a profile with InfiniBand of 100 Gbit/s.
TEST(CalibrateFrom, SaysThatAPriorIsOfAnotherMachine) {
    const std::string warning = "WARNING: the prior is not of such a machine";
    EXPECT_THAT(run_sextant({"calibrate", "--from", logs + "osu_allreduce.txt", "--cluster", "cpu-cluster"}).out, HasSubstr(warning));
    EXPECT_THAT(run_sextant({"calibrate", "--from", logs + "nccl_all_reduce_two_hosts.txt", "--cluster", "dgx-a100-40gb"}).out,
                testing::Not(HasSubstr(warning)));
}

TEST(CalibrateFrom, StepsOfAJobMoveTheClockOfItsDevices) {
    const std::string steps = testing::TempDir() + "sextant_steps_" + std::to_string(::getpid()) + ".json";
    std::ofstream(steps) << R"({"schema": "step-times/1", "scenario": "scenarios/gpt3-175b-1024xa100.json", "steps_s": [34.1, 33.9, 34]})";
    const ProcessResult r = run_sextant({"calibrate", "--from", steps});
    ASSERT_EQ(r.exit_code, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr("sustained clock, fraction of boost"));
    EXPECT_THAT(r.out, HasSubstr("GPT-3 175B on 1,024 A100  step"));
    fs::remove(steps);
}

TEST(CalibrateFrom, RefusesWhatItCannotUseAndSaysWhatWouldHelp) {
    const auto refused = [](const std::vector<std::string>& more, const char* what) {
        std::vector<std::string> words{"calibrate", "--from"};
        words.insert(words.end(), more.begin(), more.end());
        const ProcessResult r = run_sextant(words);
        EXPECT_EQ(r.exit_code, 2) << what;
        EXPECT_THAT(r.err, HasSubstr(what));
    };
    refused({logs + "nccl_all_reduce_two_hosts.txt"}, "which network joins these");
    refused({logs + "nccl_all_reduce.txt"}, "nvidia-smi topo -m");
    refused({logs + "osu_latency.txt"}, "do not say of which machine");
    refused({logs + "README.md"}, "nobody's log");
    const std::string other = testing::TempDir() + "sextant_other_log.txt", out = testing::TempDir() + "x.json";
    std::ofstream(other) << "{\"fio version\": \"fio-3.33\", \"jobs\": []}";
    refused({other, "--out", out}, "sextant calibrate --storage FILE.json");
    std::ofstream(other) << "STREAM version $Revision: 5.10 $\nTriad:  272000.0  0.0089  0.0088  0.0090\n";
    refused({other, "--cluster", "dgx-a100"}, "is its \"stream_fraction\"");
    std::ofstream(other) << R"({"schema": "run/3", "trace": )";
    refused({other, "--out", out}, "not valid JSON");
    std::ofstream(other) << "{}";
    refused({other, "--out", out}, "a document without a schema, in which nothing was measured");
    fs::remove(other);
    refused({logs + "nccl_all_reduce.txt", logs + "osu_latency.txt", "--cluster", "dgx-a100"}, "a profile holds one library");
    refused({logs + "nccl_all_reduce_two_hosts.txt", "--cluster", "pcie-4x1080ti"}, "no place on");
    refused({"scenarios/gpt3-175b-1024xa100.json", "--out", out}, "a scenario (scenario/1), in which nothing was measured");
    const std::string bundled = SEXTANT_SOURCE_DIR "/measurements/collectives";
    for (const auto& file : fs::directory_iterator(bundled)) {
        refused({file.path().string(), "--out", out}, "of many machines");
        refused({file.path().string(), logs + "osu_latency.txt"}, "published measurements beside logs");
        break;
    }
    EXPECT_EQ(run_sextant({"calibrate", "--show", "dgx-a100"}).exit_code, 2);
}

// Moved away from the scenario that it names.
TEST(CalibrateFrom, ARunWhoseScenarioIsNotThereIsNamed) {
    const std::string run = testing::TempDir() + "sextant_moved_" + std::to_string(::getpid()) + ".json";
    fs::copy_file(SEXTANT_SOURCE_DIR "/fuzz/corpus/run/data_parallel.json", run);
    EXPECT_THAT(run_sextant({"calibrate", "--from", run}),
                exits_with(2, HasSubstr(run + ": it is of the scenario \"scenario.json\", which is neither here nor beside it")));
    fs::remove(run);
}

TEST_F(Calibrate, SaysBeforeItMeasuresWhatItCannotWriteOrWasNotTold) {
    EXPECT_EQ(run_sextant({"calibrate", "--quick", "--out", "/no/such/folder/p.json"}).exit_code, 3);
    EXPECT_EQ(run_sextant({"calibrate"}).exit_code, 2);
    EXPECT_EQ(run_sextant({"calibrate", "--from", "/no/such/file.json"}).exit_code, 2);
}

}  // namespace
}  // namespace sextant
