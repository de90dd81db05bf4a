// A router's choice, and the gradients of a mixture of experts against differences of the same mixture in double precision.
#include "backend/exec/block_program.hpp"
#include "backend/exec/routing.hpp"
#include "tests/backend/arrays.hpp"
#include "tests/backend/engine.hpp"
#include "tests/backend/single_rank.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>

namespace sextant {
namespace {

using testing::ElementsAre;

TEST(Routing, HasRoomsThatMostLoadsFitInto) {
    for (const auto& [rows, room] : {std::pair(0, 0), {1, 1}, {31, 31}, {33, 34}, {1000, 1024}, {1024, 1024}, {1025, 1088}})
        EXPECT_EQ(room_for(rows), room) << rows;
}

TEST(Routing, TakesTheLargestScoresAndTheLowerExpertOfTwoAlike) {
    // Token 0 takes experts 1 and 2, token 1 experts 0 and 1 of four alike, token 2 experts 3 and 0.
    const std::vector<float> scores{0.1F, 0.4F, 0.3F, 0.2F, 0.25F, 0.25F, 0.25F, 0.25F, 0.3F, 0.1F, 0.1F, 0.5F};
    const Choices choices = choose_experts(scores, {}, {.tokens = 3, .copies = 2});
    EXPECT_THAT(choices.chosen, ElementsAre(2, 2, 1, 1));
    EXPECT_THAT(choices.scores, ElementsAre(1, 2, 4, 5, 8, 11));  // two of each token
    // Rows 0 and 1 are expert 0's, 2 and 3 expert 1's, 4 expert 2's, 5 expert 3's.
    EXPECT_THAT(choices.rows, ElementsAre(2, 4, 0, 3, 1, 5));
}

// The same choices. Each expert has room for one: the second tokens of experts 1 and 0 are dropped.
TEST(Routing, DropsWhatAnExpertHasNoRoomFor) {
    const std::vector<float> scores{0.1F, 0.4F, 0.3F, 0.2F, 0.25F, 0.25F, 0.25F, 0.25F, 0.3F, 0.1F, 0.1F, 0.5F};
    const TokenPermute one_each{.tokens = 3, .copies = 2, .capacity = 1};
    const Choices choices = choose_experts(scores, {}, one_each);
    EXPECT_THAT(choices.rows, ElementsAre(1, 2, 0, no_row, no_row, 3));
    EXPECT_THAT(choices.chosen, ElementsAre(2, 2, 1, 1));
    EXPECT_THAT(rows_sent(choices.chosen, one_each), ElementsAre(1, 1, 1, 1));
    // Of two rooms each the second of expert 2 and of expert 3 stay empty.
    EXPECT_THAT(choose_experts(scores, {}, {.tokens = 3, .copies = 2, .capacity = 2}).rows, ElementsAre(2, 4, 0, 3, 1, 6));
}

TEST(Routing, GivesTokensWhoseScoresAreNoNumbersToTheFirstExperts) {
    const float none = std::numeric_limits<float>::quiet_NaN();
    EXPECT_THAT(choose_experts(std::vector<float>{none, none, none}, {}, {.copies = 2}).chosen, ElementsAre(1, 1, 0));
    EXPECT_THAT(choose_experts(std::vector<float>{none, 0.5F, none}, {}, {.copies = 3}).chosen, ElementsAre(1, 1, 1));
}

// Token 0 takes experts 0 and 3 instead of 1 and 2; token 1 would take them anyway.
TEST(Routing, AddsBiasesToWhatItCompares) {
    const std::vector<float> scores{0.5F, 0.75F, 0.625F, 0.5F, 0.5F, 0.25F, 0.0F, 0.5F};
    const Choices choices = choose_experts(scores, std::vector<float>{0.5F, 0, 0, 0.5F}, {.tokens = 2, .copies = 2});
    EXPECT_THAT(choices.scores, ElementsAre(0, 3, 4, 7));
    EXPECT_THAT(choose_experts(scores, {}, {.tokens = 2, .copies = 2}).scores, ElementsAre(1, 2, 4, 7));
}

// Three groups of two. A group counts as its best expert: the second, with 0.6. With biases, though of 0, as both: the third, with 1.
TEST(Routing, TakesExpertsOfTheBestGroupsAlone) {
    const std::vector<float> scores{0.4F, 0.3F, 0.6F, 0.1F, 0.5F, 0.5F};
    const TokenPermute one_group{.copies = 2, .expert_groups = 3};
    EXPECT_THAT(choose_experts(scores, {}, one_group).scores, ElementsAre(2, 3));
    EXPECT_THAT(choose_experts(scores, std::vector<float>(6), one_group).scores, ElementsAre(4, 5));
    const TokenPermute two_groups{.copies = 3, .expert_groups = 3, .groups_per_token = 2};
    EXPECT_THAT(choose_experts(scores, {}, two_groups).scores, ElementsAre(2, 4, 5));
    // Of groups alike the first; and an expert without a score before a good one of another group.
    const float none = std::numeric_limits<float>::quiet_NaN();
    EXPECT_THAT(choose_experts(std::vector<float>{0.1F, 0.2F, 0.2F, 0.1F}, {}, {.copies = 2, .expert_groups = 2}).scores,
                ElementsAre(0, 1));
    EXPECT_THAT(choose_experts(std::vector<float>{0.8F, 0.7F, none, 0.9F}, {}, {.copies = 2, .expert_groups = 2}).scores,
                ElementsAre(2, 3));
}

// A mean of 4.
TEST(Routing, MovesBiasesAgainstTheLoad) {
    EXPECT_THAT(bias_updates(std::vector<float>{7, 4, 0, 5}, 0.5), ElementsAre(-0.5F, 0, 0.5F, -0.5F));
}

// Two ranks sent rows for two experts: 1 and 2 from the first, 3 and 0 from the second. By expert: row 0, rows 3 to 5; rows 1 and 2.
TEST(Routing, BringsTheRowsOfAnExpertTogether) { EXPECT_THAT(order_by_expert({1, 2, 3, 0}, 2), ElementsAre(0, 3, 4, 5, 1, 2)); }

// Of two sequences of three tokens this rank has the last three of those six.
TEST(Routing, CountsTheChoicesOfEachSequence) {
    const std::vector<float> scores{0.1F, 0.9F, 0.0F, 0.6F, 0.3F, 0.1F, 0.2F, 0.7F, 0.1F};
    const Choices choices = choose_experts(scores, {}, {.tokens = 3});
    EXPECT_THAT(count_by_sequence(choices, 3, 1, {.sequences = 2, .of_sequence = 2, .first = 1, .cut = true}),
                ElementsAre(0, 1, 0, 1, 1, 0));
}

// Two sequences of four tokens, of which each goes to one of two experts: of weight 1 / 2 * 2 / 16 a token that has chosen so.
TEST(Routing, PullsAtScoresAsTheLossForBalanceDoes) {
    EXPECT_THAT(balance_pulls(std::vector<std::int64_t>{3, 1, 0, 4}, 2, 1, 4, 1), ElementsAre(0.1875F, 0.0625F, 0, 0.25F));
}

struct Mixture {
    std::string name;
    PointwiseKind activation = PointwiseKind::gate;
    std::int64_t topk = 2;
    bool bias = false;
    std::int64_t tokens = 7, hidden = 4, experts = 5, ffn = 3;
    double balance_loss = 0;
    std::int64_t sequences = 1;
    bool sigmoid = false;  // scores, with biases of the choice
    std::int64_t groups = 1, groups_per_token = 1;
    std::int64_t capacity = 0;

