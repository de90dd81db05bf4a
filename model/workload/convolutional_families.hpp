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
};

std::vector<Architecture> plain_architectures();      // AlexNet, VGG
std::vector<Architecture> residual_architectures();   // ResNet, Wide ResNet, ResNeXt
std::vector<Architecture> inception_architectures();  // GoogLeNet, Inception v3
std::vector<Architecture> dense_architectures();      // DenseNet
std::vector<Architecture> mobile_architectures();     // MobileNetV2, EfficientNet
std::vector<Architecture> convnext_architectures();

}  // namespace sextant
