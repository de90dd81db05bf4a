// Networks of inverted residuals: expand by a 1x1, filter each channel by itself, project by a 1x1. Internal to model/workload/images.
#pragma once

#include "model/workload/images/layers.hpp"

#include <string>
#include <vector>

namespace sextant {

enum class Filters {
    depthwise,
    fused,  // one convolution over all channels expands and filters (arXiv 2104.00298, section 3.2)
    all,    // that convolution alone
};

struct InvertedResidual {
    std::string name;  // of its block
    std::int64_t wide, kernel, channels, stride;
    std::int64_t squeezed;  // numbers that squeeze and excitation goes by; 0: none
    PointwiseKind activation;
    Filters filters = Filters::depthwise;     // with kernel 0: none
    bool adds = true;                         // what it reads, where that has the shape of what it makes
    bool always_expands = false;              // by a 1x1 also where that widens nothing
    bool activates = false;                   // what it projected
    std::int64_t first_kernel = 0;            // of a filter of each channel in front; 0: none (arXiv 2404.10518, section 4.1)
    std::vector<std::int64_t> mixed{};        // kernels, each for a part of the channels; none: one kernel for all
    int expand_parts = 1, project_parts = 1;  // convolutions of 1x1, each of a part of the channels to another
};

enum class Hidden { biased, plain, normed };

struct MobileNetwork {
    std::int64_t stem_channels;
    std::vector<InvertedResidual> residuals{};
    std::int64_t head_channels = 0, hidden = 0;      // of the head's convolution, and of a linear layer behind it; 0: none
    PointwiseKind activation = PointwiseKind::relu;  // of stem and head
    PointwiseKind squeeze_activation = PointwiseKind::silu;
    Hidden hidden_form = Hidden::biased;
    Reduction reduction = Reduction::strides;
};

void build_mobile(NetworkBuilder&, const MobileNetwork&, std::int64_t classes);

std::int64_t nearest_channels(double channels);                         // to a multiple of 8 ...
std::int64_t rounded_channels(double channels, double at_least = 0.9);  // ... no farther down than so, as authors of MobileNet round

}  // namespace sextant
