// The kernels of accelerators against the CPU's operators, where the fixtures of operators_test.cpp do not go: cut tensors, padding, rows
// longer than the lanes, repeated ids. Both work in fp32 in another order.
#include "backend/cpu/cpu_device.hpp"
#include "backend/kernels/window_scores.hpp"
#include "tests/backend/arrays.hpp"
#include "tests/backend/host_device.hpp"
#include "tests/backend/kernel_trials.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

OperatorGraph graph_of(const Trial& t) {
    OperatorGraphBuilder b;
    std::vector<TensorId> inputs;
    for (std::size_t i = 0; i < t.inputs.size(); ++i) {
        const bool index = t.below > 0 && i + 1 == t.inputs.size();
        inputs.push_back(b.input("input", t.inputs[i], index ? TensorRole::index : TensorRole::activation));
    }
    b.output(b.add({.name = "operator", .kind = t.kind, .inputs = inputs}, t.outputs[0].shape, t.outputs[0].role));
    for (std::size_t i = 1; i < t.outputs.size(); ++i) b.also("further", t.outputs[i].shape, t.outputs[i].role);
    return std::move(b).build();
}

std::vector<float> reals(Made what, std::uint64_t index, std::int64_t count, float grain = 0) {
    std::vector<float> values = made_reals(what, {index}, count);
    for (float& v : values)
        if (grain > 0) v = grain * std::round(v / grain);
    return values;
}

// Outputs, gradients of inputs and of weights; masks as numbers.
std::vector<std::vector<float>> results(ComputeDevice& device, const Trial& t) {
    const OperatorGraph graph = graph_of(t);
    const Operator& op = graph.operators().front();
    std::vector<Array> inputs, outputs, weights, input_gradients, output_gradients(t.outputs.size()), weight_gradients;
    for (const TensorId id : op.inputs) {
        const auto count = static_cast<std::int64_t>(graph.tensor(id).elements());
        const bool index = graph.tensor(id).role == TensorRole::index;
        const std::uint64_t i = inputs.size();
        inputs.push_back(index ? to_device(device, made_integers(Made::input, i, count, t.below))
                               : to_device(device, reals(Made::input, i, count, t.grain)));
        input_gradients.push_back(index ? Array{} : device.allocate(count));
    }
    for (const TensorId id : op.outputs)
        outputs.push_back(
            device.allocate(static_cast<std::int64_t>(graph.tensor(id).elements()), element_of(graph.tensor(id).role, Element::real)));
    for (const std::int64_t count : t.weights) {
        weights.push_back(to_device(device, reals(Made::weight, weights.size(), count)));
        weight_gradients.push_back(to_device(device, reals(Made::probe, weights.size(), count)));
    }
    for (std::size_t i = 0; i < op.outputs.size(); ++i)
        if (i == 0 || std::holds_alternative<Pointwise>(t.kind))
            if (outputs[i].element == Element::real) output_gradients[i] = to_device(device, reals(Made::gradient, i, outputs[i].elements));
    OperatorCall c{.graph = graph,
                   .op = op,
                   .inputs = inputs,
                   .outputs = outputs,
                   .weights = weights,
                   .input_gradients = {},
                   .output_gradients = {},
                   .weight_gradients = {},
                   .place = t.place,
                   .samples = t.samples,
                   .first_row = t.first_row,
                   .valid_rows = t.valid_rows,
                   .dropout = RandomKey(7),
                   .first_sample = 3};
    device.forward(c);
    c.input_gradients = input_gradients;
    c.output_gradients = output_gradients;
    c.weight_gradients = weight_gradients;
    device.backward(c);
    std::vector<std::vector<float>> found;
    for (const Array& a : outputs) {
        if (a.element == Element::real)
            found.push_back(from_device(device, a));
        else
            found.emplace_back(a.mask(), a.mask() + a.elements);
    }
    for (const auto& list : {input_gradients, weight_gradients})
        for (const Array& a : list)
            if (a) found.push_back(from_device(device, a));
    return found;
}

class Kernels : public testing::TestWithParam<Trial> {};

TEST_P(Kernels, ComputeWhatTheCpuComputes) {
    CpuDevice cpu;
    const auto expected = results(cpu, GetParam());
    for (const int lanes : {1, 3, 4}) {
        HostDevice device(lanes);
        const auto found = results(device, GetParam());
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i)
            EXPECT_LT(relative_error(found[i], expected[i]), 1e-5) << "array " << i << ", " << lanes << " lanes";
    }
}

