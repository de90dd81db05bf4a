// The architectures that build_convolutional knows, one table per family. Internal to model/workload.
#pragma once

#include "model/workload/images/layers.hpp"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace sextant {

struct Architecture {
    std::vector<std::string> names;  // the first is the usual one
    std::function<void(NetworkBuilder&, std::int64_t classes)> build;
    std::int64_t image_px = 224;  // that it was made for
    std::int64_t classes = 1000;  // likewise
};

std::vector<Architecture> plain_architectures();            // AlexNet, VGG, SqueezeNet
std::vector<Architecture> residual_architectures();         // ResNet in all its forms, Wide ResNet, ResNeXt, SE-ResNet, SENet
std::vector<Architecture> preactivated_architectures();     // ResNet v2, BiT, NFNet
std::vector<Architecture> split_residual_architectures();   // Res2Net, SKNet, ResNeSt
std::vector<Architecture> inception_architectures();        // GoogLeNet, Inception v3 and v4, Inception-ResNet
std::vector<Architecture> dual_path_architectures();        // DPN
std::vector<Architecture> dense_architectures();            // DenseNet
std::vector<Architecture> mobile_architectures();           // MobileNet, MnasNet, EfficientNet and what searches found beside them
std::vector<Architecture> searched_mobile_architectures();  // MixNet, HardCoRe-NAS, FBNetV3, LCNet, MobileNetV4
std::vector<Architecture> ghostnet_architectures();
std::vector<Architecture> convnext_architectures();
std::vector<Architecture> swin_architectures();
std::vector<Architecture> xception_architectures();
std::vector<Architecture> shufflenet_architectures();
std::vector<Architecture> hrnet_architectures();
std::vector<Architecture> mixer_architectures();                // MLP-Mixer, gMLP, ConvMixer
std::vector<Architecture> metaformer_architectures();           // PoolFormer, ConvFormer, CAFormer
std::vector<Architecture> class_attention_architectures();      // CaiT, XCiT
std::vector<Architecture> pooling_transformer_architectures();  // PiT
std::vector<Architecture> twins_architectures();
std::vector<Architecture> inception_next_architectures();
std::vector<Architecture> repvit_architectures();
std::vector<Architecture> maxvit_architectures();
std::vector<Architecture> pyramid_architectures();  // PVT v2, SegFormer
std::vector<Architecture> regnet_architectures();   // RegNetX and RegNetY
std::vector<Architecture> darknet_architectures();  // Darknet-53 and CSPNets
std::vector<Architecture> dla_architectures();
std::vector<Architecture> repvgg_architectures();
std::vector<Architecture> genet_architectures();
std::vector<Architecture> vovnet_architectures();
std::vector<Architecture> selecsls_architectures();
std::vector<Architecture> vision_transformer_architectures();
std::vector<Architecture> segmentation_architectures();  // U-Net, FCN, DeepLab

// The blocks of a ResNet of bottlenecks, but for its head. The last two stages keep the size of their images, and read ever farther apart
// instead (arXiv 1606.00915, section 3.1). `blocks`: of each stage.
void add_dilated_resnet(NetworkBuilder&, const std::array<int, 4>& blocks);

}  // namespace sextant
