// Clusters that are made up: curves and steps are "measured" by predicting them with known numbers, which must come out again.
#include "model/calibrate/cluster_fit.hpp"
#include "model/io/calibration/calibration_writer.hpp"
#include "model/io/profile/profile_reader.hpp"
#include "model/io/profile/profile_writer.hpp"
#include "model/sextant.hpp"
#include "tests/golden/bundled_scenarios.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace sextant {
namespace {

using namespace units;
using testing::HasSubstr;

class MadeUpCluster : public testing::Test {
protected:
    MadeUpCluster() {
        Diagnostics problems;
        machine_.cluster = *find_cluster(library_.catalog, "dgx-a100", problems);
        machine_.library = *find_library(library_.catalog, "nccl", problems);
        machine_.cluster.nodes = 4;
        problems.throw_if_any();
        truth_ = machine_;
    }
    // As the true machine would print it.
    Observation curve(int nodes) {
        CurveObserved c;
        c.name = std::to_string(nodes) + " hosts";
        c.ranks = 8 * nodes;
        c.nodes = nodes;
        for (double size = 1024; size < 1e9; size *= 4) c.points.emplace_back(size * B, 1 * us);
        Observation o = observation_of(c, machine_.cluster);
        const std::vector<Seconds> times = o.predict(truth_);
        for (std::size_t i = 0; i < times.size(); ++i) o.terms[i].measured = times[i];
        return o;
    }
    static const NarrowedParameter& parameter(const ClusterFit& fit, const std::string& part) {
        return *std::ranges::find_if(fit.parameters,
                                     [&](const NarrowedParameter& p) { return p.parameter.name.find(part) != std::string::npos; });
    }
    Library library_ = open_library();
    Scenario machine_, truth_;
};

TEST_F(MadeUpCluster, FindsTheNetworkThatReachesHalfOfWhatItsProfileSays) {
    LinkType& link = truth_.cluster.node.nic_link;
    link.achievable.value *= 0.5;
    const ClusterFit fit = fit_cluster(machine_.cluster, machine_.library, {curve(1), curve(2), curve(4)}, "a test");
    const NarrowedParameter& p = parameter(fit, "bandwidth achieved, fraction of " + link.name);
    EXPECT_NEAR(p.value / link.achievable.value, 1, 0.1);
    EXPECT_TRUE(p.is_moved());
    EXPECT_LT(p.spread, 0.2);
    EXPECT_LT(fit.median_error, 0.03);
    EXPECT_GT(fit.median_error_before, fit.median_error);
    EXPECT_EQ(fit.cluster.node.nic_link.achievable.kind, SourceKind::measured);
    EXPECT_THAT(fit.cluster.node.nic_link.achievable.source, testing::StartsWith("a test, uncertainty"));
    // Curves show nothing of the clock.
    EXPECT_FALSE(parameter(fit, "sustained clock").is_moved());
    EXPECT_EQ(fit.cluster.node.device.sustained_clock.value, machine_.cluster.node.device.sustained_clock.value);
    EXPECT_THAT(cluster_fit_to_text(fit), HasSubstr("unchanged: sustained clock"));
}

TEST_F(MadeUpCluster, LeavesOutACallThatIsFarFromTheOthers) {
    Observation o = curve(2);
    o.terms[6].measured = o.terms[6].measured * 20;
    const ClusterFit fit = fit_cluster(machine_.cluster, machine_.library, {o}, "a test");
    EXPECT_TRUE(fit.terms[6].left_out);
    EXPECT_EQ(std::ranges::count_if(fit.terms, &CalibratedTerm::left_out), 1);
}

TEST_F(MadeUpCluster, HasToHaveAPlaceForTheRanks) {
    CurveObserved c;
    c.ranks = 16;
    EXPECT_THROW(observation_of(c, machine_.cluster), InputError);
    c.nodes = 8;
    EXPECT_THROW(observation_of(c, machine_.cluster), InputError);
    EXPECT_THROW(fit_cluster(machine_.cluster, machine_.library, {}, "a test"), InputError);
}

// A job whose step is slower than predicted, and little else that could explain it: the clock is found in part, the rest is what was known.
TEST_F(MadeUpCluster, NarrowsTheClockByStepsOfAJob) {
    Scenario job = bundled_scenario("llama-2-70b-128xh100");
    Scenario real = job;
    real.cluster.node.device.sustained_clock.value *= 0.85;
    const Seconds step = estimate(prepare(real)).step;
    const double before = estimate(prepare(job)).step / step;
    JobObserved seen{"llama", job, std::nullopt, step, 0.01};
    const ClusterFit fit = fit_cluster(job.cluster, job.library, {observation_of(seen)}, "a test");
    ASSERT_EQ(fit.terms.size(), 1u);
    EXPECT_EQ(fit.terms[0].name, "step");
    EXPECT_LT(before, 0.95);
    EXPECT_NEAR(fit.terms[0].predicted / step, 1, 0.04);
    for (const NarrowedParameter& p : fit.parameters) EXPECT_LE(p.spread, p.spread_before) << p.parameter.name;
}

// A bundled profile states a peak and what is reached of it, and nothing of caches: what the fit predicts is what its profile predicts.
TEST_F(MadeUpCluster, OfCoresIsTheMachineThatTheFitWasMadeWith) {
    const Scenario job = bundled_scenario("default");
    ASSERT_FALSE(job.cluster.node.device.cache_bandwidth);
    Scenario real = job;
    for (PeakRate& p : real.cluster.node.device.peaks) p.rate.value *= 0.8;
    const Estimate measured = estimate(prepare(real)), before = estimate(prepare(job));
    const JobObserved seen{"default", job, measured.terms, measured.step, 0.01};
    const ClusterFit fit = fit_cluster(job.cluster, job.library, {observation_of(seen)}, "a test");
    Scenario after = job;
    after.cluster = fit.cluster;
    EXPECT_NEAR(estimate(prepare(after)).step / measured.step, 1, 0.02);
    for (std::size_t i = 0; i < fit.terms.size(); ++i) {
        if (fit.terms[i].name != to_text(Term::forward)) continue;
        EXPECT_EQ(fit.predicted_before[i], before.terms[Term::forward]);
    }
}

TEST_F(MadeUpCluster, KeepsWhatItRestsOnInTheProfile) {
    truth_.cluster.node.nic_link.achievable.value *= 0.7;
    ClusterFit fit = fit_cluster(machine_.cluster, machine_.library, {curve(2)}, "a test");
    fit.cluster.calibration->date = "2026-01-02";
    const std::string text = cluster_to_profile(fit.cluster);
    const auto read = [&](const std::string& profile) {
        Diagnostics problems;
        const JsonFile file = JsonFile::from_text(profile, "p.json", problems);
        Cluster cluster;
        read_cluster(file.root(), library_.catalog, cluster);
        problems.throw_if_any();
        return cluster;
    };
    const Cluster back = read(text);
    ASSERT_TRUE(back.calibration);
    EXPECT_FALSE(back.calibration->edited);
    ASSERT_EQ(back.calibration->terms.size(), fit.terms.size());
    EXPECT_EQ(back.calibration->terms[3].measured, fit.terms[3].measured);
    EXPECT_EQ(back.calibration->numbers.size(), fit.cluster.calibration->numbers.size());
    EXPECT_THAT(calibration_svg(back), HasSubstr("2 hosts"));
    EXPECT_THAT(calibration_html(back), HasSubstr("</html>"));

    // By hand: a rate.
    const std::size_t at = text.find("\"value\": ");
    std::string edited = text;
    edited.replace(text.find_first_of("0123456789", at), 1, "7");
    ASSERT_NE(edited, text);
    const Cluster other = read(edited);
    EXPECT_TRUE(other.calibration->edited);
    // The edit is seen through a copy, too.
    EXPECT_TRUE(read(cluster_to_profile(other)).calibration->edited);
    EXPECT_THAT(calibration_html(other), HasSubstr("edited since"));
}

}  // namespace
}  // namespace sextant
