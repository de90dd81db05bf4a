#include "backend/exec/routing.hpp"

#include <algorithm>
#include <numeric>

namespace sextant {

std::int64_t rows_at(RoutedRows at, const Routing& routing) {
    const std::vector<std::int64_t>& rows = at == RoutedRows::worked    ? routing.worked
                                            : at == RoutedRows::arrived ? routing.arrived
                                                                        : routing.sent;
    return std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
}

Choices choose_experts(std::span<const float> scores, std::int64_t experts, std::int64_t topk) {
    const std::int64_t tokens = static_cast<std::int64_t>(scores.size()) / experts;
    Choices choices;
    choices.sent.resize(static_cast<std::size_t>(experts));
    std::vector<std::int64_t> best;  // of a token, the best first
    for (std::int64_t t = 0; t < tokens; ++t) {
        best.clear();
        const auto score = [&](std::int64_t e) { return scores[static_cast<std::size_t>(t * experts + e)]; };
        for (std::int64_t e = 0; e < experts; ++e) {
            // Training that has failed has scores that are no numbers, which are no larger than any.
            const bool all = static_cast<std::int64_t>(best.size()) == topk;
            if (all && !(score(e) > score(best.back()))) continue;
            if (all) best.pop_back();
            best.insert(std::ranges::find_if(best, [&](std::int64_t b) { return score(e) > score(b); }), e);
        }
        std::ranges::sort(best);
        for (const std::int64_t e : best) {
            choices.scores.push_back(t * experts + e);
            ++choices.sent[static_cast<std::size_t>(e)];
        }
    }
    std::vector<std::int64_t> next(choices.sent.size());  // row of each expert
    std::exclusive_scan(choices.sent.begin(), choices.sent.end(), next.begin(), std::int64_t{0});
    for (const std::int64_t place : choices.scores) choices.rows.push_back(next[static_cast<std::size_t>(place % experts)]++);
    return choices;
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
