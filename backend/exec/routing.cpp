#include "backend/exec/routing.hpp"

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
    std::vector<char> chosen(scores.size(), 0);
    Choices choices;
    choices.sent.resize(static_cast<std::size_t>(experts));
    for (std::int64_t t = 0; t < tokens; ++t) {
        const std::int64_t row = t * experts;
        for (std::int64_t k = 0; k < topk; ++k) {
            // Training that has failed has scores that are no numbers, which are no larger than any: the first experts then.
            std::int64_t best = -1;
            for (std::int64_t e = 0; e < experts; ++e) {
                const bool free = chosen[static_cast<std::size_t>(row + e)] == 0;
                if (free && (best < 0 || scores[static_cast<std::size_t>(row + e)] > scores[static_cast<std::size_t>(row + best)]))
                    best = e;
            }
            chosen[static_cast<std::size_t>(row + best)] = 1;
            ++choices.sent[static_cast<std::size_t>(best)];
        }
    }
    for (std::int64_t e = 0; e < experts; ++e)
        for (std::int64_t t = 0; t < tokens; ++t)
            if (chosen[static_cast<std::size_t>(t * experts + e)] != 0) choices.tokens.push_back(t);
    return choices;
}

}  // namespace sextant
