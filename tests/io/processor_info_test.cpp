#include "model/io/profile/processor_info.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include <sched.h>

namespace sextant {
namespace {

constexpr const char* two_cores =
    "processor\t: 0\nmodel name\t: Slow One\ncpu MHz\t\t: 1200.000\n\nprocessor\t: 1\nmodel name\t: Fast One\ncpu MHz\t\t: "
    "3400.000\nflags\n";

std::string fact(const std::string& word, int core) {
    std::istringstream cpuinfo(two_cores);
    return processor_fact(cpuinfo, word, core);
}

TEST(ProcessorInfo, HasTheFactOfEachCore) {
    EXPECT_EQ(fact("model name", 0), "Slow One");
    EXPECT_EQ(fact("cpu MHz", 1), "3400.000");
}

TEST(ProcessorInfo, IsEmptyWhereNothingIsTold) {
    EXPECT_EQ(fact("model name", 2), "");
    EXPECT_EQ(fact("bogomips", 0), "");
    EXPECT_EQ(fact("flags", 0), "");
}

TEST(ProcessorInfo, SaysWhatTimeOfCoresAContainerHas) {
    const auto quota = [](const std::string& cpu_max) {
        std::istringstream in(cpu_max);
        return core_quota(in);
    };
    EXPECT_EQ(quota("250000 100000\n"), 2.5);
    EXPECT_EQ(quota("max 100000\n"), std::nullopt);
    EXPECT_EQ(quota("0 0"), std::nullopt);
    EXPECT_EQ(quota(""), std::nullopt);
}

// As Linux numbers those of two cores with two each.
TEST(ProcessorInfo, CountsProcessorsOfOneCoreOnce) {
    const auto siblings = [](int processor) { return std::string(processor % 2 == 0 ? "0,2" : "1,3"); };
    EXPECT_EQ(cores_among({0, 1, 2, 3}, siblings), 2);
    EXPECT_EQ(cores_among({0, 2}, siblings), 1);
    EXPECT_EQ(cores_among({0, 3}, siblings), 2);
    EXPECT_EQ(cores_among({0, 1, 2}, [](int) { return std::string(); }), 3) << "where nobody says";
}

// What a scheduler gives a job of a node, and taskset a program.
TEST(ProcessorInfo, CountsTheCoresThatAProcessWasGiven) {
    cpu_set_t before, one;
    ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
    const std::vector<int> all = given_processors();
    CPU_ZERO(&one);
    CPU_SET(all.back(), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(given_processors(), std::vector{all.back()});
    EXPECT_EQ(usable_cores(), 1);
    ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
    EXPECT_EQ(given_processors(), all);
    EXPECT_LE(usable_cores(), static_cast<int>(all.size()));
}

}  // namespace
}  // namespace sextant
