// Calibration of GPUs that are made up: probes are "measured" by predicting them with known numbers, as an executor would show them, and
// the numbers must come out again.
#include "model/calibrate/calibration.hpp"
#include "model/io/calibration/device_facts.hpp"
#include "model/io/calibration/probe_reader.hpp"
#include "model/io/profile/framework_writer.hpp"
#include "model/io/profile/profile_writer.hpp"
#include "model/sextant.hpp"
#include "tests/base/refusal.hpp"
#include "tests/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace sextant {
namespace {

using namespace units;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

const MachineFacts host{"made-up", "Some CPU", 16, 128 * GiB, {}, false};

DeviceFacts gpu(const std::string& name, const std::string& capability) {
    return {name, capability, 132, 1.98 * GHz, 139 * GiB, 50 * MiB, 4.9 * TB / s, 50 * GB / s};
}

std::string topology(const char* file) {
    std::ostringstream text;
    text << std::ifstream(fs::path(SEXTANT_SOURCE_DIR) / "tests/io/logs" / file).rdbuf();
    return text.str();
}

class MadeUpGpus : public TemporaryFolder {
protected:
    // The bundled probes on such a machine, all that it has ranks for.
    std::vector<Scenario> probes(const Cluster& machine) {
        std::ofstream(folder_ / "machine.json") << cluster_to_profile(machine);
        std::vector<Scenario> list;
        for (const Probe& p : load_probes(library_.root / "calibration" / "gpu_probes.json")) {
            if (machine.node.devices % p.cut != 0) continue;
            std::ofstream(folder_ / "probe.json") << probe_to_scenario(p, folder_ / "machine.json");
            list.push_back(load_scenario(library_, folder_ / "probe.json"));
            EXPECT_TRUE(check_plan(list.back()).empty()) << p.name;
        }
        return list;
    }

    // Of a device that waits for its host a run shows nothing but longer spans of kernels.
    static std::vector<ProbeRun> runs(const std::vector<Scenario>& probes, const std::vector<ProfileParameter>& parameters,
                                      const std::vector<double>& truth) {
        std::vector<ProbeRun> list;
        for (const Scenario& probe : probes) {
            Scenario real = probe;
            for (std::size_t j = 0; j < truth.size(); ++j) parameters[j].set(real, truth[j]);
            Terms shown = estimate(prepare(real)).terms;
            shown[Term::forward] += shown[Term::launch];
            shown[Term::launch] = Seconds{};
            list.push_back({probe.name, probe, shown, 0.01, {}});
        }
        return list;
    }

    // The numbers that come out of runs on a machine on which each is as many times what is guessed.
    void expect_found(const Cluster& machine, const std::vector<std::pair<std::string, double>>& times) {
        const std::vector<Scenario> jobs = probes(machine);
        const std::vector<ProfileParameter> parameters = gpu_parameters(jobs.front());
        std::vector<double> truth;
        for (const ProfileParameter& p : parameters) truth.push_back(p.get(jobs.front()));
        const auto place_of = [&](const std::string& name) {
            const auto at = std::ranges::find(parameters, name, &ProfileParameter::name);
            EXPECT_NE(at, parameters.end()) << name;
            return static_cast<std::size_t>(at - parameters.begin());
        };
        for (const auto& [name, factor] : times) truth.at(place_of(name)) *= factor;
        const Calibration found = calibrate(runs(jobs, parameters, truth), parameters, "a test");
        for (const auto& [name, factor] : times) {
            const CalibratedParameter& p = found.parameters.at(place_of(name));
            // What was thought before draws at what few runs decide.
            EXPECT_NEAR(p.value / truth.at(place_of(name)), 1, std::max(0.05, 2 * p.spread)) << name;
            EXPECT_TRUE(p.is_measured()) << name;
        }
        EXPECT_LT(found.median_error, 0.01);
    }

