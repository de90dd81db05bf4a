// The kernels of accelerators against the CPU's operators, where the fixtures of operators_test.cpp do not go: cut tensors, padding, rows
// longer than the lanes, repeated ids. Both work in fp32 in another order.
#include "backend/cpu/cpu_device.hpp"
#include "backend/kernels/kernel_device.hpp"
#include "tests/backend/arrays.hpp"
#include "tests/backend/host_machine.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

using Shape = std::vector<std::int64_t>;

struct Trial {
    const char* name;
    OperatorKind kind;
    std::vector<Shape> inputs;
    std::vector<Tensor> outputs;
    std::vector<std::int64_t> weights{};  // elements
    std::int64_t samples = 1, below = 0;  // below: bound of the last input, integers
    std::int64_t first_row = 0, valid_rows = 0;
    Place place{};
    float grain = 0;  // inputs are multiples of it, so that some are equal

    friend void PrintTo(const Trial& t, std::ostream* out) { *out << t.name; }
};

std::vector<Trial> trials() {
    const auto out = [](const Shape& shape) { return Tensor{"out", shape, TensorRole::activation}; };
    const auto statistic = [](const Shape& shape) { return Tensor{"statistic", shape, TensorRole::statistic}; };
    const auto gate = [](PointwiseKind kind) { return Pointwise{.kind = PointwiseKind::gate, .gate = kind}; };
    const auto attention = [&](const char* name, std::int64_t queries, std::int64_t keys, bool causal, std::int64_t window) {
        return Trial{.name = name,
                     .kind = Attention{2, 6, 2, queries, keys, 5, 3, causal, window},
                     .inputs = {{2 * queries, 30}, {2 * keys, 10}, {2 * keys, 6}},
                     .outputs = {out({2 * queries, 18}), statistic({2, 6, queries})},
                     .samples = 2};
    };
    // Keys and queries of the second of three ranks of a context group: the second and the fifth of six slices.
    const auto of_context = [](Trial t, std::int64_t run, std::int64_t sequence) {
        t.place = {.run = run, .stride = run, .per_sample = 3 * sequence, .context = {1, 3, true}, .sequence = sequence};
        return t;
    };
    const auto falling = [](Trial t) {
        std::visit(
            [](auto& kind) {
                if constexpr (requires { kind.alibi; }) kind.alibi = true;
            },
            t.kind);
        return t;
    };
    const Pointwise add{.kind = PointwiseKind::add}, copy{.kind = PointwiseKind::copy};
    return {
        // Columns 5 to 9 of 10, three rows to a sample.
        {.name = "dropout of columns",
         .kind = Pointwise{.kind = PointwiseKind::dropout, .constant = 0.3},
         .inputs = {{6, 5}},
         .outputs = {out({6, 5}), {"mask", {6, 5}, TensorRole::mask}},
         .samples = 2,
         .place = {.run = 5, .stride = 10, .offset = 5, .per_sample = 30}},
        {.name = "relu6", .kind = Pointwise{.kind = PointwiseKind::relu6}, .inputs = {{7, 9}}, .outputs = {out({7, 9})}},
        {.name = "causal mask",
         .kind = Pointwise{.kind = PointwiseKind::mask, .causal = true, .window = 3},
         .inputs = {{4, 6, 8}},
         .outputs = {out({4, 6, 8})}},
        {.name = "window", .kind = Pointwise{.kind = PointwiseKind::mask, .window = 5}, .inputs = {{4, 7, 7}}, .outputs = {out({4, 7, 7})}},
        {.name = "tanh gate", .kind = gate(PointwiseKind::tanh), .inputs = {{5, 14}}, .outputs = {out({5, 7})}},
        {.name = "sigmoid gate", .kind = gate(PointwiseKind::sigmoid), .inputs = {{5, 14}}, .outputs = {out({5, 7})}},
        {.name = "rotary of grouped heads",
         .kind = Pointwise{.kind = PointwiseKind::rotary, .constant = 500, .head_dim = 6},
         .inputs = {{14, 24}, {14, 12}},
         .outputs = {out({14, 24}), out({14, 12})},
         .samples = 2},
        // Rows 3 to 13 of two samples of eight.
        {.name = "positions from the third on",
         .kind = add,
         .inputs = {{11, 4}},
         .outputs = {out({11, 4})},
         .weights = {36},
         .samples = 2,
         .place = {.run = 44, .stride = 64, .offset = 12, .per_sample = 32}},
        {.name = "three segments",
         .kind = add,
         .inputs = {{11, 4}},
         .outputs = {out({11, 4})},
         .weights = {12},
         .samples = 2,
         .place = {.run = 44, .stride = 64, .offset = 12, .per_sample = 32}},
        {.name = "class token", .kind = copy, .inputs = {{60, 5}}, .outputs = {out({63, 5})}, .weights = {5}, .samples = 3},
        {.name = "spread rows", .kind = copy, .inputs = {{40, 5}}, .outputs = {out({6, 5})}, .samples = 2},
        {.name = "wide layer norm",
         .kind = Normalization{NormKind::layer, 70, 130},
         .inputs = {{70, 130}},
         .outputs = {out({70, 130})},
         .weights = {130, 130}},
        {.name = "rms norm",
         .kind = Normalization{NormKind::rms, 70, 13},
         .inputs = {{70, 13}},
         .outputs = {out({70, 13})},
         .weights = {13}},
        {.name = "gated norm in parts",
         .kind = Normalization{NormKind::rms, 9, 12, 3, true},
         .inputs = {{9, 12}, {9, 12}},
         .outputs = {out({9, 12}), statistic({27})},
         .weights = {12}},
        {.name = "layer norm in parts without statistics",
         .kind = Normalization{NormKind::layer, 9, 12, 2},
         .inputs = {{9, 12}},
         .outputs = {out({9, 12})},
         .weights = {12, 12}},
        // Chunks of four, four and three tokens.
        {.name = "scan of chunks",
         .kind = StateSpaceScan{.batch = 2, .sequence = 11, .heads = 6, .head_dim = 3, .groups = 2, .state = 5, .chunk = 4},
         .inputs = {{22, 18}, {22, 10}, {22, 10}, {22, 6}},
         .outputs = {out({22, 18})},
         .weights = {6, 6, 6},
         .samples = 2},
        {.name = "scan of one chunk",
         .kind = StateSpaceScan{.batch = 1, .sequence = 7, .heads = 2, .head_dim = 4, .groups = 2, .state = 3, .chunk = 16},
         .inputs = {{7, 8}, {7, 6}, {7, 6}, {7, 2}},
         .outputs = {out({7, 8})},
         .weights = {2, 2, 2}},
        {.name = "convolution of sequences",
         .kind = SequenceConvolution{.batch = 2, .sequence = 9, .channels = 5, .kernel = 4},
         .inputs = {{18, 5}},
         .outputs = {out({18, 5})},
         .weights = {20, 5},
         .samples = 2},
        {.name = "batch norm without statistics",
         .kind = Normalization{NormKind::batch, 6, 4 * 9 * 11},
         .inputs = {{4, 6, 9, 11}},
         .outputs = {out({4, 6, 9, 11})},
         .weights = {6, 6},
         .samples = 4},
        {.name = "group norm",
         .kind = Normalization{NormKind::group, 12, 70},
         .inputs = {{3, 8, 7, 5}},
         .outputs = {out({3, 8, 7, 5}), statistic({2, 12})},
         .weights = {8, 8},
         .samples = 3},
        {.name = "wide softmax", .kind = Softmax{.rows = 9, .width = 70}, .inputs = {{9, 70}}, .outputs = {out({9, 70})}},
        // Classes 10 to 39 of 40; seven are padding.
        {.name = "cross entropy of some classes",
         .kind = CrossEntropy{20, 37},
         .inputs = {{20, 37}, {20}},
         .outputs = {statistic({20}), statistic({20, 3})},
         .below = 40,
         .first_row = 10,
         .valid_rows = 30},
        {.name = "cross entropy over positions",
         .kind = CrossEntropy{6, 11},
         .inputs = {{22, 3}, {6}},
         .outputs = {statistic({6}), statistic({6, 3})},
         .samples = 2,
         .below = 11,
         .valid_rows = 11},
        // Rows 2 to 4 of a table of seven.
        {.name = "embedding of some rows",
         .kind = Embedding{50, 4, 5},
         .inputs = {{50}},
         .outputs = {out({50, 5})},
         .weights = {20},
         .below = 7,
         .first_row = 2,
         .valid_rows = 3},
        attention("grouped attention", 70, 90, true, 0),
        attention("attention in a causal window", 70, 90, true, 7),
        attention("attention in a window", 70, 70, false, 6),
        attention("attention to fewer keys", 9, 4, false, 0),
        falling(attention("attention that falls with distance", 70, 90, true, 0)),
        falling(of_context(attention("attention of two slices that falls", 12, 36, true, 7), 24 * 18, 12 * 18)),
        falling({.name = "scores that fall with distance",
                 .kind = Pointwise{.kind = PointwiseKind::mask, .causal = true},
                 .inputs = {{4, 6, 8}},
                 .outputs = {out({4, 6, 8})}}),
        of_context(attention("attention of two slices", 140, 420, true, 0), 280 * 18, 140 * 18),
        of_context(attention("attention of two slices in a causal window", 12, 36, true, 7), 24 * 18, 12 * 18),
        of_context({.name = "causal mask of two slices",
                    .kind = Pointwise{.kind = PointwiseKind::mask, .causal = true},
                    .inputs = {{4, 6, 18}},
                    .outputs = {out({4, 6, 18})}},
                   4 * 6 * 18, 6 * 18),
        of_context({.name = "rotary of two slices",
                    .kind = Pointwise{.kind = PointwiseKind::rotary, .constant = 500, .head_dim = 6},
                    .inputs = {{8, 24}, {8, 12}},
                    .outputs = {out({8, 24}), out({8, 12})},
                    .samples = 2},
                   8 * 24, 4 * 24),
        of_context(
            {.name = "positions of two slices", .kind = add, .inputs = {{8, 4}}, .outputs = {out({8, 4})}, .weights = {52}, .samples = 2},
            8 * 4, 4 * 4),
        of_context(
            {.name = "segments of two slices", .kind = add, .inputs = {{8, 4}}, .outputs = {out({8, 4})}, .weights = {20}, .samples = 2},
            8 * 4, 4 * 4),
        of_context({.name = "dropout of two slices",
                    .kind = Pointwise{.kind = PointwiseKind::dropout, .constant = 0.3},
                    .inputs = {{8, 5}},
                    .outputs = {out({8, 5}), {"mask", {8, 5}, TensorRole::mask}},
                    .samples = 2},
                   8 * 5, 4 * 5),
        {.name = "scores of grouped heads",
         .kind = Gemm{.batch = 8, .m = 5, .n = 6, .k = 3, .weight = false},
         .inputs = {{10, 12}, {12, 6}},
         .outputs = {out({8, 5, 6})},
         .samples = 2},
        {.name = "results of grouped heads",
         .kind = Gemm{.batch = 8, .m = 5, .n = 4, .k = 6, .weight = false},
         .inputs = {{8, 5, 6}, {12, 8}},
         .outputs = {out({10, 16})},
         .samples = 2},
        // Heads of five columns, the last two of which all share: put together, and rotated.
        {.name = "heads with shared columns",
         .kind = Pointwise{.kind = PointwiseKind::copy, .head_dim = 5},
         .inputs = {{8, 9}, {8, 2}},
         .outputs = {out({8, 15})},
         .samples = 2},
        {.name = "rotary of a part of heads",
         .kind = Pointwise{.kind = PointwiseKind::rotary, .constant = 500, .head_dim = 7, .rotated_dim = 4},
         .inputs = {{14, 21}, {14, 4}},
         .outputs = {out({14, 21}), out({14, 4})},
         .samples = 2},
        {.name = "max pooling of equals",
         .kind = Pooling{.kind = PoolingKind::max, .kernel = 3, .stride = 2, .padding = 1},
         .inputs = {{2, 5, 9, 8}},
         .outputs = {out({2, 5, 5, 4})},
         .samples = 2,
         .grain = 0.5},
        {.name = "overlapping averages",
         .kind = Pooling{.kind = PoolingKind::average, .kernel = 3, .stride = 1, .padding = 1},
         .inputs = {{2, 5, 9, 8}},
         .outputs = {out({2, 5, 9, 8})},
         .samples = 2},
        {.name = "adaptive averages",
         .kind = Pooling{.kind = PoolingKind::average},
         .inputs = {{2, 5, 9, 8}},
         .outputs = {out({2, 5, 4, 3})},
         .samples = 2},
        // (3 - 1) 2 + 3 = 7 rows and columns are read of six: one behind, none before.
        {.name = "convolution that reads behind the image",
         .kind = Convolution{.batch = 2,
                             .in_channels = 4,
                             .out_channels = 6,
                             .in_h = 6,
                             .in_w = 6,
                             .out_h = 3,
                             .out_w = 3,
                             .kernel_h = 3,
                             .kernel_w = 3,
                             .stride = 2,
                             .groups = 2},
         .inputs = {{2, 4, 6, 6}},
         .outputs = {out({2, 6, 3, 3})},
         .weights = {6 * 2 * 9, 6},
         .samples = 2},
    };
}

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
        kernels::KernelDevice<HostMachine> device(lanes);
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
        kernels::KernelDevice<HostMachine> device(1);
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
TEST(Kernel, LetScoresFallAsPublished) {
    const kernels::ScoreFall of_eight{0, 8}, second_half_of_twelve{6, 12};
    EXPECT_FLOAT_EQ(of_eight.slope(0), 0.5F);
    EXPECT_FLOAT_EQ(of_eight.slope(7), 1.0F / 256);
    EXPECT_FLOAT_EQ(second_half_of_twelve.slope(1), 1.0F / 256);
    EXPECT_FLOAT_EQ(second_half_of_twelve.slope(2), std::sqrt(0.5F));
    EXPECT_FLOAT_EQ(second_half_of_twelve.slope(5), std::pow(2.0F, -3.5F));
    EXPECT_FLOAT_EQ(of_eight.of(0, 5, 2), 1.5F);
}

