// Calibration on machines that are made up: probes are "measured" by predicting them with known numbers, which must come out again.
#include "model/calibrate/calibration.hpp"
#include "model/io/calibration/calibration_writer.hpp"
#include "model/io/calibration/probe_reader.hpp"
#include "model/io/profile/profile_reader.hpp"
#include "model/io/profile/profile_writer.hpp"
#include "model/plan/partition.hpp"
#include "model/report/operator_comparison.hpp"
#include "model/sextant.hpp"
#include "tests/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include <unistd.h>

namespace sextant {
namespace {

namespace fs = std::filesystem;

class MadeUpMachine : public TemporaryFolder {
protected:
    void SetUp() override {
        TemporaryFolder::SetUp();
        make_up(facts_);
    }

    void make_up(const MachineFacts& facts) {
        const Cluster machine = guessed_cluster(library_, facts);
        std::ofstream(folder_ / "machine.json") << cluster_to_profile(machine);
        parameters_ = cpu_parameters(machine.node);
    }

    void connect_three_hosts() {
        std::ofstream(folder_ / "machine.json") << cluster_to_profile(connected_hosts(guessed_cluster(library_, facts_), 3));
        std::ranges::move(network_parameters(), std::back_inserter(parameters_));
    }

    [[nodiscard]] std::size_t index_of(const std::string& name) const {
        return static_cast<std::size_t>(std::ranges::find(parameters_, name, &ProfileParameter::name) - parameters_.begin());
    }

    // What is thought of each parameter before anything is measured.
    [[nodiscard]] std::vector<double> guesses(const Scenario& probe) const {
        std::vector<double> values;
        for (const ProfileParameter& p : parameters_) values.push_back(p.get(probe));
        return values;
    }

    // All bundled probes, as a machine with these values would run them, or so many of its hosts.
    std::vector<ProbeRun> runs(const std::vector<double>& truth, const char* probes = "probes.json",
                               std::optional<int> hosts = std::nullopt) {
        std::vector<ProbeRun> list;
        for (const Probe& p : load_probes(library_.root / "calibration" / probes)) {
            std::ofstream(folder_ / "probe.json") << probe_to_scenario(p, folder_ / "machine.json", hosts);
            ProbeRun run{p.name, load_scenario(library_, folder_ / "probe.json"), {}, 0.01, {}};
            Scenario real = run.scenario;
            for (std::size_t j = 0; j < truth.size(); ++j) parameters_[j].set(real, truth[j]);
            run.measured = estimate(prepare(real)).terms;
            list.push_back(std::move(run));
        }
        return list;
    }

    // As such a machine would time each operator, forward and backward.
    void time_operators(ProbeRun& run, const std::vector<double>& truth) const {
        Scenario real = run.scenario;
        for (std::size_t j = 0; j < truth.size(); ++j) parameters_[j].set(real, truth[j]);
        const Prepared job = prepare(real);
        const std::vector<Block> blocks = cut_network(real).templates;
        for (std::size_t b = 0; b < blocks.size(); ++b)
            for (std::size_t o = 0; o < blocks[b].graph.operators().size(); ++o)
                for (const SpanKind kind : {SpanKind::forward, SpanKind::backward})
                    run.operators.push_back({static_cast<int>(b), static_cast<int>(o), blocks[b].name, "", kind, 1, {}});
        const std::vector<Seconds> times = predicted_call_times(job, run.operators);
        for (std::size_t i = 0; i < times.size(); ++i) run.operators[i].time = times[i];
    }

