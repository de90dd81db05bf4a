// Each operator's forward and backward against PyTorch (fixtures/operators.json), single precision here, double there; and in 16 bits
// against itself in fp32, at the same inputs.
#include "backend/exec/block_program.hpp"
#include "backend/exec/reals.hpp"
#include "tests/backend/arrays.hpp"
#include "tests/backend/engine.hpp"
#include "tests/backend/single_rank.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <limits>

namespace sextant {
namespace {

using Shape = std::vector<std::int64_t>;

// The one operator of a block, and the bounds of its index inputs.
struct OperatorCase {
    std::string name;
    OperatorKind kind;
    std::vector<Shape> inputs, outputs;
    double parameters = 0;
    std::int64_t samples = 1;
    std::int64_t below = 0;   // of integers in the first or the only index input
    bool statistics = false;  // a second output that no gradient comes from
};

Attention attention(std::int64_t kv_heads, std::int64_t queries, std::int64_t keys, bool causal, std::int64_t window = 0) {
    return {.batch = 2,
            .heads = 4,
            .kv_heads = kv_heads,
            .query_len = queries,
            .key_len = keys,
            .head_dim = 2,
            .value_dim = 2,
            .causal = causal,
            .window = window};
}

OperatorCase attention_case(const std::string& name, const Attention& a) {
    const Shape q{2 * a.query_len, 8}, k{2 * a.key_len, 2 * a.kv_heads};
    return {.name = name, .kind = a, .inputs = {q, k, k}, .outputs = {q, {2, 4, a.query_len}}, .samples = 2, .statistics = true};
}

OperatorCase convolution_case(const std::string& name, Convolution c, bool bias = false) {
    c.batch = 2;
    c.out_h = (c.in_h + 2 * c.padding_h - c.dilation * (c.kernel_h - 1) - 1) / c.stride + 1;
    c.out_w = (c.in_w + 2 * c.padding_w - c.dilation * (c.kernel_w - 1) - 1) / c.stride + 1;
    if (c.transposed) {
        c.out_h = c.in_h * c.stride;
        c.out_w = c.in_w * c.stride;
    }
    const std::int64_t weights = c.out_channels * c.in_channels / c.groups * c.kernel_h * c.kernel_w;
    return {.name = name,
            .kind = c,
            .inputs = {{2, c.in_channels, c.in_h, c.in_w}},
            .outputs = {{2, c.out_channels, c.out_h, c.out_w}},
            .parameters = static_cast<double>(weights + (bias ? c.out_channels : 0)),
            .samples = 2};
}

OperatorCase norm_case(const std::string& name, const Normalization& n, const Shape& shape, double parameters, std::int64_t samples,
                       bool statistics) {
    OperatorCase c{.name = name, .kind = n, .inputs = {shape}, .outputs = {shape}, .parameters = parameters, .samples = samples};
    if (statistics) c.outputs.push_back({2, n.rows});
    c.statistics = statistics;
    return c;
}

OperatorCase curve(const std::string& name, PointwiseKind kind) {
    return {.name = name, .kind = Pointwise{kind, 24}, .inputs = {{4, 6}}, .outputs = {{4, 6}}};
}

OperatorCase clamped_gate_case() {
    return {.name = "clamped swiglu", .kind = Pointwise{.kind = PointwiseKind::clamped_gate}, .inputs = {{4, 10}}, .outputs = {{4, 5}}};
}

OperatorCase pooling(const std::string& name, const Pooling& p, const Shape& in, const Shape& out) {
    return {.name = name, .kind = p, .inputs = {in}, .outputs = {out}, .samples = 2};
}

std::vector<OperatorCase> matrix_cases() {
    return {
        {.name = "gemm", .kind = Gemm{.m = 6, .n = 7, .k = 5}, .inputs = {{6, 5}}, .outputs = {{6, 7}}, .parameters = 42},
        {.name = "gemm without bias", .kind = Gemm{.m = 6, .n = 7, .k = 5}, .inputs = {{6, 5}}, .outputs = {{6, 7}}, .parameters = 35},
        {.name = "gemm of three outputs",
         .kind = Gemm{.m = 6, .n = 8, .k = 5},
         .inputs = {{6, 5}},
         .outputs = {{6, 4}, {6, 2}, {6, 2}},
         .parameters = 48},
        {.name = "gemm per pixel",
         .kind = Gemm{.m = 8, .n = 5, .k = 3},
         .inputs = {{2, 3, 2, 2}},
         .outputs = {{2, 5, 2, 2}},
         .parameters = 20,
         .samples = 2},
        attention_case("attention", attention(4, 5, 5, false)),
        attention_case("causal attention", attention(4, 70, 70, true)),
        attention_case("grouped attention", attention(2, 7, 7, true)),
        attention_case("windowed attention", attention(2, 70, 70, true, 3)),
        attention_case("cross attention", attention(4, 3, 6, false)),
    };
}

std::vector<OperatorCase> image_cases() {
    const Pooling max3{.kind = PoolingKind::max, .kernel = 3, .stride = 2, .padding = 1};
    const Pooling rounded{.kind = PoolingKind::max, .kernel = 3, .stride = 2};
    const Pooling average{.kind = PoolingKind::average, .kernel = 2, .stride = 2};
    const Pooling padded{.kind = PoolingKind::average, .kernel = 3, .stride = 1, .padding = 1};
    return {
        convolution_case("convolution", {.in_channels = 3, .out_channels = 4, .in_h = 5, .in_w = 6, .kernel_h = 3, .kernel_w = 3}),
        convolution_case(
            "padded convolution",
            {.in_channels = 3, .out_channels = 4, .in_h = 5, .in_w = 6, .kernel_h = 3, .kernel_w = 3, .padding_h = 1, .padding_w = 1},
            true),
        convolution_case("strided convolution", {.in_channels = 3,
                                                 .out_channels = 4,
                                                 .in_h = 9,
                                                 .in_w = 8,
                                                 .kernel_h = 7,
                                                 .kernel_w = 7,
                                                 .stride = 2,
                                                 .padding_h = 3,
                                                 .padding_w = 3}),
        convolution_case("strided pointwise convolution", {.in_channels = 3, .out_channels = 4, .in_h = 6, .in_w = 6, .stride = 2}),
        convolution_case("grouped convolution",
                         {.in_channels = 4,
                          .out_channels = 6,
                          .in_h = 5,
                          .in_w = 5,
                          .kernel_h = 3,
                          .kernel_w = 3,
                          .groups = 2,
                          .padding_h = 1,
                          .padding_w = 1},
                         true),
        convolution_case("depthwise convolution", {.in_channels = 4,
                                                   .out_channels = 4,
                                                   .in_h = 5,
                                                   .in_w = 5,
                                                   .kernel_h = 3,
                                                   .kernel_w = 3,
                                                   .stride = 2,
                                                   .groups = 4,
                                                   .padding_h = 1,
                                                   .padding_w = 1}),
        convolution_case("oblong convolution",
                         {.in_channels = 3, .out_channels = 4, .in_h = 5, .in_w = 8, .kernel_h = 1, .kernel_w = 7, .padding_w = 3}),
        convolution_case("dilated convolution",
                         {.in_channels = 3,
                          .out_channels = 4,
                          .in_h = 7,
                          .in_w = 6,
                          .kernel_h = 3,
                          .kernel_w = 3,
                          .padding_h = 2,
                          .padding_w = 2,
                          .dilation = 2},
                         true),
        convolution_case(
            "transposed convolution",
            {.in_channels = 3, .out_channels = 4, .in_h = 4, .in_w = 5, .kernel_h = 2, .kernel_w = 2, .stride = 2, .transposed = true},
            true),
        convolution_case("overlapping transposed convolution", {.in_channels = 3,
                                                                .out_channels = 4,
                                                                .in_h = 4,
                                                                .in_w = 5,
                                                                .kernel_h = 3,
                                                                .kernel_w = 3,
                                                                .stride = 2,
                                                                .padding_h = 1,
                                                                .padding_w = 1,
                                                                .transposed = true}),
        {.name = "repeated pixels",
         .kind = Pointwise{PointwiseKind::repeat, 324},
         .inputs = {{2, 3, 4, 3}},
         .outputs = {{2, 3, 6, 9}},
         .samples = 2},
        {.name = "interpolated pixels",
         .kind = Pointwise{PointwiseKind::interpolate, 378},
         .inputs = {{2, 3, 4, 3}},
         .outputs = {{2, 3, 7, 9}},
         .samples = 2},
        pooling("max pooling", max3, {2, 3, 6, 7}, {2, 3, 3, 4}),
        pooling("max pooling rounded up", rounded, {2, 3, 6, 6}, {2, 3, 3, 3}),
        pooling("average pooling", average, {2, 3, 6, 6}, {2, 3, 3, 3}),
        pooling("padded average pooling", padded, {2, 3, 4, 4}, {2, 3, 4, 4}),
        pooling("adaptive pooling", {.kind = PoolingKind::average}, {2, 3, 5, 5}, {2, 3, 3, 3}),
        pooling("global pooling", {.kind = PoolingKind::global_average}, {2, 3, 4, 4}, {2, 3}),
        {.name = "gate by channel",
         .kind = Pointwise{PointwiseKind::multiply, 24},
         .inputs = {{2, 3, 2, 2}, {2, 3}},
         .outputs = {{2, 3, 2, 2}},
         .samples = 2},
        {.name = "learned factor",
         .kind = Pointwise{PointwiseKind::multiply, 24},
         .inputs = {{2, 3, 2, 2}},
         .outputs = {{2, 3, 2, 2}},
         .parameters = 3,
         .samples = 2},
        {.name = "concatenation",
         .kind = Pointwise{PointwiseKind::copy, 32},
         .inputs = {{2, 3, 2, 2}, {2, 1, 2, 2}},
         .outputs = {{2, 4, 2, 2}},
         .samples = 2},
    };
}

std::vector<OperatorCase> norm_cases() {
    return {
        norm_case("layer norm", {NormKind::layer, 5, 8}, {5, 8}, 16, 1, false),
        norm_case("layer norm without shift", {NormKind::layer, 5, 8}, {5, 8}, 8, 1, false),
        norm_case("rms norm", {NormKind::rms, 5, 8}, {5, 8}, 8, 1, false),
        norm_case("batch norm", {NormKind::batch, 4, 18}, {3, 4, 2, 3}, 8, 3, true),
        norm_case("group norm", {NormKind::group, 6, 12}, {3, 4, 2, 3}, 8, 3, true),
        norm_case("layer norm of an image", {NormKind::layer, 18, 4}, {3, 4, 2, 3}, 8, 3, true),
        {.name = "softmax", .kind = Softmax{.rows = 15, .width = 5}, .inputs = {{3, 5, 5}}, .outputs = {{3, 5, 5}}},
    };
}

std::vector<OperatorCase> pointwise_cases() {
    const Pointwise swiglu{.kind = PointwiseKind::gate, .gate = PointwiseKind::silu},
        geglu{.kind = PointwiseKind::gate, .gate = PointwiseKind::gelu};
    return {
        curve("gelu", PointwiseKind::gelu),
        curve("relu", PointwiseKind::relu),
        curve("squared relu", PointwiseKind::squared_relu),
        curve("silu", PointwiseKind::silu),
        curve("sigmoid", PointwiseKind::sigmoid),
        curve("tanh", PointwiseKind::tanh),
        {.name = "swiglu", .kind = swiglu, .inputs = {{4, 10}}, .outputs = {{4, 5}}},
        clamped_gate_case(),
        {.name = "geglu", .kind = geglu, .inputs = {{4, 10}}, .outputs = {{4, 5}}},
        {.name = "bias", .kind = Pointwise{PointwiseKind::bias, 24}, .inputs = {{4, 6}}, .outputs = {{4, 6}}, .parameters = 6},
        {.name = "sum", .kind = Pointwise{PointwiseKind::add, 24}, .inputs = {{4, 6}, {4, 6}}, .outputs = {{4, 6}}},
        {.name = "scale", .kind = Pointwise{.kind = PointwiseKind::scale, .constant = 0.25}, .inputs = {{4, 6}}, .outputs = {{4, 6}}},
        {.name = "positions",
         .kind = Pointwise{PointwiseKind::add, 24},
         .inputs = {{6, 4}},
         .outputs = {{6, 4}},
         .parameters = 20,
         .samples = 2},
        {.name = "segments",
         .kind = Pointwise{PointwiseKind::add, 24},
         .inputs = {{8, 3}},
         .outputs = {{8, 3}},
         .parameters = 6,
         .samples = 2},
        {.name = "class token",
         .kind = Pointwise{PointwiseKind::copy, 32},
         .inputs = {{6, 4}},
         .outputs = {{8, 4}},
         .parameters = 4,
         .samples = 2},
        {.name = "first rows", .kind = Pointwise{PointwiseKind::copy, 8}, .inputs = {{6, 4}}, .outputs = {{2, 4}}, .samples = 2},
        {.name = "rotary",
         .kind = Pointwise{.kind = PointwiseKind::rotary, .constant = 10000, .head_dim = 4},
         .inputs = {{10, 8}, {10, 4}},
         .outputs = {{10, 8}, {10, 4}},
         .samples = 2},
    };
}

std::vector<OperatorCase> index_cases() {
    return {
        {.name = "embedding",
         .kind = Embedding{8, 7, 3},
         .inputs = {{2, 4}},
         .outputs = {{8, 3}},
         .parameters = 21,
         .samples = 2,
         .below = 7},
        {.name = "cross entropy", .kind = CrossEntropy{6, 5}, .inputs = {{6, 5}, {6}}, .outputs = {{6}}, .below = 5},
        {.name = "cross entropy of pixels",
         .kind = CrossEntropy{12, 5},
         .inputs = {{2, 5, 2, 3}, {12}},
         .outputs = {{12}},
         .samples = 2,
         .below = 5},
        {.name = "cross entropy over positions",
         .kind = CrossEntropy{4, 5},
         .inputs = {{10, 2}, {4}},
         .outputs = {{4}},
         .samples = 2,
         .below = 5},
    };
}

OperatorGraph graph_of(const OperatorCase& c) {
    const bool loss = std::holds_alternative<CrossEntropy>(c.kind);
    OperatorGraphBuilder b;
    std::vector<TensorId> inputs;
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {
        const bool index = c.below > 0 && i + 1 == c.inputs.size();
        inputs.push_back(b.input("input " + std::to_string(i), c.inputs[i], index ? TensorRole::index : TensorRole::activation));
    }
    const TensorId first = b.add({.name = "operator", .kind = c.kind, .inputs = inputs, .parameters = c.parameters}, c.outputs[0],
                                 loss ? TensorRole::statistic : TensorRole::activation);
    b.output(first);
    for (std::size_t i = 1; i < c.outputs.size(); ++i) {
        const TensorId id = b.also("further", c.outputs[i], c.statistics ? TensorRole::statistic : TensorRole::activation);
        if (!c.statistics) b.output(id);
    }
    return std::move(b).build();
}

const nlohmann::json& operator_fixtures() {
    static const nlohmann::json all = nlohmann::json::parse(std::ifstream(SEXTANT_SOURCE_DIR "/tests/backend/fixtures/operators.json"));
    return all;
}

// What an operator makes of the numbers of the fixtures.
struct OperatorResults {
    std::vector<std::vector<float>> outputs, input_gradients, weight_gradients;
};

// By which the numbers of the fixtures are multiplied.
struct Factors {
    float inputs = 1, gradients = 1;
};

std::vector<float> times(float factor, std::vector<float> values) {
    for (float& v : values) v *= factor;
    return values;
}

// `element`: of activations and weights. `rounded`: of the numbers that go in.
OperatorResults results_of(const OperatorCase& c, Element element, Element rounded, const Factors& by = {}) {
    const std::unique_ptr<ComputeDevice> made = make_device();
    ComputeDevice& device = *made;
    SingleRank alone;
    const OperatorGraph graph = graph_of(c);
    const BlockProgram program(graph, graph, Plan{}, {.samples = c.samples, .element = element});
    const auto put = [&](const std::vector<float>& values, Element to) {
        return uploaded(device, downloaded(device, uploaded(device, values, rounded)), to);
    };

    BlockContext context{device,
                         alone,
                         {device.allocate(program.elements(RunKind::own), element), {}},
                         {device.allocate(program.elements(RunKind::own)), {}},
                         {}};
    device.fill(context.gradients.own, 0);
    std::uint64_t ordinal = 0;
    for (const ParameterTensor& p : program.parameters())
        device.copy(put(made_reals(Made::weight, {ordinal++}, p.elements()), element), context.weights.own.part(p.offset, p.elements()));

    std::vector<Array> inputs, gradients;
    for (const TensorId id : program.graph().inputs()) {
        const Tensor& t = program.graph().tensor(id);
        const auto count = static_cast<std::int64_t>(t.elements());
        const std::uint64_t i = inputs.size();
        inputs.push_back(t.role == TensorRole::index ? to_device(device, made_integers(Made::input, i, count, c.below))
                                                     : put(times(by.inputs, made_reals(Made::input, {i}, count)), element));
    }
    BlockProgram::Kept kept;
    const std::vector<Array> outputs = program.forward(context, inputs, &kept);
    for (const Array& out : outputs)
        gradients.push_back(put(times(by.gradients, made_reals(Made::gradient, {gradients.size()}, out.elements)), out.element));
    const std::vector<Array> found = program.backward(context, std::move(kept), gradients);

    OperatorResults r;
    for (const Array& a : outputs) r.outputs.push_back(downloaded(device, a));
    for (const Array& a : found) r.input_gradients.push_back(a ? downloaded(device, a) : std::vector<float>{});
    for (const ParameterTensor& p : program.parameters())
        r.weight_gradients.push_back(downloaded(device, context.gradients.own.part(p.offset, p.elements())));
    return r;
}

// As many as were found; of an input that has no gradient nothing is expected.
void expect_near(const std::vector<std::vector<float>>& found, const std::vector<std::vector<float>>& expected, double tolerance,
                 const std::string& what) {
    ASSERT_LE(found.size(), expected.size()) << what;
    for (std::size_t i = 0; i < found.size(); ++i)
        if (!found[i].empty()) {
            EXPECT_LT(relative_error(found[i], expected[i]), tolerance) << what << ' ' << i;
        }
}

class OperatorAgainstPyTorch : public testing::TestWithParam<OperatorCase> {};

TEST_P(OperatorAgainstPyTorch, AgreesForwardAndBackward) {
    const OperatorResults found = results_of(GetParam(), Element::real, Element::real);
    const auto expected = [&](const char* key) {
        return operator_fixtures().at(GetParam().name)[key].get<std::vector<std::vector<float>>>();
    };
    expect_near(found.outputs, expected("outputs"), 1e-5, "output");
    expect_near(found.input_gradients, expected("input_gradients"), 1e-5, "gradient of input");
    expect_near(found.weight_gradients, expected("weight_gradients"), 1e-5, "gradient of parameter");
}

// Of few pixels it is a product of pixels by channels.
TEST(Convolutions, OfSinglePixelsAreProductsOfPixels) {
    const OperatorResults found = results_of(
        convolution_case("pointwise", {.in_channels = 3, .out_channels = 5, .in_h = 2, .in_w = 2}, true), Element::real, Element::real);
    const nlohmann::json& expected = operator_fixtures().at("gemm per pixel");
    expect_near(found.outputs, expected["outputs"], 1e-5, "output");
    expect_near(found.input_gradients, expected["input_gradients"], 1e-5, "gradient of input");
    expect_near(found.weight_gradients, expected["weight_gradients"], 1e-5, "gradient of parameter");
}

// Each element of a filter has the sum, over all pixels of the result, of their gradient times the pixel that it met.
TEST(Convolutions, OfLargeDepthwiseFiltersHaveTheGradientsOfTheirDefinition) {
    constexpr std::int64_t channels = 37, in = 6, out = 3, kernel = 5, padding = 2, stride = 2;  // one register's worth and a rest
    const OperatorResults found = results_of(convolution_case("large depthwise",
                                                              {.in_channels = channels,
                                                               .out_channels = channels,
                                                               .in_h = in,
                                                               .in_w = in,
                                                               .kernel_h = kernel,
                                                               .kernel_w = kernel,
                                                               .stride = stride,
                                                               .groups = channels,
                                                               .padding_h = padding,
                                                               .padding_w = padding},
                                                              true),
                                             Element::real, Element::real);
    const std::vector<float> x = made_reals(Made::input, {0}, 2 * in * in * channels),
                             dy = made_reals(Made::gradient, {0}, 2 * out * out * channels);
    std::vector<float> filters(channels * kernel * kernel), bias(channels);
    for (std::int64_t i = 0; i < std::ssize(dy); ++i) {
        const std::int64_t c = i % channels, column = i / channels % out, row = i / channels / out % out, sample = i / channels / out / out;
        bias[static_cast<std::size_t>(c)] += dy[static_cast<std::size_t>(i)];
        for (std::int64_t at = 0; at < kernel * kernel; ++at) {
            const std::int64_t y = row * stride + at / kernel - padding, z = column * stride + at % kernel - padding;
            if (y < 0 || y >= in || z < 0 || z >= in) continue;
            filters[static_cast<std::size_t>(c * kernel * kernel + at)] +=
                dy[static_cast<std::size_t>(i)] * x[static_cast<std::size_t>(((sample * in + y) * in + z) * channels + c)];
        }
    }
    expect_near(found.weight_gradients, {filters, bias}, 1e-5, "gradient of parameter");
}

// Of pixels that are all alike.
TEST(Poolings, GiveTheGradientToTheFirstOfSeveralLargest) {
    constexpr std::int64_t channels = 5, in = 4, out = 2;
    const OperatorResults found =
        results_of(pooling("ties", {.kind = PoolingKind::max, .kernel = 2, .stride = 2}, {2, channels, in, in}, {2, channels, out, out}),
                   Element::real, Element::real, {.inputs = 0});
    const std::vector<float> dy = made_reals(Made::gradient, {0}, 2 * out * out * channels);
    std::vector<float> expected(2 * in * in * channels);
    for (std::int64_t i = 0; i < std::ssize(dy); ++i) {
        const std::int64_t channel = i % channels, x = i / channels % out, y = i / channels / out;  // rows of all samples
        expected[static_cast<std::size_t>((2 * y * in + 2 * x) * channels + channel)] = dy[static_cast<std::size_t>(i)];
    }
    EXPECT_EQ(found.input_gradients[0], expected);
}

// OperatorResults are rounded once, and so is what backward reads of them: a few halves of the last bit.
TEST_P(OperatorAgainstPyTorch, AgreesWithItselfInSixteenBits) {
    for (const auto& [element, tolerance] : {std::pair{Element::bf16, 0x1p-6}, std::pair{Element::fp16, 0x1p-9}}) {
        const OperatorResults found = results_of(GetParam(), element, element), expected = results_of(GetParam(), Element::real, element);
        SCOPED_TRACE(element == Element::bf16 ? "bf16" : "fp16");
        expect_near(found.outputs, expected.outputs, tolerance, "output");
        expect_near(found.input_gradients, expected.input_gradients, tolerance, "gradient of input");
        expect_near(found.weight_gradients, expected.weight_gradients, tolerance, "gradient of parameter");
    }
}

// As PyTorch's: where a function is cut off, zero, and not zero times infinity.
TEST(OperatorGradients, OfWhatIsCutOffAreZeroBehindAnInfiniteOne) {
    const Factors by{.inputs = 10, .gradients = std::numeric_limits<float>::infinity()};
    for (const OperatorCase& c : {curve("relu", PointwiseKind::relu), curve("relu6", PointwiseKind::relu6),
                                  curve("squared relu", PointwiseKind::squared_relu), clamped_gate_case()})
        for (const Element element : {Element::real, Element::bf16, Element::fp16}) {
            const std::vector<float> found = results_of(c, element, element, by).input_gradients[0];
            EXPECT_THAT(found, testing::Contains(0.0F)) << c.name;
            EXPECT_THAT(found, testing::Each(testing::Not(testing::IsNan()))) << c.name;
        }
}

std::string test_name(const testing::TestParamInfo<OperatorCase>& info) {
    std::string name = info.param.name;
    for (char& ch : name)
        if (ch == ' ') ch = '_';
    return name;
}

INSTANTIATE_TEST_SUITE_P(Matrices, OperatorAgainstPyTorch, testing::ValuesIn(matrix_cases()), test_name);
INSTANTIATE_TEST_SUITE_P(Images, OperatorAgainstPyTorch, testing::ValuesIn(image_cases()), test_name);
INSTANTIATE_TEST_SUITE_P(Norms, OperatorAgainstPyTorch, testing::ValuesIn(norm_cases()), test_name);
INSTANTIATE_TEST_SUITE_P(Elements, OperatorAgainstPyTorch, testing::ValuesIn(pointwise_cases()), test_name);
INSTANTIATE_TEST_SUITE_P(Indices, OperatorAgainstPyTorch, testing::ValuesIn(index_cases()), test_name);

}  // namespace
}  // namespace sextant
