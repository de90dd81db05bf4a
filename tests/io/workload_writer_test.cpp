#include "model/io/workload/workload_writer.hpp"

#include "tests/io/read_back_workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using ::testing::HasSubstr;

TEST(WorkloadWriter, NetworksWithoutAttentionReadBackTheSame) {
    ChainSpec chain;
    chain.input_shape = {3, 32, 32};
    using Kind = ChainLayer::Kind;
    for (const Kind kind :
         {Kind::conv, Kind::norm, Kind::activation, Kind::residual_begin, Kind::residual_end, Kind::pool, Kind::dropout, Kind::dense}) {
        ChainLayer& layer = chain.layers.emplace_back();
        layer.kind = kind;
        layer.width = 16;
        layer.kernel = layer.stride = 2;
        layer.bias = kind == Kind::dense;
    }
    ChainSpec pixels;
    pixels.input_shape = {3, 32, 32};
    pixels.layers = {{.kind = Kind::conv, .width = 8, .kernel = 3, .dilation = 2},
                     {.kind = Kind::conv, .width = 8, .kernel = 4, .stride = 2, .transposed = true},
                     {.kind = Kind::upsample, .stride = 3, .upsampling = PointwiseKind::interpolate}};
    pixels.per_pixel = true;
    for (const Workload& workload :
         {Workload{"own", "My own", chain, "me"}, Workload{"pixels", "Pixels", pixels, "me"}, Workload{"mlp", "MLP", MlpSpec{}, ""},
          Workload{"resnet18", "ResNet-18", ConvolutionalSpec{"resnet18", 96, 1, 10}, ""}})
        expect_reads_back(workload);
}

TEST(WorkloadWriter, OnlyWhatDiffersFromTheAssumedIsWritten) {
    const std::string written = write_workload(*find_workload("gpt2"));
    EXPECT_THAT(written, HasSubstr("\"layers\": 12"));
    EXPECT_THAT(written, ::testing::Not(HasSubstr("patch_px")));
    EXPECT_THAT(written, ::testing::Not(HasSubstr("sliding_window")));
}
}  // namespace
}  // namespace sextant