    const MachineFacts facts_{"made-up", "Some CPU", 2, 16 * units::GiB, 1 * units::MiB, true};
    Library library_ = open_library();
    std::vector<ProfileParameter> parameters_;
};

TEST_F(MadeUpMachine, ComesOutAsItIs) {
    std::vector<double> truth = guesses(runs({}).front().scenario);
    // Twice as fast in products, half as fast in memory, slower in functions and to start.
    truth[0] *= 2;
    truth[1] *= 0.5;
    truth[3] *= 1.5;
    truth[4] *= 3;
    // And products in bf16, which come last, three times as fast.
    const std::size_t bf16 = truth.size() - 1;
    ASSERT_EQ(parameters_[bf16].name, "bf16 rate of large GEMMs");
    truth[bf16] *= 3;
    const Calibration found = calibrate(runs(truth), parameters_, "a test");
    for (const std::size_t j : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{4}, bf16}) {
        EXPECT_NEAR(found.parameters[j].value / truth[j], 1, 0.03) << parameters_[j].name;
        EXPECT_TRUE(found.parameters[j].is_measured()) << parameters_[j].name;
    }
    EXPECT_LT(found.median_error, 0.01);
}

TEST_F(MadeUpMachine, StreamsFasterWithOneCoreThanEachBesideOthers) {
    std::vector<double> truth = guesses(runs({}).front().scenario);
    const std::size_t alone = index_of("memory bandwidth of a core alone, over that beside others");
    truth[alone] = 1.6;
    const Calibration found = calibrate(runs(truth), parameters_, "a test");
    EXPECT_NEAR(found.parameters[alone].value, 1.6, 0.03);
    EXPECT_TRUE(found.parameters[alone].is_measured());
}

// Times of a step leave open how much of it is exponentials and how much the products of attention.
TEST_F(MadeUpMachine, IsKnownBetterByTheTimesOfOperators) {
    std::vector<double> truth = guesses(runs({}).front().scenario);
    const std::size_t exponential = index_of("time of an exponential"), attention = index_of("fused attention backward, fraction of peak");
    truth[exponential] *= 0.4;
    truth[attention] *= 2;
    std::vector<ProbeRun> measured = runs(truth);
    const Calibration by_steps = calibrate(measured, parameters_, "a test");
    for (ProbeRun& run : measured) time_operators(run, truth);
    const Calibration found = calibrate(measured, parameters_, "a test");
    for (const std::size_t j : {exponential, attention}) {
        EXPECT_NEAR(found.parameters[j].value / truth[j], 1, 0.01) << parameters_[j].name;
        EXPECT_LT(found.parameters[j].spread, 0.85 * by_steps.parameters[j].spread) << parameters_[j].name;
    }
    EXPECT_EQ(found.residuals.size(), by_steps.residuals.size()) << "what is shown are steps and their terms";
    EXPECT_GT(found.operators, 100);
    EXPECT_LT(found.median_operator_error, 0.01);
    EXPECT_THAT(calibration_to_text(found), testing::HasSubstr(std::to_string(found.operators) + " operators as well"));
}

TEST_F(MadeUpMachine, HasNoRateThatItHasNoInstructionsFor) {
    const NodeSpec node = guessed_cluster(library_, {"made-up", "Some CPU", 2, 16 * units::GiB, 1 * units::MiB}).node;
    EXPECT_EQ(node.device.peak(DataType::bf16, ComputeUnit::tensor), nullptr);
    EXPECT_EQ(cpu_parameters(node).size() + 1, parameters_.size());
}

TEST_F(MadeUpMachine, HasTheNetworkBetweenItsHosts) {
    connect_three_hosts();
    const std::size_t bandwidth = parameters_.size() - 2, latency = parameters_.size() - 1, rate = 0;
    std::vector<double> truth = guesses(runs({}, "network_probes.json", 3).front().scenario);
    truth[bandwidth] *= 0.12;  // a gigabit
    truth[latency] *= 4;
    std::vector<ProbeRun> measured = runs(truth, "probes.json", 1);
    for (ProbeRun& run : runs(truth, "network_probes.json", 3)) {
        run.measured[Term::forward] = 3 * run.measured[Term::forward];  // on a host that is busy with something else
        measured.push_back(std::move(run));
    }
    const Calibration found = calibrate(measured, parameters_, "a test");
    for (const std::size_t j : {bandwidth, latency, rate}) {
        EXPECT_NEAR(found.parameters[j].value / truth[j], 1, 0.03) << parameters_[j].name;
        EXPECT_TRUE(found.parameters[j].is_measured()) << parameters_[j].name;
    }
    const Cluster cluster = calibrated_cluster(found, facts_, "2026-01-02");
    EXPECT_EQ(cluster.nodes, 3);
    EXPECT_EQ(cluster.title, "3 hosts like made-up: 2 cores of Some CPU");
    EXPECT_THAT(cluster.assumptions, testing::Contains("all hosts are like made-up, whose cores were measured"));
    EXPECT_EQ(cluster.node.nic_link.bandwidth.kind, SourceKind::measured);
}

// Not by its kernels either, which may be another host's.
TEST_F(MadeUpMachine, LearnsNothingFromAnExchangeThatIsTooShortToBeTimed) {
    connect_three_hosts();
    std::vector<ProbeRun> measured = runs({}, "probes.json", 1);
    for (ProbeRun& run : runs({}, "network_probes.json", 3)) {
        run.measured[Term::data_communication] = 10 * units::us;
        measured.push_back(std::move(run));
    }
    const Calibration found = calibrate(measured, parameters_, "a test");
    EXPECT_THAT(found.residuals, testing::Each(testing::Field(&ProbeResidual::probe, testing::Not(testing::HasSubstr("between hosts")))));
}

// Not even where every probe runs as if all that it touches lay there.
TEST_F(MadeUpMachine, FindsNoMoreInTheSharedCacheThanThereIs) {
    make_up({"made-up", "Some CPU", 2, 16 * units::GiB, 1 * units::MiB, true, 32 * units::MiB});
    std::vector<double> truth = guesses(runs({}).front().scenario);
    const std::size_t found_there = index_of("what a core finds in that");
    truth[found_there] = 1e9;
    const Calibration found = calibrate(runs(truth), parameters_, "a test");
    EXPECT_EQ(parameters_[found_there].most, (32 * units::MiB).si());
    EXPECT_LE(found.parameters[found_there].value, parameters_[found_there].most);
}

TEST_F(MadeUpMachine, IsWrittenAsAProfileThatReadsBack) {
    const Calibration found = calibrate(runs({}), parameters_, "a test");
    const Cluster cluster = calibrated_cluster(found, {"made-up", "Some CPU", 2, {}, {}, true}, "2026-01-02");
    std::ofstream(folder_ / "profile.json") << cluster_to_profile(cluster);
    const Scenario s =
        load_scenario(library_, library_.root / "scenarios" / "default.json", {"hardware.cluster=" + (folder_ / "profile.json").string()});
    EXPECT_TRUE(cluster_to_profile(s.cluster) == cluster_to_profile(cluster));
    ASSERT_TRUE(s.cluster.calibration);
    EXPECT_EQ(s.cluster.calibration->date, "2026-01-02");
    EXPECT_EQ(s.cluster.node.device.memory_bandwidth.kind, SourceKind::measured);
    EXPECT_THAT(s.cluster.node.device.memory_bandwidth.source, testing::StartsWith("a test, uncertainty"));
    EXPECT_NEAR(s.library.protocols.back().base.value / found.calibrated.library.protocols.back().base.value, 1, 1e-8);
}

TEST_F(MadeUpMachine, RefusesRunsThatSayNothing) {
    std::vector<ProbeRun> list = runs({});
    for (ProbeRun& r : list) r.measured = {};
    EXPECT_THROW(calibrate(list, parameters_, "a test"), InputError);
}

TEST(ClusterWriter, WritesEveryBundledClusterSoThatItReadsBack) {
    Library library = open_library();
    int clusters = 0;
    for (const NamesOfKind& kind : all_names(library.catalog)) {
        if (kind.kind != "clusters") continue;
        for (const std::string& name : kind.names) {
            Diagnostics problems;
            const Cluster before = *find_cluster(library.catalog, name, problems);
            // The catalog remembers files by their names.
            const fs::path file = fs::temp_directory_path() / ("sextant-" + std::to_string(::getpid()) + "-" + name + ".json");
            std::ofstream(file) << cluster_to_profile(before);
            const Cluster* after = find_cluster(library.catalog, file.string(), problems);
            EXPECT_TRUE(problems.empty()) << name << ": " << to_text(problems.list().front());
            ASSERT_NE(after, nullptr);
            EXPECT_TRUE(cluster_to_profile(*after) == cluster_to_profile(before)) << name;
            ++clusters;
            fs::remove(file);
        }
    }
    EXPECT_GT(clusters, 50);
}

}  // namespace
}  // namespace sextant
