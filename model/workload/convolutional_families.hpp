// The architectures that build_convolutional knows, one table per family. Internal to model/workload.
#pragma once

#include "model/workload/convolutional_layers.hpp"

#include <functional>
#include <string>
#include <vector>

namespace sextant {

struct Architecture {
    std::vector<std::string> names;  // the first is the usual one
    std::function<void(NetworkBuilder&, std::int64_t classes)> build;
    std::int64_t image_px = 224;  // that it was made for
};

std::vector<Architecture> plain_architectures();      // AlexNet, VGG, SqueezeNet
std::vector<Architecture> residual_architectures();   // ResNet, ResNet-D, ResNet-RS, Wide ResNet, ResNeXt, SE-ResNet, ResNet v2
std::vector<Architecture> inception_architectures();  // GoogLeNet, Inception v3 and v4
std::vector<Architecture> dense_architectures();      // DenseNet
std::vector<Architecture> mobile_architectures();     // MobileNet, MnasNet, EfficientNet
std::vector<Architecture> convnext_architectures();
std::vector<Architecture> swin_architectures();
std::vector<Architecture> xception_architectures();
std::vector<Architecture> shufflenet_architectures();
std::vector<Architecture> hrnet_architectures();
std::vector<Architecture> mixer_architectures();
std::vector<Architecture> regnet_architectures();  // RegNetX and RegNetY

}  // namespace sextant
