// Residual networks in the form of ResNet (arXiv 1512.03385). Internal to model/workload/images.
#pragma once

#include "model/workload/images/families.hpp"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace sextant {

// What lies around the residuals: resnet50c has the form c, and so on.
struct Form {
    std::vector<std::int64_t> stem{};  // channels of its convolutions of 3x3; none: one of 7x7 to 64
    bool pools_shortcuts = false;      // before they widen
    bool pools_in_stem = true;         // a convolution of stride 2 where not
};

struct Groups {  // of the 3x3
    std::int64_t count = 1, width = 64;
};

// In the place of the 3x3 of a bottleneck, or the first of a basic block, with its norm and activation: to so many channels. `first`: the
// residual has a shortcut that is no identity.
using Middle = std::function<Image(Layers&, Image, std::int64_t channels, std::int64_t stride, bool first)>;

struct ResidualNetwork {
    std::vector<std::string> names;
    std::array<int, 4> blocks{};  // per stage
    bool bottleneck = true;
    Groups groups{};
    std::int64_t squeeze = 0;           // squeeze and excitation by so much; 0: none
    bool weighs_by_neighbours = false;  // efficient channel attention
    Form form{};
    Reduction reduction = Reduction::strides;  // but in shortcuts
    bool narrow_first = false;                 // a first 1x1 to half the width of the 3x3
    std::int64_t shortcut_kernel = 1;          // of those with strides
    bool strides_first = false;                // in the 1x1 in front of the 3x3, as in Caffe
    bool dilated = false;                      // the last two stages have no strides
    NormKind norm = NormKind::batch;           // or over groups, of which there are 32
    Middle middle{};
    std::int64_t widening = 1;  // of what lies inside a bottleneck, beside groups
    std::int64_t image_px = 224;
};

void build_residual(NetworkBuilder&, const ResidualNetwork&, std::int64_t classes);
void add_stem_and_stages(NetworkBuilder&, const ResidualNetwork&);  // all but its head
Architecture architecture_of(const ResidualNetwork&);

}  // namespace sextant
