#include "model/workload/padding.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

// 50257 = 8 x 6282 + 1. Of 25 heads that share out the width, 1600 stays: it is 8 x 25 x 8; 1601 becomes the next.
TEST(Padding, RoundsUpWhatIsNoMultiple) {
    Workload gpt;
    auto& spec = gpt.spec.emplace<TransformerSpec>();
    spec.hidden = 1600, spec.ffn_hidden = 6399, spec.heads = spec.kv_heads = 25;
    const std::optional<Workload> larger = padded(gpt, 8);
    ASSERT_TRUE(larger);
    const auto& t = std::get<TransformerSpec>(larger->spec);
    EXPECT_EQ(t.vocab, 50264);
    EXPECT_EQ(t.hidden, 1600);
    EXPECT_EQ(t.ffn_hidden, 6400);
    EXPECT_FALSE(padded(*larger, 8));
    spec.hidden = 1601;
    EXPECT_EQ(std::get<TransformerSpec>(padded(gpt, 8)->spec).hidden, 1800);
}

// What goes in and comes out is the data's: 784 pixels, 10 digits.
TEST(Padding, OfAnMlpIsOfItsHiddenLayers) {
    Workload mlp;
    mlp.spec = MlpSpec{.widths = {783, 4095, 4096, 10}};
    EXPECT_EQ(std::get<MlpSpec>(padded(mlp, 8)->spec).widths, (std::vector<std::int64_t>{783, 4096, 4096, 10}));
    mlp.spec = ConvolutionalSpec{};
    EXPECT_FALSE(padded(mlp, 8));
}

}  // namespace
}  // namespace sextant
