#include "model/io/profile/processor_info.hpp"

#include <gtest/gtest.h>

#include <sstream>

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

}  // namespace
}  // namespace sextant
