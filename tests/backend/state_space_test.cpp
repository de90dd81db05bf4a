// The operators of a state space against what they are defined as, token by token in double precision; gradients against differences of
// that.
#include "tests/backend/arrays.hpp"
#include "tests/backend/engine.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

namespace sextant {
namespace {

using Values = std::vector<double>;

// An operator with its arrays, and what it is defined as: outputs from inputs and weights, one behind the other.
struct StateSpaceCase {
    OperatorKind kind;
    std::vector<std::vector<std::int64_t>> inputs, outputs;
    std::vector<std::int64_t> weights;  // elements of each
    std::function<std::vector<Values>(const std::vector<Values>& inputs, const std::vector<Values>& weights)> definition;
};

Values wide(const std::vector<float>& v) { return {v.begin(), v.end()}; }

// The sum of all outputs, each element times a number of its own.
double probed(const std::vector<Values>& outputs, const std::vector<std::vector<float>>& probes) {
    double sum = 0;
    for (std::size_t o = 0; o < outputs.size(); ++o)
        for (std::size_t i = 0; i < outputs[o].size(); ++i) sum += outputs[o][i] * probes[o][i];
    return sum;
}

void expect_near(const std::vector<float>& found, const Values& expected, const std::string& what) {
    const std::vector<float> narrow(expected.begin(), expected.end());
    EXPECT_LT(relative_error(found, narrow), 2e-4) << what;
}

// The operator alone on a device. Gradients of weights begin as a quarter, to which what is found is added.
struct Alone {
    std::unique_ptr<ComputeDevice> device = make_device();
    OperatorGraph graph;
    std::vector<Array> inputs, outputs, weights, input_gradients, output_gradients, weight_gradients;
    static constexpr float begun = 0.25F;