    Library library_ = open_library();
};

TEST_F(MadeUpGpus, ComeOutAsTheyAre) {
    const Cluster machine = guessed_cluster(library_, host, {gpu("NVIDIA H200", "9.0")}, "");
    EXPECT_EQ(machine.node.device.name, "H200 SXM 141GB");
    EXPECT_EQ(machine.node.devices, 1);
    expect_found(machine, {{"fp32 rate of large GEMMs, fraction of peak", 1.2},
                           {"tf32 rate of large GEMMs, fraction of peak", 0.7},
                           {"bf16 rate of large GEMMs, fraction of peak", 0.9},
                           {"fp16 rate of large GEMMs, fraction of peak", 0.8},
                           {"memory bandwidth achieved, fraction of peak", 1.2},
                           {"time between two kernels", 0.8},
                           {"bytes_in_flight", 0.8},
                           {"dispatch", 1.5},
                           {"step_overhead", 1.5},
                           {"attention_efficiency", 1.5},
                           {"convolution_efficiency", 0.7}});
}

TEST_F(MadeUpGpus, OfWhichThereAreSeveralHaveLinksAndALibrary) {
    const std::vector<DeviceFacts> two(2, gpu("NVIDIA H200", "9.0"));
    const Cluster machine =
        guessed_cluster(library_, host, two, "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV18\t0-15\nGPU1\tNV18\t X \t0-15\n");
    ASSERT_EQ(machine.node.devices, 2);
    EXPECT_NE(machine.node.peers.layout, PeerLayout::none);
    expect_found(machine, {{"bf16 rate of large GEMMs, fraction of peak", 0.9},
                           {"bandwidth achieved, fraction of " + machine.node.peers.link.name, 0.7},
                           {"dispatch", 1.5}});
    EXPECT_EQ(guessed_cluster(library_, host, {8, gpu("NVIDIA A100-SXM4-40GB", "8.0")}, topology("topo_nvswitch.txt")).node.peers.layout,
              PeerLayout::crossbar);
    // Where nobody says how they are wired: as their boards are.
    EXPECT_EQ(guessed_cluster(library_, host, two, "").node.peers.layout, PeerLayout::crossbar);
    EXPECT_EQ(guessed_cluster(library_, host, {2, gpu("Tesla T4", "7.5")}, "").node.peers.layout, PeerLayout::none);
}

TEST_F(MadeUpGpus, ThatNobodyDescribedAreAfterThoseOfTheirCapability) {
    DeviceFacts facts = gpu("NVIDIA H999", "9.0");
    facts.multiprocessors = 66;
    const Device& d = guessed_cluster(library_, host, {facts}, "").node.device;
    EXPECT_EQ(d.name, "NVIDIA H999");
    EXPECT_EQ(d.memory_bandwidth.value, facts.memory_bandwidth);
    // 66 multiprocessors at 1.98 GHz, 4096 operations each: half of an H200's 989.4 TFLOP/s, which are at 1.83 GHz.
    EXPECT_NEAR(d.peak(DataType::bf16, ComputeUnit::tensor)->rate.value / (TFLOP / s), 535, 2);
    EXPECT_EQ(d.peak(DataType::bf16, ComputeUnit::tensor)->rate.kind, SourceKind::estimated);

    const Device old = guessed_cluster(library_, host, {gpu("NVIDIA P999", "6.1")}, "").node.device;
    EXPECT_EQ(old.architecture, "pascal");
    EXPECT_EQ(old.peak(DataType::fp16, ComputeUnit::tensor), nullptr);
}

TEST_F(MadeUpGpus, ThatAreNotAlikeAreRefused) {
    const std::vector<DeviceFacts> two_kinds{gpu("NVIDIA H200", "9.0"), gpu("NVIDIA L40S", "8.9")};
    EXPECT_THAT(refusal_by([&] { return guessed_cluster(library_, host, two_kinds, ""); }), HasSubstr("CUDA_VISIBLE_DEVICES"));
}

TEST_F(MadeUpGpus, KeepWhatTheirFrameworkTakesInAFileThatReadsBack) {
    const std::vector<Scenario> jobs = probes(guessed_cluster(library_, host, {gpu("NVIDIA H200", "9.0")}, ""));
    const std::vector<ProfileParameter> parameters = gpu_parameters(jobs.front());
    const Calibration found = calibrate(runs(jobs, parameters, {}), parameters, "a test");
    const fs::path file = folder_ / "h200.framework.json";
    std::ofstream(file) << framework_to_profile(library_.root / "frameworks" / "sextant-cuda.json", found.calibrated.framework);
    std::ofstream(folder_ / "h200.json") << cluster_to_profile(calibrated_cluster(found, host, "2026-01-02"));
    std::ofstream(folder_ / "probe.json") << probe_to_scenario(load_probes(library_.root / "calibration" / "gpu_probes.json").front(),
                                                               folder_ / "h200.json");
    const Scenario again = load_scenario(library_, folder_ / "probe.json", {"framework=" + file.string()});
    EXPECT_EQ(again.framework.name, "sextant-cuda");
    EXPECT_EQ(again.framework.dispatch.kind, SourceKind::measured);
    EXPECT_THAT(again.framework.dispatch.source, HasSubstr("a test, uncertainty"));
    EXPECT_EQ(again.framework.backward_dispatch.value, again.framework.dispatch.value);
    EXPECT_NEAR(again.framework.attention_efficiency.value, found.calibrated.framework.attention_efficiency.value, 1e-9);
    EXPECT_EQ(again.cluster.node.device.stream_fraction.kind, SourceKind::measured);
    EXPECT_NEAR(again.cluster.node.host_link.achievable.value, 50.0 / (again.cluster.node.host_link.bandwidth.value / (GB / s)), 1e-6);
}

TEST(DeviceFactsDocument, ReadsBackAndSaysWhatIsWrong) {
    const std::vector<DeviceFacts> read = device_facts_from_json(device_facts_to_json({gpu("NVIDIA H200", "9.0")}), "devices");
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read[0].name, "NVIDIA H200");
    EXPECT_EQ(read[0].compute_capability, "9.0");
    EXPECT_EQ(read[0].multiprocessors, 132);
    EXPECT_EQ(read[0].clock, 1.98 * GHz);
    EXPECT_EQ(read[0].memory, 139 * GiB);
    EXPECT_EQ(read[0].l2, 50 * MiB);
    EXPECT_EQ(read[0].memory_bandwidth, 4.9 * TB / s);
    EXPECT_EQ(read[0].copies, 50 * GB / s);
    EXPECT_THROW(device_facts_from_json(R"({"schema": "devices/1", "devices": [{"name": "x"}]})", "devices"), InputError);
    EXPECT_THROW(device_facts_from_json("Segmentation fault", "devices"), InputError);
}

}  // namespace
}  // namespace sextant
