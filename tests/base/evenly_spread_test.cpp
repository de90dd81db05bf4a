#include "model/base/evenly_spread.hpp"

#include <gmock/gmock.h>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(EvenlySpread, IncludesTheFirstAndTheLastAndTheOneThatIsWanted) {
    EXPECT_THAT(evenly_spread(0, 2), IsEmpty());
    EXPECT_THAT(evenly_spread(1, 2), ElementsAre(0));
    EXPECT_THAT(evenly_spread(3, 3), ElementsAre(0, 1, 2)) << "all of them";
    EXPECT_THAT(evenly_spread(9, 3), ElementsAre(0, 4, 8));
    EXPECT_THAT(evenly_spread(9, 3, 4), ElementsAre(0, 4, 8)) << "which is among them";
    EXPECT_THAT(evenly_spread(9, 3, 5), ElementsAre(0, 4, 5, 8));
}

}  // namespace
}  // namespace sextant
