// Convolutions by cuDNN against their definition in fp32 on the host, at the same rounded numbers. Takes a GPU.
#include "backend/cuda/convolutions.hpp"
#include "backend/cuda/gpu.hpp"
#include "backend/exec/reals.hpp"
#include "tests/backend/arrays.hpp"
#include "tests/backend/engine.hpp"
#include "tests/backend/host_machine.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sextant {
namespace {

using kernels::ConvolutionShape;

struct Precision {
    const char* name;
    Element element;
    bool tf32;
    double tolerance;  // of a result, over the largest of all
    int capability;    // of the GPU, at least
};
// Winograd's way costs fp32 a few bits; TF32 would be ten times as far off. Images and filters are rounded to the eleven bits of TF32,
// results to those of a type in 16 bits; sums are made in fp32.
constexpr Precision precisions[] = {{"fp32", Element::real, false, 2e-5, 0},
                                    {"TF32", Element::real, true, 0x1p-9, 80},
                                    {"bf16", Element::bf16, false, 0x1p-8, 80},
                                    {"fp16", Element::fp16, false, 0x1p-11, 0}};

using Reals = std::vector<float>;

// What the three passes make of an image, a filter and a gradient of the result.
struct Results {
    Reals y, dx, d_filter;
};

Results on_host(const ConvolutionShape& s, const Reals& x, const Reals& filter, const Reals& dy) {
    const auto room = [](std::int64_t count) { return Reals(static_cast<std::size_t>(count)); };
    Results r{room(s.out_elements()), room(s.in_elements()), room(s.filter_elements())};
    HostMachine host(1);
    host.convolve(s, x.data(), filter.data(), r.y.data());
    host.convolve_back(s, filter.data(), dy.data(), r.dx.data());
    host.filter_gradient(s, x.data(), dy.data(), r.d_filter.data());
    return r;
}

Results on_gpu(ComputeDevice& device, const ConvolutionShape& s, bool tf32, const Array& x, const Array& filter, const Array& dy) {
    const cuda::WorkStream stream(0);
    std::vector<Array> in_use;  // by the stream, until it is through
    cuda::Launches launches(cuda::GraphStream(0, stream), false);
    cuda::Convolutions convolutions(launches, cuda::cudnn_on(stream.get()), tf32,
                                    [&](std::int64_t reals) { return in_use.emplace_back(device.allocate(reals)); });
    const Array y = device.allocate(s.out_elements(), s.element), dx = device.allocate(s.in_elements(), s.element);
    const Array d_filter = device.allocate(s.filter_elements(), s.element);
    for (const Array& a : {y, dx, d_filter}) device.fill(a, 7);  // which results replace
    device.finish();
    convolutions.convolve(s, x.memory.get(), filter.memory.get(), y.memory.get());
    convolutions.convolve_back(s, filter.memory.get(), dy.memory.get(), dx.memory.get());
    convolutions.filter_gradient(s, x.memory.get(), dy.memory.get(), d_filter.memory.get());
    stream.wait();
    return {downloaded(device, y), downloaded(device, dx), downloaded(device, d_filter)};
}

class ConvolutionOnGpu : public testing::TestWithParam<ConvolutionShape> {};

TEST_P(ConvolutionOnGpu, ComputesWhatItIsInEveryPrecisionAndTheSameEveryTime) {
    const std::unique_ptr<ComputeDevice> device = make_device();
    for (const Precision& p : precisions) {
        if (cuda::facts_of(0).capability < p.capability) continue;
        SCOPED_TRACE(p.name);
        ConvolutionShape s = GetParam();
        s.element = p.element;
        const auto put = [&](Made what, std::int64_t count) { return uploaded(*device, made_reals(what, {0}, count), p.element); };
        const Array x = put(Made::input, s.in_elements()), filter = put(Made::weight, s.filter_elements());
        const Array dy = put(Made::gradient, s.out_elements());
        const Results expected = on_host(s, downloaded(*device, x), downloaded(*device, filter), downloaded(*device, dy));
        const Results found = on_gpu(*device, s, p.tf32, x, filter, dy), again = on_gpu(*device, s, p.tf32, x, filter, dy);
        for (const auto& [name, result] :
             {std::pair{"result", &Results::y}, std::pair{"gradient of image", &Results::dx}, std::pair{"of filter", &Results::d_filter}}) {
            EXPECT_LT(relative_error(found.*result, expected.*result), p.tolerance) << name;
            EXPECT_EQ(found.*result, again.*result) << name;
        }
    }
}

std::string test_name(const testing::TestParamInfo<ConvolutionShape>& info) {
    const ConvolutionShape& s = info.param;
    const auto by = [](std::int64_t a, std::int64_t b) { return std::to_string(a) + "x" + std::to_string(b); };
    return by(s.in_h, s.in_w) + "_by_" + by(s.kernel_h, s.kernel_w) + "_channels_" + std::to_string(s.in_channels) + "_to_" +
           std::to_string(s.out_channels) + "_stride_" + std::to_string(s.stride) + "_groups_" + std::to_string(s.groups) +
           (s.dilation > 1 ? "_dilated" : "");
}

// Batch; channels, height and width of the image; of the result; height and width of the filter, stride, groups, paddings; dilation.
INSTANTIATE_TEST_SUITE_P(Shapes, ConvolutionOnGpu,
                         testing::Values(ConvolutionShape{4, 64, 14, 14, 64, 14, 14, 3, 3, 1, 1, 1, 1, {}},
                                         ConvolutionShape{4, 64, 14, 14, 128, 7, 7, 3, 3, 2, 1, 1, 1, {}},
                                         ConvolutionShape{2, 256, 14, 14, 64, 14, 14, 1, 1, 1, 1, 0, 0, {}},
                                         ConvolutionShape{2, 64, 14, 14, 128, 7, 7, 1, 1, 2, 1, 0, 0, {}},
                                         ConvolutionShape{2, 3, 64, 64, 64, 32, 32, 7, 7, 2, 1, 3, 3, {}},
                                         ConvolutionShape{2, 48, 17, 17, 64, 17, 17, 1, 7, 1, 1, 0, 3, {}},
                                         ConvolutionShape{2, 48, 17, 17, 64, 17, 17, 7, 1, 1, 1, 3, 0, {}},
                                         ConvolutionShape{4, 128, 14, 14, 128, 14, 14, 3, 3, 1, 32, 1, 1, {}},
                                         ConvolutionShape{4, 96, 28, 28, 96, 28, 28, 3, 3, 1, 96, 1, 1, {}},
                                         ConvolutionShape{4, 96, 28, 28, 96, 14, 14, 5, 5, 2, 96, 2, 2, {}},
                                         ConvolutionShape{3, 5, 9, 11, 7, 9, 11, 3, 3, 1, 1, 1, 1, {}},
                                         ConvolutionShape{2, 64, 17, 17, 64, 17, 17, 3, 3, 1, 1, 4, 4, {}, 4}),
                         test_name);

}  // namespace
}  // namespace sextant