    Alone(const StateSpaceCase& test, const std::vector<std::vector<float>>& input_values,
          const std::vector<std::vector<float>>& weight_values, const std::vector<std::vector<float>>& probes) {
        OperatorGraphBuilder builder;
        Operator op{.name = "op", .kind = test.kind};
        for (const auto& shape : test.inputs) op.inputs.push_back(builder.input("in", shape));
        builder.add(op, test.outputs[0]);
        for (std::size_t i = 1; i < test.outputs.size(); ++i) builder.also("out", test.outputs[i], TensorRole::activation);
        graph = std::move(builder).build();
        put(input_values, inputs, input_gradients);
        put(weight_values, weights, weight_gradients);
        put(probes, output_gradients, outputs);
        for (const Array& gradient : weight_gradients) device->fill(gradient, begun);
    }
    void run() {
        const OperatorCall call{.graph = graph,
                                .op = graph.operators().front(),
                                .inputs = inputs,
                                .outputs = outputs,
                                .weights = weights,
                                .input_gradients = input_gradients,
                                .output_gradients = output_gradients,
                                .weight_gradients = weight_gradients,
                                .place = {}};
        device->forward(call);
        device->backward(call);
    }

private:
    // Arrays of these values, and as many of undefined content beside them.
    void put(const std::vector<std::vector<float>>& values, std::vector<Array>& arrays, std::vector<Array>& beside) const {
        for (const auto& v : values) {
            arrays.push_back(to_device(*device, v));
            beside.push_back(device->allocate(std::ssize(v)));
        }
    }
};

std::vector<std::vector<float>> made_all(Made kind, const std::vector<std::int64_t>& elements) {
    std::vector<std::vector<float>> all;
    for (const std::int64_t count : elements) all.push_back(made_reals(kind, {7, all.size()}, count));
    return all;
}
std::vector<std::int64_t> elements_of(const std::vector<std::vector<std::int64_t>>& shapes) {
    std::vector<std::int64_t> elements;
    for (const auto& shape : shapes) elements.push_back(shape[0] * shape[1]);
    return elements;
}
std::vector<Values> all_wide(const std::vector<std::vector<float>>& values) {
    std::vector<Values> all;
    for (const auto& v : values) all.push_back(wide(v));
    return all;
}

void check(const StateSpaceCase& test) {
    const auto made_inputs = made_all(Made::input, elements_of(test.inputs)), made_weights = made_all(Made::weight, test.weights);
    const auto probes = made_all(Made::probe, elements_of(test.outputs));
    Alone alone(test, made_inputs, made_weights, probes);
    alone.run();
    std::vector<Values> inputs = all_wide(made_inputs), weights = all_wide(made_weights);
    const auto expected = test.definition(inputs, weights);
    for (std::size_t i = 0; i < expected.size(); ++i)
        expect_near(from_device(*alone.device, alone.outputs[i]), expected[i], "output " + std::to_string(i));

    constexpr double way = 1e-5;
    const auto differences = [&](Values& of) {
        Values slopes;
        for (double& value : of) {
            const double was = value;
            value = was + way;
            const double above = probed(test.definition(inputs, weights), probes);
            value = was - way;
            slopes.push_back((above - probed(test.definition(inputs, weights), probes)) / (2 * way));
            value = was;
        }
        return slopes;
    };
    for (std::size_t i = 0; i < inputs.size(); ++i)
        expect_near(from_device(*alone.device, alone.input_gradients[i]), differences(inputs[i]), "gradient of input " + std::to_string(i));
    for (std::size_t i = 0; i < weights.size(); ++i) {
        Values slopes = differences(weights[i]);
        for (double& s : slopes) s += Alone::begun;
        expect_near(from_device(*alone.device, alone.weight_gradients[i]), slopes, "gradient of weight " + std::to_string(i));
    }
}

double silu(double x) { return x / (1 + std::exp(-x)); }

// As the operator's comment says it.
std::vector<Values> scan(const StateSpaceScan& s, const std::vector<Values>& in, const std::vector<Values>& weights) {
    Values y(in[0].size());
    const std::int64_t heads_of_group = s.heads / s.groups;
    for (std::int64_t sample = 0; sample < s.batch; ++sample)
        for (std::int64_t h = 0; h < s.heads; ++h) {
            Values state(static_cast<std::size_t>(s.head_dim * s.state));
            for (std::int64_t t = 0; t < s.sequence; ++t) {
                const std::int64_t token = sample * s.sequence + t, shared = (token * s.groups + h / heads_of_group) * s.state;
                const double dt = std::log1p(std::exp(in[3][token * s.heads + h] + weights[1][h]));
                const double kept = std::exp(-std::exp(weights[0][h]) * dt);
                for (std::int64_t e = 0; e < s.head_dim; ++e) {
                    const std::int64_t at = (token * s.heads + h) * s.head_dim + e;
                    y[at] = weights[2][h] * in[0][at];
                    for (std::int64_t n = 0; n < s.state; ++n) {
                        double& value = state[e * s.state + n];
                        value = kept * value + dt * in[0][at] * in[1][shared + n];
                        y[at] += value * in[2][shared + n];
                    }
                }
            }
        }
    return {y};
}

TEST(StateSpace, ScansByChunksAsTokenByToken) {
    // One chunk that is not full, a whole one and a rest, chunks of a single token; several groups or one.
    for (const auto& [sequence, chunk, groups] : {std::array<std::int64_t, 3>{5, 8, 2}, {11, 4, 2}, {3, 1, 4}, {8, 4, 1}}) {
        const StateSpaceScan s{.batch = 2, .sequence = sequence, .heads = 4, .head_dim = 3, .groups = groups, .state = 5, .chunk = chunk};
        const std::int64_t tokens = s.batch * s.sequence, inner = s.heads * s.head_dim, shared = s.groups * s.state;
        SCOPED_TRACE(std::to_string(sequence) + " tokens by " + std::to_string(chunk));
        check({.kind = s,
               .inputs = {{tokens, inner}, {tokens, shared}, {tokens, shared}, {tokens, s.heads}},
               .outputs = {{tokens, inner}},
               .weights = {s.heads, s.heads, s.heads},
               .definition = [s](const auto& in, const auto& weights) { return scan(s, in, weights); }});
    }
}

TEST(StateSpace, ScansWhereAStepIsTooSmallToBeTold) {
    const StateSpaceScan s{.batch = 1, .sequence = 4, .heads = 1, .head_dim = 2, .groups = 1, .state = 2, .chunk = 2};
    const StateSpaceCase test{
        .kind = s, .inputs = {{4, 2}, {4, 2}, {4, 2}, {4, 1}}, .outputs = {{4, 2}}, .weights = {1, 1, 1}, .definition = {}};
    const std::vector<float> pair(8, 0.5F), steps(4, -200.0F), zero(1, 0.0F);
    Alone alone(test, {pair, pair, pair, steps}, {zero, zero, zero}, {pair});
    alone.run();
    for (const auto& arrays : {alone.outputs, alone.input_gradients, alone.weight_gradients})
        for (const Array& a : arrays)
            for (const float value : from_device(*alone.device, a)) EXPECT_TRUE(std::isfinite(value));
}

TEST(StateSpace, ConvolvesEachChannelWithTheTokensBefore) {
    const SequenceConvolution s{.batch = 2, .sequence = 6, .channels = 8, .kernel = 3};
    const std::int64_t tokens = s.batch * s.sequence;
    const std::vector<std::int64_t> widths{5, 2, 1};
    check({.kind = s,
           .inputs = {{tokens, 5}, {tokens, 2}, {tokens, 1}},
           .outputs = {{tokens, 5}, {tokens, 2}, {tokens, 1}},
           .weights = {s.channels * s.kernel, s.channels},
           .definition = [=](const auto& in, const auto& weights) {
               std::vector<Values> out;
               std::int64_t first = 0;
               for (std::size_t a = 0; a < widths.size(); first += widths[a++]) {
                   Values& y = out.emplace_back(in[a].size());
                   for (std::int64_t token = 0; token < tokens; ++token)
                       for (std::int64_t c = 0; c < widths[a]; ++c) {
                           double sum = weights[1][first + c];
                           for (std::int64_t k = 0; k < s.kernel; ++k)
                               if (const std::int64_t back = s.kernel - 1 - k; back <= token % s.sequence)
                                   sum += weights[0][(first + c) * s.kernel + k] * in[a][(token - back) * widths[a] + c];
                           y[token * widths[a] + c] = silu(sum);
                       }
               }
               return out;
           }});
}

TEST(StateSpace, NormalizesPartsOfWhatAGateLetsThrough) {
    const Normalization n{.kind = NormKind::rms, .rows = 5, .width = 12, .parts = 3, .gated = true};
    check({.kind = n,
           .inputs = {{5, 12}, {5, 12}},
           .outputs = {{5, 12}},
           .weights = {12},
           .definition = [](const auto& in, const auto& weights) {
               Values y(60);
               for (std::size_t first = 0; first < y.size(); first += 4) {
                   double squares = 0;
                   for (std::size_t i = first; i < first + 4; ++i) squares += std::pow(in[0][i] * silu(in[1][i]), 2);
                   const double factor = 1 / std::sqrt(squares / 4 + 1e-5);
                   for (std::size_t i = first; i < first + 4; ++i) y[i] = in[0][i] * silu(in[1][i]) * factor * weights[0][i % 12];
               }
               return std::vector<Values>{y};
           }});
}

// Each of `rows`, of this width, so many times side by side.
std::vector<float> side_by_side(const std::vector<float>& rows, std::int64_t width, int times) {
    std::vector<float> wide_rows;
    for (auto row = rows.begin(); row != rows.end(); row += width)
        for (int i = 0; i < times; ++i) wide_rows.insert(wide_rows.end(), row, row + width);
    return wide_rows;
}

// What is made of columns that do not know each other is the same where there are so many of them that a few rows are taken at a time.
void expect_the_same_side_by_side(StateSpaceCase one, const OperatorKind& of_many, int times) {
    const auto inputs = made_all(Made::input, elements_of(one.inputs)), weights = made_all(Made::weight, one.weights);
    const auto probes = made_all(Made::probe, elements_of(one.outputs));
    Alone few(one, inputs, weights, probes);
    few.run();
    const auto widened = [&](std::vector<std::vector<float>> values, const std::vector<std::vector<std::int64_t>>& shapes) {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = side_by_side(values[i], shapes[i][1], times);
        return values;
    };
    StateSpaceCase wider = one;
    wider.kind = of_many;
    for (auto* shapes : {&wider.inputs, &wider.outputs})
        for (auto& shape : *shapes) shape[1] *= times;
    std::vector<std::vector<std::int64_t>> whole;  // weights are one row
    for (const std::int64_t count : one.weights) whole.push_back({1, count});
    Alone many(wider, widened(inputs, one.inputs), widened(weights, whole), widened(probes, one.outputs));
    many.run();
    const auto compare = [&](const Array& found, const Array& expected, std::int64_t width, const std::string& what) {
        expect_near(from_device(*many.device, found), wide(side_by_side(from_device(*few.device, expected), width, times)), what);
    };
    compare(many.outputs[0], few.outputs[0], one.outputs[0][1], "output");
    for (std::size_t i = 0; i < inputs.size(); ++i)
        compare(many.input_gradients[i], few.input_gradients[i], one.inputs[i][1], "gradient of input " + std::to_string(i));
    for (std::size_t i = 0; i < weights.size(); ++i)
        compare(many.weight_gradients[i], few.weight_gradients[i], one.weights[i], "gradient of weight " + std::to_string(i));
}

TEST(StateSpace, TakesFewRowsAtATimeWhereTheyAreLong) {
    SequenceConvolution s{.batch = 2, .sequence = 11, .channels = 8, .kernel = 4};
    const StateSpaceCase convolution{
        .kind = s, .inputs = {{22, 8}}, .outputs = {{22, 8}}, .weights = {s.channels * s.kernel, s.channels}, .definition = {}};
    s.channels *= 1025;
    expect_the_same_side_by_side(convolution, s, 1025);
    Normalization n{.kind = NormKind::rms, .rows = 5, .width = 12, .parts = 3, .gated = true};
    const StateSpaceCase norm{.kind = n, .inputs = {{5, 12}, {5, 12}}, .outputs = {{5, 12}}, .weights = {12}, .definition = {}};
    n.width *= 1000;
    n.parts *= 1000;
    expect_the_same_side_by_side(norm, n, 1000);
}

}  // namespace
}  // namespace sextant
