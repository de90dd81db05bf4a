// The kernels that choose experts against the host's choice: the same rows, places and counts, whatever is alike or no number.
#include "backend/cpu/cpu_device.hpp"
#include "backend/exec/reals.hpp"
#include "tests/backend/arrays.hpp"
#include "tests/backend/host_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace sextant {
namespace {

struct Choice {
    std::string name;
    TokenPermute rule;
    std::int64_t experts = 5;
    bool biases = false;
    RoutedTokens tokens{};
    Element element = Element::real;
};

// Of the tokens of a sequence a rank may have a part; more than a chunk has, and sequences that are no multiple of one.
std::vector<Choice> choices() {
    const auto in_groups = [](std::int64_t copies, std::int64_t groups, std::int64_t of_them) {
        return TokenPermute{.tokens = 97, .copies = copies, .expert_groups = groups, .groups_per_token = of_them};
    };
    const auto balanced = [](std::int64_t tokens) { return TokenPermute{.tokens = tokens, .copies = 2, .balance_loss = 1}; };
    return {{.name = "one token", .rule = {.copies = 2}},
            {.name = "one of five", .rule = {.tokens = 90}},
            {.name = "all of five", .rule = {.tokens = 90, .copies = 5}},
            {.name = "biases", .rule = {.tokens = 90, .copies = 8}, .experts = 40, .biases = true},
            {.name = "groups", .rule = in_groups(4, 6, 2), .experts = 24},
            {.name = "groups with biases", .rule = in_groups(4, 6, 3), .experts = 24, .biases = true},
            {.name = "groups of one", .rule = in_groups(3, 12, 4), .experts = 12, .biases = true},
            {.name = "capacity", .rule = {.tokens = 90, .copies = 2, .capacity = 30}},
            {.name = "little capacity",
             .rule = {.tokens = 90, .copies = 2, .balance_loss = 1, .capacity = 3},
             .biases = true,
             .tokens = {.of_sequence = 90}},
            {.name = "bf16", .rule = {.tokens = 90, .copies = 2}, .biases = true, .element = Element::bf16},
            {.name = "fp16", .rule = in_groups(4, 6, 3), .experts = 24, .element = Element::fp16},
            {.name = "sequences", .rule = balanced(90), .tokens = {.sequences = 3, .of_sequence = 30}},
            {.name = "many sequences", .rule = balanced(96), .biases = true, .tokens = {.sequences = 24, .of_sequence = 4}},
            {.name = "a part of sequences", .rule = balanced(60), .tokens = {.sequences = 3, .of_sequence = 40, .first = 30, .cut = true}}};
}

std::vector<float> coarse(Made what, std::uint64_t index, std::int64_t count) {
    std::vector<float> values = made_reals(what, {index}, count);
    for (float& v : values) v = std::round(4 * v) / 4;
    return values;
}

// Drawn; some alike, with zeros of both signs; some that are infinite or no numbers, of one token all.
std::vector<std::vector<float>> scores_of(const Choice& choice) {
    constexpr float infinity = std::numeric_limits<float>::infinity(), none = std::numeric_limits<float>::quiet_NaN();
    const std::int64_t count = choice.rule.tokens * choice.experts;
    std::vector<std::vector<float>> all{made_reals(Made::input, {0}, count), coarse(Made::input, 1, count),
                                        made_reals(Made::input, {2}, count)};
    for (std::size_t i = 0; i < all[2].size(); i += 3) all[2][i] = i % 2 == 0 ? none : i % 5 == 0 ? infinity : -infinity;
    std::fill_n(all[2].begin(), choice.experts, none);
    return all;
}

// Rows, places of scores, and counts.
std::vector<std::vector<std::int64_t>> chosen(ComputeDevice& device, const Choice& choice, const std::vector<float>& scores) {
    OperatorGraphBuilder b;
    const TensorId x = b.input("x", {choice.rule.tokens, 1}), s = b.input("scores", {choice.rule.tokens, choice.experts});
    b.output(b.add({.name = "permute", .kind = choice.rule, .inputs = {x, s}}, {choice.rule.tokens * choice.rule.copies, 1}));
    const OperatorGraph graph = std::move(b).build();
    const std::array inputs{Array{}, uploaded(device, scores, choice.element)};
    std::vector<Array> biases;
    if (choice.biases) biases.push_back(to_device(device, coarse(Made::weight, 0, choice.experts)));
    const OperatorCall call{.graph = graph,
                            .op = graph.operators().front(),
                            .inputs = inputs,
                            .outputs = {},
                            .weights = biases,
                            .input_gradients = {},
                            .output_gradients = {},
                            .weight_gradients = {},
                            .place = {}};
    const auto count = choice.rule.tokens * choice.rule.copies;
    const std::array made{device.allocate(count, Element::index), device.allocate(count, Element::index)};
    RoutedTokens tokens = choice.tokens;
    if (choice.rule.balance_loss == 0) tokens.of_sequence = choice.rule.tokens;
    const ExpertCounts counts = device.choose_experts(call, tokens, made[0], made[1]);
    std::vector<std::vector<std::int64_t>> lists{{}, {}, counts.chosen, counts.of_sequences};
    for (std::size_t i = 0; i < made.size(); ++i) {
        lists[i].resize(static_cast<std::size_t>(count));
        device.download(made[i], lists[i].data());
    }
    return lists;
}

TEST(ExpertChoice, OfKernelsIsThatOfCores) {
    CpuDevice cpu;
    for (const Choice& choice : choices())
        for (const std::vector<float>& scores : scores_of(choice)) {
            const auto expected = chosen(cpu, choice, scores);
            for (const int lanes : {1, 3}) {
                HostDevice device(lanes);
                EXPECT_EQ(chosen(device, choice, scores), expected) << choice.name << ", " << lanes << " lanes";
            }
        }
}

}  // namespace
}  // namespace sextant
