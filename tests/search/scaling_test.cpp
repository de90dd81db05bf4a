#include "model/search/scaling.hpp"
#include "model/io/search/scaling_writer.hpp"
#include "model/sextant.hpp"
#include "tests/golden/bundled_scenarios.hpp"

#include <gmock/gmock.h>

namespace sextant {
namespace {

ScalingRequest small_request(bool weak) {
    ScalingRequest request;
    request.search.job = bundled_scenario("llama-3-8b-fsdp-64xh100");
    request.weak = weak;
    request.search.devices = {32, 8, 16, 8};
    for (const PlanField f : {PlanField::tp, PlanField::pp, PlanField::cp}) request.search.pinned.insert(f);
    return request;
}

TEST(Scaling, GoesFromTheSmallestSizeToTheLargestOnceEach) {
    const Scaling s = scale(small_request(false));
    ASSERT_EQ(s.points.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(s.points[i].devices, 8 << i);
}

// Of a plan on all six devices of one node, and of one whose 64 are eight nodes.
TEST(Scaling, AsksAboutTheSizeOfThePlanWhereNobodySaysWhich) {
    EXPECT_THAT(usual_sizes(bundled_scenario("llama-3-8b-adapters")), testing::ElementsAre(1, 2, 4, 6));
    EXPECT_THAT(usual_sizes(bundled_scenario("llama-3-8b-fsdp-64xh100")), testing::ElementsAre(8, 16, 32, 64, 128, 256));
}

// Efficiency is throughput of a device over that at the smallest size; an added device brings the difference of two throughputs over the
// difference of two sizes.
TEST(Scaling, MeasuresAgainstTheSmallestSize) {
    const Scaling s = scale(small_request(false));
    const auto rate = [&](std::size_t i) { return s.points[i].best->samples_per_s.si(); };
    EXPECT_DOUBLE_EQ(s.points[0].efficiency, 1);
    EXPECT_NEAR(s.points[2].efficiency, rate(2) / 32 / (rate(0) / 8), 1e-12);
    EXPECT_FALSE(s.points[0].added);
    EXPECT_NEAR(*s.points[2].added, (rate(2) - rate(1)) / 16 / (rate(0) / 8), 1e-12);
}

TEST(Scaling, SaysUpToWhereAddedDevicesBringHalfOfWhatTheFirstBring) {
    ScalingRequest request = small_request(false);
    request.search.job.plan.global_batch = 16;  // 32 devices find work for 16 alone
    const Scaling s = scale(request);
    ASSERT_TRUE(s.pays_up_to);
    for (const ScalingPoint& p : s.points) {
        if (p.devices <= *s.pays_up_to && p.added) {
            EXPECT_GE(*p.added, worth_adding);
        }
        if (s.too_many && p.devices == *s.too_many) {
            EXPECT_LT(*p.added, worth_adding);
        }
    }
}

// Beyond a node the network is so slow that the second one brings less than half of what the first did, and each of the next two more.
TEST(Scaling, DoesNotPayBeyondASizeThatDoesNot) {
    ScalingRequest request = small_request(true);
    request.search.job = bundled_scenario("llama-3-8b-fsdp-64xh100", {"hardware.network_bandwidth=20 Gbit/s"});
    const Scaling s = scale(request);
    ASSERT_LT(*s.points[1].added, worth_adding);
    ASSERT_GT(*s.points[2].added, worth_adding);
    EXPECT_EQ(s.pays_up_to, 8);
    EXPECT_EQ(s.too_many, 16);
}

// What is shown on the way is what is found in the end, as far as it goes.
TEST(Scaling, TellsOfEachSizeAsSoonAsItIsPlanned) {
    std::vector<std::size_t> planned;
    const Scaling s = scale(small_request(false), [&](const ScalingProgress& p) {
        if (planned.empty() || planned.back() != p.so_far.points.size()) planned.push_back(p.so_far.points.size());
        EXPECT_TRUE(p.so_far.points.empty() || p.so_far.pays_up_to) << "compared already";
        return true;
    });
    EXPECT_THAT(planned, testing::ElementsAre(0, 1, 2));  // the third is the answer
    EXPECT_EQ(s.points.size(), 3u);
}

// The job has 128 sequences on 64 devices: two each.
TEST(Scaling, WeakScalingKeepsTheSamplesOfADevice) {
    for (const ScalingPoint& p : scale(small_request(true)).points) EXPECT_EQ(p.global_batch, 2 * p.devices);
    for (const ScalingPoint& p : scale(small_request(false)).points) EXPECT_EQ(p.global_batch, 128);
}

TEST(Scaling, ConditionsAreAboutTheLargestSize) {
    const Scaling s = scale(small_request(false));
    const auto list = named_quantities(s);
    const auto value = [&](std::string_view name) { return std::ranges::find(list, name, &NamedQuantity::name)->si; };
    EXPECT_EQ(value("devices"), 32);
    EXPECT_DOUBLE_EQ(value("efficiency"), s.points.back().efficiency);
    EXPECT_DOUBLE_EQ(value("pays_up_to"), *s.pays_up_to);
    EXPECT_THAT(named_quantities(Scaling{}), testing::IsEmpty());
}

TEST(Scaling, ConditionsThatNoPlanMeetsAreNotTakenForMemory) {
    ScalingRequest request = small_request(false);
    request.search.where = {parse_condition("memory < 1 MB", "--where")};
    const Scaling s = scale(request);
    EXPECT_TRUE(s.all_ruled_out());
    EXPECT_THAT(scaling_to_text(s), testing::HasSubstr("none meets every condition"));
    EXPECT_THAT(scaling_verdict(s), testing::HasSubstr("--where"));
}

TEST(Scaling, ASizeThatHasNoPlanIsShownAsOne) {
    ScalingRequest request = small_request(false);
    request.search.devices = {1, 8};
    request.search.pinned.insert(PlanField::offload);
    const Scaling s = scale(request);
    ASSERT_EQ(s.points.size(), 2u);
    EXPECT_FALSE(s.points[0].best);  // 8 billion parameters, 16 bytes each, on 80 GB
    EXPECT_TRUE(s.points[1].best);
    EXPECT_DOUBLE_EQ(s.points[1].efficiency, 1);
    EXPECT_THAT(scaling_to_text(s), testing::HasSubstr("no plan on 1: none fits the memory"));
    EXPECT_FALSE(s.all_ruled_out());
    request.search.devices = {1};
    Scaling none = scale(request);
    EXPECT_EQ(scaling_verdict(none), "No plan fits at any of these sizes");
    none.complete = false;
    EXPECT_EQ(scaling_verdict(none), "No plan fits at the sizes that were tried");
    request.search.devices = {8, 1 << 20};
    EXPECT_THAT(scaling_to_text(scale(request)), testing::HasSubstr("no plan on 1,048,576: "));
}

}  // namespace
}  // namespace sextant