// Where the device has an operation for each part of attention: both slices of a context rank, windows, keys that nobody here sees.
TEST(Kernel, PutAttentionTogetherFromItsParts) {
    CpuDevice cpu;
    for (const Trial& trial : trials()) {
        if (!std::holds_alternative<Attention>(trial.kind)) continue;
        HostDevice device(1);
        device.machine().fuse_attention();
        const auto found = results(device, trial), expected = results(cpu, trial);
        for (std::size_t i = 0; i < found.size(); ++i) EXPECT_LT(relative_error(found[i], expected[i]), 1e-5) << trial.name << ", " << i;
    }
}

std::string test_name(const testing::TestParamInfo<Trial>& trial) {
    std::string name = trial.param.name;
    std::ranges::replace(name, ' ', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Operators, Kernels, testing::ValuesIn(trials()), test_name);

// The slopes of Press, Smith and Lewis: of eight heads 1/2, 1/4 ... 1/256; of twelve those, then every other one of sixteen.
TEST(Kernel, HaveTheSlopesOfAlibiAsPublished) {
    const kernels::AlibiBias of_eight{0, 8}, second_half_of_twelve{6, 12};
    EXPECT_FLOAT_EQ(of_eight.slope(0), 0.5F);
    EXPECT_FLOAT_EQ(of_eight.slope(7), 1.0F / 256);
    EXPECT_FLOAT_EQ(second_half_of_twelve.slope(1), 1.0F / 256);
    EXPECT_FLOAT_EQ(second_half_of_twelve.slope(2), std::sqrt(0.5F));
    EXPECT_FLOAT_EQ(second_half_of_twelve.slope(5), std::pow(2.0F, -3.5F));
    EXPECT_FLOAT_EQ(of_eight.penalty(0, 5, 2), 1.5F);
}

// One image of 6 x 6 pixels in windows of 3 x 3, rolled by one: pixel (y, x) then stands where (y + 1, x + 1) did, and row and column 5
// come from the other end.
TEST(Kernel, PixelsOfShiftedWindowsSeeThoseThatWereTheirNeighbours) {
    const kernels::ShiftedWindows windows{2, 3, 1};
    const auto came_around = [](std::int64_t window, std::int64_t inside) { return 3 * window + inside == 5; };
    for (std::int64_t score = 0; score < 4 * 81; ++score) {
        const std::int64_t window = score / 81, query = score / 9 % 9, key = score % 9;
        const bool rows = came_around(window / 2, query / 3) == came_around(window / 2, key / 3);
        const bool columns = came_around(window % 2, query % 3) == came_around(window % 2, key % 3);
        EXPECT_EQ(windows.sees(score), rows && columns) << score;
    }
}

// Swin's index of a pair of pixels: the distance down plus two, times five, plus the distance to the right plus two.
TEST(Kernel, BiasesAreThoseOfTheDistanceOfTwoPixels) {
    const kernels::DistanceTable table{3, 2};
    EXPECT_EQ(table.entry(0), 12) << "a pixel and itself";
    EXPECT_EQ(table.entry(8), 0) << "the first pixel and the last: two up, two left";
    EXPECT_EQ(table.entry(8 * 9), 24);
    EXPECT_EQ(table.entry(1 * 9 + 0), 13) << "one to the right";
    EXPECT_EQ(table.entry(81 + 3 * 9 + 0), 25 + 17) << "of the second head, one down";
    EXPECT_EQ(table.entry(2 * 81), 12) << "of the first head in the next window";
}

TEST(Kernel, DropTheElementsThatTheCpuDrops) {
    CpuDevice cpu;
    HostDevice device(1);
    const Trial dropout = trials().front();
    EXPECT_EQ(results(device, dropout)[1], results(cpu, dropout)[1]);
}

TEST(Kernel, TakeTheRoomForAScanThatIsAskedForBeforeARun) {
    const StateSpaceScan s{.batch = 2, .sequence = 250, .heads = 8, .head_dim = 16, .groups = 2, .state = 32, .chunk = 64};
    const Tensor y{"y", {500, 128}, TensorRole::activation};
    const Trial trial{.name = "scan",
                      .kind = s,
                      .inputs = {{500, 128}, {500, 64}, {500, 64}, {500, 8}},
                      .outputs = {y},
                      .weights = {8, 8, 8},
                      .samples = 2};
    HostDevice device(1);
    results(device, trial);
    const std::int64_t arrays = 500 * (128 + 64 + 64 + 8 + 128) + 3 * 8;  // and as many gradients, all of four bytes
    const auto taken = static_cast<double>(device.peak_bytes() - 2 * 4 * arrays),
               asked = static_cast<double>(kernels::scan_workspace(s, Element::real, true));
    EXPECT_NEAR(taken / asked, 1, 0.03);
}

TEST(Kernel, UpdateAsTheCpuDoes) {
    constexpr std::int64_t count = 40'000;  // more than a chunk of a norm
    for (const Optimizer kind : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam, Optimizer::adamw, Optimizer::lion}) {
        const OptimizerSettings settings{.kind = kind, .learning_rate = 0.01, .weight_decay = 0.1};
        const auto weights_after = [&](ComputeDevice& device) {
            const Array weights = to_device(device, reals(Made::weight, 0, count));
            std::vector<Array> states;
            for (int i = 0; i < facts_of(kind).states; ++i) states.push_back(to_device(device, std::vector<float>(count, 0)));
            for (int step = 1; step <= 3; ++step)
                device.update(settings, step, weights, to_device(device, reals(Made::gradient, static_cast<std::uint64_t>(step), count)),
                              states);
            return from_device(device, weights);
        };
        CpuDevice cpu;
        HostDevice device(3);
        EXPECT_LT(relative_error(weights_after(device), weights_after(cpu)), 1e-6) << static_cast<int>(kind);
    }
}

