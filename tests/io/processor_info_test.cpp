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

// What a scheduler gives a job of a node, and taskset a program.
TEST(ProcessorInfo, CountsTheCoresThatAProcessWasGiven) {
    cpu_set_t before, one;
    ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
    const std::vector<int> all = given_cores();
    CPU_ZERO(&one);
    CPU_SET(all.back(), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(given_cores(), std::vector{all.back()});
    EXPECT_EQ(usable_cores(), 1);
    ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
    EXPECT_EQ(given_cores(), all);
    EXPECT_LE(usable_cores(), static_cast<int>(all.size()));
}

}  // namespace
}  // namespace sextant