TEST(Kernel, DropTheElementsThatTheCpuDrops) {
    CpuDevice cpu;
    kernels::KernelDevice<HostMachine> device(1);
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
    kernels::KernelDevice<HostMachine> device(1);
    results(device, trial);
    const std::int64_t arrays = 500 * (128 + 64 + 64 + 8 + 128) + 3 * 8;  // and as many gradients, all of four bytes
    const auto taken = static_cast<double>(device.peak_bytes() - 2 * 4 * arrays),
               asked = static_cast<double>(kernels::scan_workspace(s, Element::real, true));
    EXPECT_NEAR(taken / asked, 1, 0.03);
}

TEST(Kernel, UpdateAsTheCpuDoes) {
    constexpr std::int64_t count = 40'000;  // more than a chunk of a norm
    for (const Optimizer kind : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam, Optimizer::adamw, Optimizer::lamb}) {
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
        kernels::KernelDevice<HostMachine> device(3);
        EXPECT_LT(relative_error(weights_after(device), weights_after(cpu)), 1e-6) << static_cast<int>(kind);
    }
}

TEST(Kernel, MergeTheLossesOfSeveralRanks) {
    // Two ranks, one row. Largest 3 and 1, sums 2 and 4, the label's logit 0.5 on the second: log(2 + 4 exp(-2)) + 3 - 0.5.
    kernels::KernelDevice<HostMachine> device(1);
    const Array parts = to_device(device, std::vector<float>{3, 2, 0, 1, 4, 0.5}), loss = device.allocate(1, Element::real);
    const Array statistics = device.allocate(3, Element::real);
    device.merge_losses(parts, 2, loss, statistics);
    EXPECT_NEAR(loss.reals()[0], std::log(2 + 4 * std::exp(-2.0)) + 2.5, 1e-6);
    EXPECT_NEAR(statistics.reals()[1], 2 + 4 * std::exp(-2.0), 1e-6);
}

TEST(Kernel, SumSquaresInDoublePrecision) {
    kernels::KernelDevice<HostMachine> device(3);
    constexpr std::int64_t count = 100'000;
    const std::array arrays{to_device(device, std::vector<float>(count, 0.5F)), to_device(device, std::vector<float>{3, 4})};
    EXPECT_NEAR(device.sum_of_squares(arrays), count * 0.25 + 25, 1e-9);
    EXPECT_EQ(device.sum_of_squares({}), 0);
}

}  // namespace
}  // namespace sextant