// The first step goes by the sign of the gradient, the second by that of 0.9 m + 0.1 g with m = 0.01 x the first gradient:
// 0.0045 - 0.001, -0.027 + 0.1, -0.1. Each is 0.1 long, and a tenth of the weight decays.
TEST(Kernel, LionStepsAsFarInEachDirection) {
    const OptimizerSettings settings{.kind = Optimizer::lion, .learning_rate = 0.1, .beta2 = 0.99, .weight_decay = 0.1};
    CpuDevice device;
    const Array weights = to_device(device, std::vector<float>{1, -2, 0.5F});
    const std::vector<Array> states{to_device(device, std::vector<float>(3, 0))};
    device.update(settings, 1, weights, to_device(device, std::vector<float>{0.5F, -3, 0}), states);
    EXPECT_THAT(from_device(device, weights), testing::Pointwise(testing::FloatNear(1e-6F), {0.89F, -1.88F, 0.495F}));
    device.update(settings, 2, weights, to_device(device, std::vector<float>{-0.01F, 1, -1}), states);
    EXPECT_THAT(from_device(device, weights), testing::Pointwise(testing::FloatNear(1e-6F), {0.7811F, -1.9612F, 0.59005F}));
}

// A tensor in two parts, the second of which another rank counts.
TEST(Kernel, UpdateInProportionAsTheCpuDoes) {
    constexpr std::int64_t count = 40'000, first = 30'000;
    const OptimizerSettings settings{.kind = Optimizer::lamb, .learning_rate = 0.01, .weight_decay = 0.1};
    const auto made = [&](ComputeDevice& device) {
        const Array weights = to_device(device, reals(Made::weight, 0, count));
        const std::vector<Array> states{to_device(device, std::vector<float>(count, 0)), to_device(device, std::vector<float>(count, 0))};
        for (int step = 1; step <= 3; ++step) {
            const Array gradients = to_device(device, reals(Made::gradient, static_cast<std::uint64_t>(step), count));
            const Array squares = to_device(device, std::vector<float>{0, 0});
            const auto take = [&](std::int64_t begin, std::int64_t elements, const Array& to) {
                const std::vector<Array> of_part{states[0].part(begin, elements), states[1].part(begin, elements)};
                device.take_moments(settings, step, weights.part(begin, elements), gradients.part(begin, elements), of_part, to);
            };
            take(0, first, squares);
            take(first, count - first, {});
            device.step_in_proportion(settings, step, weights, states, squares);
        }
        return from_device(device, weights);
    };
    CpuDevice cpu;
    HostDevice device(3);
    EXPECT_LT(relative_error(made(device), made(cpu)), 1e-6);
}

TEST(Kernel, MergeTheLossesOfSeveralRanks) {
    // Two ranks, one row. Largest 3 and 1, sums 2 and 4, the label's logit 0.5 on the second: log(2 + 4 exp(-2)) + 3 - 0.5.
    HostDevice device(1);
    const Array parts = to_device(device, std::vector<float>{3, 2, 0, 1, 4, 0.5}), loss = device.allocate(1, Element::real);
    const Array statistics = device.allocate(3, Element::real);
    device.merge_losses(parts, 2, loss, statistics);
    EXPECT_NEAR(loss.reals()[0], std::log(2 + 4 * std::exp(-2.0)) + 2.5, 1e-6);
    EXPECT_NEAR(statistics.reals()[1], 2 + 4 * std::exp(-2.0), 1e-6);
}

TEST(Kernel, SumSquaresInDoublePrecision) {
    HostDevice device(3);
    constexpr std::int64_t count = 100'000;
    const std::array arrays{to_device(device, std::vector<float>(count, 0.5F)), to_device(device, std::vector<float>{3, 4})};
    EXPECT_NEAR(device.sum_of_squares(arrays), count * 0.25 + 25, 1e-9);
    EXPECT_EQ(device.sum_of_squares({}), 0);
}

}  // namespace
}  // namespace sextant
