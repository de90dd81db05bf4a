#include "backend/exec/routing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace sextant {
namespace {

// Training that has failed has scores that are no numbers.
float comparable(float score) { return std::isnan(score) ? -std::numeric_limits<float>::infinity() : score; }

std::vector<std::size_t> numbers(std::size_t count) {
    std::vector<std::size_t> list(count);
    std::iota(list.begin(), list.end(), std::size_t{0});
    return list;
}

// The `count` of the candidates with the largest values, in order of their numbers.
std::vector<std::size_t> best(std::span<const float> values, std::vector<std::size_t> candidates, std::int64_t count) {
    const auto end = candidates.begin() + count;
    std::partial_sort(candidates.begin(), end, candidates.end(),
                      [&](std::size_t a, std::size_t b) { return values[a] > values[b] || (values[a] == values[b] && a < b); });
    candidates.erase(end, candidates.end());
    std::ranges::sort(candidates);
    return candidates;
}

float score_of_group(std::span<const float> scores, bool of_two) {
    float sum = 0;
    for (const std::size_t e : best(scores, numbers(scores.size()), of_two && scores.size() > 1 ? 2 : 1)) sum += scores[e];
    return comparable(sum);
}

}  // namespace

std::int64_t rows_at(RoutedRows at, const Routing& routing) {
    const std::vector<std::int64_t>& rows = at == RoutedRows::worked    ? routing.worked
                                            : at == RoutedRows::arrived ? routing.arrived
                                                                        : routing.sent;
    return std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
}

std::vector<std::int64_t> rows_sent(std::span<const std::int64_t> chosen, const TokenPermute& p) {
    std::vector<std::int64_t> sent(chosen.begin(), chosen.end());
    if (p.capacity > 0) std::ranges::fill(sent, p.capacity);
    return sent;
}

Choices choose_experts(std::span<const float> scores, std::span<const float> biases, const TokenPermute& p) {
    const std::size_t experts = scores.size() / static_cast<std::size_t>(p.tokens);
    const auto groups = static_cast<std::size_t>(p.expert_groups), size = experts / groups;
    Choices choices;
    choices.chosen.resize(experts);
    std::vector<float> biased(experts), of_groups(groups);
    for (std::size_t t = 0; t < static_cast<std::size_t>(p.tokens); ++t) {
        for (std::size_t e = 0; e < experts; ++e) biased[e] = comparable(scores[t * experts + e] + (biases.empty() ? 0 : biases[e]));
        for (std::size_t g = 0; g < groups; ++g) of_groups[g] = score_of_group(std::span(biased).subspan(g * size, size), !biases.empty());
        std::vector<std::size_t> candidates;
        for (const std::size_t g : best(of_groups, numbers(groups), p.groups_per_token))
            for (std::size_t e = g * size; e < (g + 1) * size; ++e) candidates.push_back(e);
        for (const std::size_t e : best(biased, std::move(candidates), p.copies)) {
            choices.scores.push_back(static_cast<std::int64_t>(t * experts + e));
            ++choices.chosen[e];
        }
    }
    const std::vector<std::int64_t> sent = rows_sent(choices.chosen, p);
    std::vector<std::int64_t> next(experts), end(experts);  // row of each expert
    std::exclusive_scan(sent.begin(), sent.end(), next.begin(), std::int64_t{0});
    std::inclusive_scan(sent.begin(), sent.end(), end.begin());
    for (const std::int64_t place : choices.scores) {
        const std::size_t e = static_cast<std::size_t>(place) % experts;
        choices.rows.push_back(next[e] < end[e] ? next[e]++ : no_row);
    }
    return choices;
}

std::vector<float> bias_updates(std::span<const float> counts, double speed) {
    const double mean = std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
    std::vector<float> updates;
    for (const float count : counts) updates.push_back(static_cast<float>(speed * (count < mean ? 1 : count > mean ? -1 : 0)));
    return updates;
}

std::vector<std::int64_t> count_by_sequence(const Choices& choices, std::int64_t experts, std::int64_t topk, const RoutedTokens& tokens) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(tokens.sequences * experts));
    for (std::size_t i = 0; i < choices.scores.size(); ++i) {
        const std::int64_t sequence = tokens.sequence_of(static_cast<std::int64_t>(i) / topk);
        ++counts[static_cast<std::size_t>(sequence * experts + choices.scores[i] % experts)];
    }
    return counts;
}

std::vector<float> balance_pulls(std::span<const std::int64_t> counts, std::int64_t experts, std::int64_t topk,
                                 std::int64_t tokens_of_sequence, double weight) {
    const auto e = static_cast<double>(experts), t = static_cast<double>(tokens_of_sequence);
    const double sequences = static_cast<double>(counts.size()) / e;
    const double of_one = weight / sequences * e / (static_cast<double>(topk) * t * t);
    std::vector<float> pulls;
    pulls.reserve(counts.size());
    for (const std::int64_t count : counts) pulls.push_back(static_cast<float>(of_one * static_cast<double>(count)));
    return pulls;
}

std::vector<std::int64_t> order_by_expert(const std::vector<std::int64_t>& arrived, std::int64_t experts_here) {
    std::vector<std::int64_t> begins(arrived.size()), order;
    std::exclusive_scan(arrived.begin(), arrived.end(), begins.begin(), std::int64_t{0});
    for (std::int64_t e = 0; e < experts_here; ++e)
        for (auto i = static_cast<std::size_t>(e); i < arrived.size(); i += static_cast<std::size_t>(experts_here))
            for (std::int64_t row = 0; row < arrived[i]; ++row) order.push_back(begins[i] + row);
    return order;
}

}  // namespace sextant
