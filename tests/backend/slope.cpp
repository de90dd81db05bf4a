#include "tests/backend/slope.hpp"

#include "tests/backend/arrays.hpp"
#include "tests/backend/engine.hpp"
#include "tests/backend/networks.hpp"
#include "tests/backend/single_rank.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <utility>

namespace sextant {
namespace {

double norm_of(const std::vector<float>& v) { return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0)); }

}  // namespace

Slope::Slope(ComputeDevice& device, WholeNetwork& network, WholeNetwork::Data data, double others)
    : device_(device), network_(network), data_(std::move(data)), others_(others) {
    network_.clear_gradients();
    network_.forward_and_backward(data_);
    network_.for_each_parameter([&](std::size_t, const ParameterTensor& p, const Array& weights, const Array& gradients) {
        list_.push_back({p.name, weights, from_device(device_, weights), from_device(device_, gradients)});
    });
}

double Slope::norm(std::size_t first, std::size_t last) const {
    double sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += std::pow(norm_of(list_[i].gradient), 2);
    return std::sqrt(sum);
}

double Slope::measure(std::size_t first, std::size_t last, double way) {
    const double unit = way / norm(first, last);
    const double rise = loss_at(first, last, unit) - loss_at(first, last, -unit);
    loss_at(first, last, 0);
    return rise / (2 * way);
}

double Slope::loss_at(std::size_t first, std::size_t last, double factor) {
    for (std::size_t i = first; i < last; ++i) {
        std::vector<float> moved = list_[i].begin;
        for (std::size_t k = 0; k < moved.size(); ++k) moved[k] += static_cast<float>(factor) * list_[i].gradient[k];
        device_.upload(moved.data(), list_[i].weights);
    }
    const double of_last = network_.forward_and_backward(data_);
    return of_last + others_ * std::accumulate(network_.losses().begin(), network_.losses().end() - 1, 0.0);
}

void expect_gradient_of_all_parameters(const std::string& name, std::int64_t image_px, std::int64_t samples) {
    Workload w = small_network("resnet18").workload;
    w.spec = ConvolutionalSpec{.name = name, .image_px = image_px, .classes = 10};
    const std::unique_ptr<ComputeDevice> made = make_device();
    ComputeDevice& device = *made;
    SingleRank alone;
    WholeNetwork net(device, alone, w, {.shard = {.micro_batch = samples}});
    net.draw_weights(3);
    Slope slope(device, net, made_data(device, w.name));
    // So far that the loss changes by 0.01: kinks and curvature then leave a few percent.
    const double norm = slope.norm(0, slope.size());
    EXPECT_NEAR(slope.measure(0, slope.size(), 0.005 / norm), norm, 0.05 * norm) << name;
}

}  // namespace sextant
