// It learns: on tasks that can be learnt the loss falls to a fraction of what guessing costs. Dropout is on where the network has it.
#include "tests/backend/arrays.hpp"
#include "tests/backend/engine.hpp"
#include "tests/backend/networks.hpp"
#include "tests/backend/single_rank.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

// Losses of the first and the last of so many steps; `batch(step)` gives the data of a step.
std::pair<double, double> train(const Workload& workload, std::int64_t samples, int steps, const OptimizerSettings& settings,
                                const std::function<WholeNetwork::Data(ComputeDevice&, int)>& batch) {
    const std::unique_ptr<ComputeDevice> made = make_device();
    ComputeDevice& device = *made;
    SingleRank alone;
    WholeNetwork net(device, alone, workload, {.shard = {.micro_batch = samples}});
    net.draw_weights(1);
    double first = 0, last = 0;
    for (int step = 0; step < steps; ++step) {
        net.clear_gradients();
        last = net.forward_and_backward(batch(device, step), {.seed = 2, .step = static_cast<std::uint64_t>(step)});
        if (step == 0) first = last;
        net.update(settings);
    }
    return {first, last};
}

// The class of a sample is where its largest of five features stands.
WholeNetwork::Data largest_feature(ComputeDevice& device, int step) {
    constexpr std::int64_t samples = 32, features = 12, classes = 5;
    const std::vector<float> x = made_reals(Made::input, {static_cast<std::uint64_t>(step) % 8}, samples * features);
    std::vector<std::int64_t> labels;
    for (std::int64_t s = 0; s < samples; ++s)
        labels.push_back(std::max_element(&x[s * features], &x[s * features] + classes) - &x[s * features]);
    return [&device, x, labels](const Tensor& t) { return t.role == TensorRole::index ? to_device(device, labels) : to_device(device, x); };
}

// The next token is the one before times two, plus one.
WholeNetwork::Data doubling_tokens(ComputeDevice& device, int step) {
    constexpr std::int64_t samples = 8, length = 8, vocabulary = 61;
    std::vector<std::int64_t> tokens, next;
    for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t i = 0, token = (step * samples + s) * 7 % vocabulary; i < length; ++i) {
            tokens.push_back(token);
            token = (2 * token + 1) % vocabulary;
            next.push_back(token);
        }
    return [&device, tokens, next](const Tensor& t) { return to_device(device, t.name == "tokens" ? tokens : next); };
}

// Two classes of images: bright above or bright below.
WholeNetwork::Data bright_half(ComputeDevice& device, int step) {
    constexpr std::int64_t samples = 8, pixels = 32 * 32, channels = 3;
    std::vector<float> x = made_reals(Made::input, {static_cast<std::uint64_t>(step) % 4}, samples * pixels * channels);
    std::vector<std::int64_t> labels;
    for (std::int64_t s = 0; s < samples; ++s) {
        labels.push_back((s + step) % 2);
        for (std::int64_t i = 0; i < pixels * channels; ++i)
            x[s * pixels * channels + i] += (i < pixels * channels / 2) == (labels.back() == 0) ? 1.0F : 0.0F;
    }
    return [&device, x, labels](const Tensor& t) { return t.role == TensorRole::index ? to_device(device, labels) : to_device(device, x); };
}

TEST(Training, LearnsToFindTheLargestFeature) {
    const auto [first, last] = train(small_network("mlp").workload, 32, 150, {.learning_rate = 0.01}, largest_feature);
    EXPECT_NEAR(first, std::log(5), 0.3);
    EXPECT_LT(last, 0.3);
}

TEST(Training, LearnsToPredictTheNextToken) {
    for (const char* name : {"gpt", "llama"}) {
        Workload workload = small_network(name).workload;
        std::get<TransformerSpec>(workload.spec).dropout = true;
        const auto [first, last] = train(workload, 8, 150, {.kind = Optimizer::adam, .learning_rate = 0.005}, doubling_tokens);
        EXPECT_NEAR(first, std::log(61), 0.5) << name;
        EXPECT_LT(last, 1) << name;
    }
}

TEST(Training, LearnsToSeeWhichHalfOfAnImageIsBright) {
    const auto [first, last] =
        train(small_network("resnet18").workload, 8, 8, {.kind = Optimizer::momentum, .learning_rate = 0.02}, bright_half);
    EXPECT_GT(first, 1.5);  // it begins with ten classes
    EXPECT_LT(last, 0.5);
}

TEST(Training, LearnsWithTheStepsOfLamb) {
    // LAMB takes one tensor at a time; this network of one matrix and a bias has two.
    const std::unique_ptr<ComputeDevice> made = make_device();
    ComputeDevice& device = *made;
    SingleRank alone;
    Workload workload = small_network("mlp").workload;
    workload.spec = MlpSpec{.widths = {12, 5}};
    WholeNetwork net(device, alone, workload, {.shard = {.micro_batch = 32}});
    net.draw_weights(1);
    std::vector<Array> states(4);
    double first = 0, last = 0;
    for (int step = 1; step <= 100; ++step) {
        net.clear_gradients();
        last = net.forward_and_backward(largest_feature(device, step));
        if (step == 1) first = last;
        std::size_t next = 0;
        net.for_each_parameter([&](std::size_t, const ParameterTensor&, const Array& weights, const Array& gradients) {
            const auto own = std::span(states).subspan(2 * next++, 2);
            for (Array& state : own) {
                if (state) continue;
                state = device.allocate(weights.elements);
                device.fill(state, 0);
            }
            const OptimizerSettings settings{.kind = Optimizer::lamb, .learning_rate = 0.05};
            const Array squares = to_device(device, std::vector<float>{0, 0});
            device.take_moments(settings, step, weights, gradients, own, squares);
            device.step_in_proportion(settings, step, weights, own, squares);
        });
    }
    EXPECT_LT(last, 0.6 * first);
}

}  // namespace
}  // namespace sextant
