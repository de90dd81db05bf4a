#include "model/workload/retention.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::ElementsAre;

Operator product(std::string name) { return {.name = std::move(name), .kind = Gemm{.m = 4, .n = 4, .k = 4}, .parameters = 16}; }

// x -> norm -> a product -> gelu -> a product. Of the block only x is kept: before the last product's backward everything in front of it
// runs again. The norm goes nowhere but into the first product, whose weights need it; what gelu reads and makes stays too.
TEST(Retention, RunsAgainWhatBackwardNeedsAndNothingBehindIt) {
    OperatorGraphBuilder b;
    const TensorId x = b.input("x", {4, 4});
    const TensorId norm = b.add({.name = "norm", .kind = Normalization{}, .inputs = {x}, .parameters = 4}, {4, 4});
    const auto behind = [&](Operator op, TensorId in) {
        op.inputs = {in};
        return b.add(std::move(op), {4, 4});
    };
    const TensorId up = behind(product("up"), norm);
    const TensorId gelu = behind({.name = "gelu", .kind = Pointwise{.kind = PointwiseKind::gelu}}, up);
    b.output(behind(product("down"), gelu));
    const OperatorGraph graph = std::move(b).build();
    const Retention r = plan_retention(graph, std::vector<bool>(5, true), std::vector<bool>(4, true));
    EXPECT_TRUE(r.kept[x.value]);
    std::vector<std::size_t> again;
    for (const RunAgain& run : r.again[3]) {
        again.push_back(run.operator_index);
        EXPECT_TRUE(run.releases.empty());
    }
    EXPECT_THAT(again, ElementsAre(0, 1, 2));
    for (const std::size_t other : {0, 1, 2}) EXPECT_TRUE(r.again[other].empty());
}

// x -> scale -> scale -> softmax -> a product: a factor's backward reads nothing, so that each scale's result goes with its reader.
TEST(Retention, GivesBackWhatIsMadeOnTheWay) {
    OperatorGraphBuilder b;
    const TensorId x = b.input("x", {4, 4});
    const auto behind = [&](Operator op, TensorId in) {
        op.inputs = {in};
        return b.add(std::move(op), {4, 4});
    };
    const Operator scale{.name = "scale", .kind = Pointwise{.kind = PointwiseKind::scale}};
    const TensorId once = behind(scale, x), twice = behind(scale, once);
    const TensorId softmax = behind({.name = "softmax", .kind = Softmax{}}, twice);
    b.output(behind(product("down"), softmax));
    const OperatorGraph graph = std::move(b).build();
    const Retention r = plan_retention(graph, std::vector<bool>(5, true), std::vector<bool>(4, true));
    ASSERT_EQ(r.again[3].size(), 3U);
    EXPECT_THAT(r.again[3][0].releases, ElementsAre(x));
    EXPECT_THAT(r.again[3][1].releases, ElementsAre(once));
    EXPECT_THAT(r.again[3][2].releases, ElementsAre(twice));
}

}  // namespace
}  // namespace sextant
