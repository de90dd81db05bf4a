#include "model/base/spelling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NearestNames, PutsASlipOfTheFingerBeforeAPartOfTheName) {
    EXPECT_THAT(nearest_names("memory_bandwith", {"memory", "memory_bandwidth", "power"}, 2), ElementsAre("memory_bandwidth", "memory"));
}

TEST(NearestNames, FindsNamesThatContainTheWordWhateverItsCase) {
    EXPECT_THAT(nearest_names("H100", {"NVIDIA h100 80GB HBM3", "V100"}, 1), ElementsAre("V100"));  // one edit away
    EXPECT_THAT(nearest_names("lustre", {"GPFS", "Lustre, flash (Perlmutter)"}, 1), ElementsAre("Lustre, flash (Perlmutter)"));
}

TEST(NearestNames, SaysNothingWhenNothingIsNear) {
    EXPECT_THAT(nearest_names("xyzzy", {"memory", "power"}, 3), IsEmpty());
    EXPECT_THAT(nearest_names("", {"memory"}, 3), IsEmpty());
    EXPECT_THAT(nearest_names(std::string(1000, 'a'), {"memory"}, 3), IsEmpty());
}

}  // namespace
}  // namespace sextant
