#include "model/base/list_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace sextant {
namespace {

TEST(ListText, SeparatesItemsAndNothingElse) {
    EXPECT_EQ(joined(std::vector<std::string>{}), "");
    EXPECT_EQ(joined(std::vector<std::string>{"tp"}), "tp");
    EXPECT_EQ(joined(std::array{"tp", "pp", "dp"}), "tp, pp, dp");
}

TEST(ListText, HasEachItemAsItIsToBeWritten) {
    const auto doubled = [](int n) { return std::to_string(2 * n); };
    EXPECT_EQ(joined(std::array{1, 2, 3}, doubled, "x"), "2x4x6");
    EXPECT_EQ(joined(std::array{"a", "b"}, {}, "\n"), "a\nb");
}

TEST(ListText, GrowsByOneItemAtATime) {
    std::string list;
    append_to_list(list, "home");
    append_to_list(list, "scratch");
    EXPECT_EQ(list, "home, scratch");
    append_to_list(list, "or another", "; ");
    EXPECT_EQ(list, "home, scratch; or another");
}

}  // namespace
}  // namespace sextant
