// Which part of a tensor is whose: every element of the whole is on one rank, where the cut says.
#include "backend/exec/place.hpp"
#include "backend/exec/key_range.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace sextant {
namespace {

using testing::Each;
using testing::ElementsAre;

Tensor tensor(std::vector<std::int64_t> shape) { return {"t", std::move(shape), TensorRole::activation}; }

std::vector<std::int64_t> positions(ContextCut cut, std::int64_t here) {
    std::vector<std::int64_t> list;
    for (std::int64_t i = 0; i < here; ++i) list.push_back(cut.position(i, here));
    return list;
}

TEST(Place, OfAContextRankIsASliceOrTwo) {
    EXPECT_THAT(positions({1, 3, false}, 4), ElementsAre(4, 5, 6, 7));
    EXPECT_THAT(positions({0, 2, true}, 4), ElementsAre(0, 1, 6, 7));
    EXPECT_THAT(positions({1, 2, true}, 4), ElementsAre(2, 3, 4, 5));
    EXPECT_THAT(positions({0, 1, true}, 3), ElementsAre(0, 1, 2)) << "alone in its group";
    EXPECT_THAT(positions({0, 1, true}, 1), ElementsAre(0));
}

// Each of so many tensor and context ranks has such a part; what lies together in it lies together in the whole.
void expect_cut(const Tensor& part, const Tensor& whole, int tensor_ranks, int context_ranks, bool balanced) {
    constexpr std::int64_t samples = 2;
    std::vector<int> found(static_cast<std::size_t>(whole.elements()), 0);
    for (int t = 0; t < tensor_ranks; ++t)
        for (int c = 0; c < context_ranks; ++c) {
            const Place place = place_of(part, whole, {{t, tensor_ranks}, {c, context_ranks, balanced}}, samples);
            EXPECT_EQ(place.per_sample, static_cast<std::int64_t>(whole.elements()) / samples);
            const auto count = static_cast<std::int64_t>(part.elements());
            for (std::int64_t i = 0; i < count; ++i) {
                ++found.at(static_cast<std::size_t>(place.of(i)));
                ASSERT_GT(place.together(i), 0);
                for (std::int64_t j = 1; i + j < count && j < place.together(i); ++j) ASSERT_EQ(place.of(i + j), place.of(i) + j);
            }
        }
    EXPECT_THAT(found, Each(1));
}

TEST(Place, SharesEveryElementOutOnce) {
    const Tensor stream = tensor({2 * 24, 6}), scores = tensor({2 * 4, 24, 24});
    for (const bool balanced : {false, true}) {
        expect_cut(tensor({2 * 12, 6}), stream, 1, 2, balanced);
        expect_cut(tensor({2 * 12, 2}), stream, 3, 2, balanced);  // columns over the tensor group
        expect_cut(tensor({2 * 4, 6}), stream, 3, 2, balanced);   // rows too: slices end within a rank's part
        expect_cut(tensor({2 * 4, 8, 24}), scores, 1, 3, balanced);
        expect_cut(tensor({2 * 2, 8, 24}), scores, 2, 3, balanced);  // heads over the tensor group
    }
    expect_cut(tensor({2 * 24, 3}), stream, 2, 1, false);
    expect_cut(tensor({2 * 8, 6}), stream, 3, 1, false);
}

// A causal query sees itself and what stands before it; two slices for each rank make that as many keys for all.
TEST(Place, BalancesWhatCausalQueriesSee) {
    constexpr std::int64_t keys = 48, here = 12;
    for (int rank = 0; rank < 4; ++rank) {
        const ContextCut cut{rank, 4, true};
        std::int64_t seen = 0;
        for (std::int64_t q = 0; q < here; ++q) {
            const KeyRange r = visible_keys(q, here, keys, true, 0, cut);
            EXPECT_EQ(r.begin, 0);
            EXPECT_EQ(r.end, cut.position(q, here) + 1);
            seen += r.end;
        }
        EXPECT_EQ(seen, keys * (keys + 1) / 2 / 4) << rank;
    }
    EXPECT_EQ(visible_keys(0, here, keys, true, 5, {3, 4, true}).begin, 14);
}

}  // namespace
}  // namespace sextant
