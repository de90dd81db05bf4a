// Gradients of families of networks on images whose operators differences_test.cpp has on every engine, or kernels_test.cpp one by one.
#include "tests/backend/slope.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(Families, HaveTheGradientsOfDifferences) {
    for (const char* name : {"efficientnet_es", "resnetaa50", "cspdarknet53", "cspresnext50", "dla46_c", "repvgg_a0", "gernet_s",
                             "ese_vovnet19b_dw", "selecsls42b", "ghostnet_050", "xception41", "pvt_v2_b0", "segformer_b0",
                             "mobilenetv4_conv_small", "lcnet_050", "regnetz_005", "repvit_m0_9", "gmixer_12_224", "res2net50_48w_2s"})
        expect_gradient_of_all_parameters(name, 64, 4);
    expect_gradient_of_all_parameters("inception_resnet_v2", 160, 4);
}

// Of images with whole windows in every stage.
TEST(Families, HaveTheGradientsOfDifferencesInWindows) {
    expect_gradient_of_all_parameters("swin_t", 224, 1);
    expect_gradient_of_all_parameters("maxvit_t", 224, 2);
    expect_gradient_of_all_parameters("twins_svt_small", 224, 1);
}

}  // namespace
}  // namespace sextant