    friend void PrintTo(const Mixture& m, std::ostream* out) { *out << m.name; }
    [[nodiscard]] TokenPermute permute() const {
        return {.tokens = tokens,
                .width = hidden,
                .copies = topk,
                .expert_groups = groups,
                .groups_per_token = groups_per_token,
                .balance_loss = balance_loss,
                .capacity = capacity};
    }
    [[nodiscard]] std::int64_t inner() const { return activation == PointwiseKind::gate ? 2 * ffn : ffn; }
    // As the transformer's builder has it.
    [[nodiscard]] OperatorGraph graph() const {
        OperatorGraphBuilder b;
        const auto rows = tokens * topk;
        const TensorId x = b.input("x", {tokens, hidden});
        const auto write = [&](const char* of, const OperatorKind& kind, std::vector<TensorId> inputs, std::vector<std::int64_t> shape,
                               std::int64_t parameters = 0, bool of_experts = false) {
            Operator op{.name = of, .kind = kind, .inputs = std::move(inputs)};
            op.parameters = static_cast<double>(parameters);
            op.expert_parameters = of_experts;
            op.frozen = parameters > 0 && std::holds_alternative<TokenPermute>(kind);
            return b.add(std::move(op), std::move(shape));
        };
        const auto product = [&](const char* of, TensorId in, std::int64_t n, std::int64_t k) {
            return write(of, Gemm{.batch = experts, .m = (rows + experts - 1) / experts, .n = n, .k = k}, {in}, {rows, n},
                         experts * n * (bias ? k + 1 : k), true);
        };
        const TensorId logits = write("router", Gemm{.m = tokens, .n = experts, .k = hidden}, {x}, {tokens, experts}, experts * hidden);
        const OperatorKind score = sigmoid ? OperatorKind(Pointwise{PointwiseKind::sigmoid, static_cast<double>(tokens * experts)})
                                           : OperatorKind(Softmax{.rows = tokens, .width = experts});
        const TensorId scores = write("scores", score, {logits}, {tokens, experts});
        TensorId routed = write("permute", permute(), {x, scores}, {rows, hidden}, sigmoid ? experts : 0);
        const TensorId weights = b.also("weights", {rows}, TensorRole::statistic);
        routed = product("fc1", routed, inner(), hidden);
        const Pointwise act{.kind = activation, .elements = static_cast<double>(rows * ffn)};
        routed = product("fc2", write("act", act, {routed, weights}, {rows, ffn}), hidden, ffn);
        b.output(write("unpermute", permute(), {routed}, {tokens, hidden}));
        return std::move(b).build();
    }
};

using Parameters = std::map<std::string, std::vector<double>>;

double activated(const Mixture& m, const std::vector<double>& in, std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    if (m.activation == PointwiseKind::squared_relu) return in[at] > 0 ? in[at] * in[at] : 0;
    const double silu = in[at] / (1 + std::exp(-in[at]));
    return silu * in[at + static_cast<std::size_t>(m.ffn)];
}

// What one expert makes of a token, in double precision.
std::vector<double> through(const Mixture& m, const Parameters& p, std::int64_t expert, const double* token) {
    const auto product = [&](const std::string& of, std::int64_t n, std::int64_t k, const auto& in) {
        std::vector<double> out(static_cast<std::size_t>(n));
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t row = expert * n + i;
            double sum = m.bias ? p.at(of + ".bias")[static_cast<std::size_t>(row)] : 0;
            for (std::int64_t j = 0; j < k; ++j) sum += p.at(of + ".weight")[static_cast<std::size_t>(row * k + j)] * in[j];
            out[static_cast<std::size_t>(i)] = sum;
        }
        return out;
    };
    const std::vector<double> inner = product("fc1", m.inner(), m.hidden, token);
    std::vector<double> act(static_cast<std::size_t>(m.ffn));
    for (std::int64_t i = 0; i < m.ffn; ++i) act[static_cast<std::size_t>(i)] = activated(m, inner, i);
    return product("fc2", m.hidden, m.ffn, act);
}

// The router's, for a token.
std::vector<double> scores_of(const Mixture& m, const Parameters& p, std::int64_t t) {
    const double* token = p.at("x").data() + t * m.hidden;
    std::vector<double> scores;
    for (std::int64_t e = 0; e < m.experts; ++e) {
        double logit = 0;
        for (std::int64_t j = 0; j < m.hidden; ++j) logit += p.at("router.weight")[static_cast<std::size_t>(e * m.hidden + j)] * token[j];
        scores.push_back(m.sigmoid ? 1 / (1 + std::exp(-logit)) : std::exp(logit));
    }
    const double all = m.sigmoid ? 1 : std::accumulate(scores.begin(), scores.end(), 0.0);
    for (double& s : scores) s /= all;
    return scores;
}

using Chosen = std::vector<std::vector<std::int64_t>>;

// Over sequences the mean of experts / topk * the sum over experts of ( the part of tokens that chose it ) * ( its mean share of a token's
// scores ).
double balance_loss(const Mixture& m, const Parameters& p, const Chosen& chosen) {
    const std::int64_t length = m.tokens / m.sequences;
    double loss = 0;
    for (std::int64_t first = 0; first < m.tokens; first += length) {
        std::vector<double> parts(static_cast<std::size_t>(m.experts)), shares(parts.size());
        for (std::int64_t t = first; t < first + length; ++t) {
            for (const std::int64_t e : chosen[static_cast<std::size_t>(t)])
                parts[static_cast<std::size_t>(e)] += 1.0 / static_cast<double>(length);
            const std::vector<double> scores = scores_of(m, p, t);
            const double all = std::accumulate(scores.begin(), scores.end(), 0.0);
            for (std::size_t e = 0; e < shares.size(); ++e) shares[e] += scores[e] / all / static_cast<double>(length);
        }
        loss += static_cast<double>(m.experts) / static_cast<double>(m.topk) *
                std::inner_product(parts.begin(), parts.end(), shares.begin(), 0.0);
    }
    return m.balance_loss * loss / static_cast<double>(m.sequences);
}

// The product of what the mixture makes of x with a given gradient. A weight of several is a score over the sum of those chosen, whether or
// not there is room for them.
double product_with_gradient(const Mixture& m, const Parameters& p, const Chosen& chosen) {
    double sum = 0;
    std::vector<std::int64_t> taken(static_cast<std::size_t>(m.experts));
    for (std::int64_t t = 0; t < m.tokens; ++t) {
        const double* token = p.at("x").data() + t * m.hidden;
        const std::vector<double> scores = scores_of(m, p, t);
        double of_chosen = 0;
        for (const std::int64_t e : chosen[static_cast<std::size_t>(t)]) of_chosen += scores[static_cast<std::size_t>(e)];
        for (const std::int64_t e : chosen[static_cast<std::size_t>(t)]) {
            if (++taken[static_cast<std::size_t>(e)] > m.capacity && m.capacity > 0) continue;
            const double weight = scores[static_cast<std::size_t>(e)] / (m.topk > 1 ? of_chosen : 1);
            const std::vector<double> out = through(m, p, e, token);
            for (std::int64_t j = 0; j < m.hidden; ++j)
                sum += weight * out[static_cast<std::size_t>(j)] * p.at("gradient")[static_cast<std::size_t>(t * m.hidden + j)];
        }
    }
    return sum;
}

Chosen choices(const Mixture& m, const Parameters& p, bool with_biases = true) {
    std::vector<float> scores, biases;
    for (std::int64_t t = 0; t < m.tokens; ++t)
        for (const double s : scores_of(m, p, t)) scores.push_back(static_cast<float>(s));
    if (m.sigmoid && with_biases) biases.assign(p.at("permute.bias").begin(), p.at("permute.bias").end());
    const Choices made = choose_experts(scores, biases, m.permute());
    Chosen chosen(static_cast<std::size_t>(m.tokens));
    for (const std::int64_t place : made.scores) chosen[static_cast<std::size_t>(place / m.experts)].push_back(place % m.experts);
    return chosen;
}

class Mixtures : public testing::TestWithParam<Mixture> {};

TEST_P(Mixtures, HaveTheGradientsOfDifferences) {
    const Mixture& m = GetParam();
    const OperatorGraph graph = m.graph();
    const BlockProgram program(graph, graph, Plan{}, {.samples = m.sequences});
    const std::unique_ptr<ComputeDevice> device = make_device();
    SingleRank alone;
    const ParameterArrays weights{device->allocate(program.elements(RunKind::own)),
                                  {},
                                  device->allocate(program.elements(RunKind::experts)),
                                  {},
                                  device->allocate(program.elements(RunKind::biases))};
    const ParameterArrays gradients{
        device->allocate(program.elements(RunKind::own)), {}, device->allocate(program.elements(RunKind::experts))};
    for (const Array& a : {gradients.own, gradients.experts}) device->fill(a, 0);

    const auto made = [](Made kind, std::uint64_t index, std::int64_t count) { return made_reals(kind, {index}, count); };
    const std::vector<float> x = made(Made::input, 0, m.tokens * m.hidden), dy = made(Made::gradient, 0, m.tokens * m.hidden);
    Parameters p{{"x", {x.begin(), x.end()}}, {"gradient", {dy.begin(), dy.end()}}};
    for (const ParameterTensor& t : program.parameters()) {
        const std::vector<float> values = made(Made::weight, t.operator_index * 2 + (t.columns == 1 ? 1 : 0), t.elements());
        device->upload(values.data(), weights.of(t));
        p[t.name] = {values.begin(), values.end()};
    }

    const BlockContext context{*device, alone, weights, gradients, {}};
    BlockProgram::Kept kept;
    const Array input = to_device(*device, x);
    const std::vector<float> out = from_device(*device, program.forward(context, std::vector{input}, &kept).front());
    const std::vector<Array> dx = program.backward(context, std::move(kept), std::vector{to_device(*device, dy)});

    const auto chosen = choices(m, p);
    EXPECT_EQ(chosen == choices(m, p, false), !m.sigmoid) << "the biases decide nothing";
    double found = 0;
    for (std::size_t i = 0; i < out.size(); ++i) found += static_cast<double>(out[i]) * dy[i];
    EXPECT_NEAR(found, product_with_gradient(m, p, chosen), 1e-5 * std::sqrt(static_cast<double>(out.size())));

    const auto objective = [&] { return product_with_gradient(m, p, chosen) + balance_loss(m, p, chosen); };
    const auto expect_gradient = [&](const std::string& name, const std::vector<float>& gradient) {
        std::vector<float> expected;
        for (double& value : p.at(name)) {
            const double begin = value, way = 1e-4;
            value = begin + way;
            const double above = objective();
            value = begin - way;
            expected.push_back(static_cast<float>((above - objective()) / (2 * way)));
            value = begin;
        }
        EXPECT_LT(relative_error(gradient, expected), 1e-5) << name;
    };
    expect_gradient("x", from_device(*device, dx.front()));
    for (const ParameterTensor& t : program.parameters())
        if (!t.frozen) expect_gradient(t.name, from_device(*device, gradients.of(t)));
}

INSTANTIATE_TEST_SUITE_P(
    Of, Mixtures,
    testing::Values(Mixture{.name = "two_of_five"}, Mixture{.name = "one_of_five", .topk = 1}, Mixture{.name = "all_of_five", .topk = 5},
                    Mixture{.name = "biases", .bias = true},
                    Mixture{.name = "squared_relu", .activation = PointwiseKind::squared_relu, .bias = true},
                    Mixture{.name = "one_token", .tokens = 1},
                    Mixture{.name = "loss_for_balance", .tokens = 8, .balance_loss = 3, .sequences = 2},
                    Mixture{.name = "one_of_five_with_balance", .topk = 1, .balance_loss = 3}, Mixture{.name = "sigmoid", .sigmoid = true},
                    Mixture{.name = "one_sigmoid", .topk = 1, .sigmoid = true},
                    Mixture{.name = "sigmoid_with_balance", .tokens = 8, .balance_loss = 3, .sequences = 2, .sigmoid = true},
                    // Rooms for 15 of 14 copies, and for 5 of 7.
                    Mixture{.name = "capacity", .bias = true, .capacity = 3}, Mixture{.name = "little_capacity", .topk = 1, .capacity = 1},
                    Mixture{.name = "capacity_with_balance", .tokens = 8, .balance_loss = 3, .sequences = 2, .capacity = 2},
                    Mixture{.name = "groups", .experts = 6, .groups = 3, .groups_per_token = 2},
                    Mixture{.name = "sigmoid_in_groups", .experts = 6, .sigmoid = true, .groups = 3, .groups_per_token = 2}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace sextant
