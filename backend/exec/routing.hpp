// Which tokens of a micro-batch go to which experts, as the router of one layer decided.
//
// Copies of tokens are rows. They leave a rank in order of expert, then of token; they arrive in order of the rank that sent them, then of
// expert, and are sorted by expert; where each tensor rank of an expert has rows of its own, its ranks gather theirs, one rank's behind the
// other's. How many there are differs from rank to rank and from step to step; but where experts have a capacity each has that many rows of
// every router. What comes first has them, in order of token; copies for which no room is left are no row, and what is left is padding.
#pragma once

#include "backend/exec/array.hpp"

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace sextant {

// Which tokens of a micro-batch the router of this rank decides about.
struct RoutedTokens {
    std::int64_t sequences = 1;    // of the micro-batch
    std::int64_t of_sequence = 1;  // tokens of each, on this rank of the context group
    std::int64_t first = 0;        // of those of all sequences, the first here
    bool cut = false;              // the other ranks of the tensor group have the rest of them

    [[nodiscard]] constexpr std::int64_t sequence_of(std::int64_t token) const { return (first + token) / of_sequence; }
};

struct Routing {
    // Of each copy of a token, [tokens, experts of a token] in order of expert: the row it is, or none, and the place of its score in
    // [tokens, experts].
    Array rows, scores;
    std::vector<std::int64_t> chosen;     // copies for each expert of the layer
    std::vector<std::int64_t> sent{};     // rows for each
    std::int64_t experts_here = 0;        // of them
    std::vector<std::int64_t> arrived{};  // [ranks of the expert group, experts here]
    std::vector<std::int64_t> worked{};   // [ranks of an expert's tensor group that have rows of their own, experts here]
    Array order{};                        // of each row by expert, which one it was when it arrived; none where they arrive so
    // Gradients of the loss that loads experts evenly by the share that a score has in its token's, [sequences, experts]; none without it.
    Array pulls{};
    RoutedTokens tokens{};
};

constexpr std::int64_t no_row = -1;  // of a copy that is dropped

// Where rows of a tensor stand.
enum class RoutedRows : std::uint8_t { none, sent, arrived, worked };  // none: it has no routed rows
std::int64_t rows_at(RoutedRows, const Routing&);

// Loads differ from step to step: of rooms in sixteen sizes between powers of two, most fit again.
constexpr std::int64_t room_for(std::int64_t rows) {
    const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(rows)));
    const std::int64_t step = power > 16 ? power / 16 : 1;
    return (rows + step - 1) / step * step;
}

// The decision: of each token the `copies` experts of the largest score, to which their biases are added if they have some. The lower one
// where two have the same; what is no number counts as the least.
// Where experts are in groups, those of the best `groups_per_token` groups alone: a group counts as much as its best expert (DeepSeek-V2,
// arXiv 2405.04434, section 2.2.2), with biases as much as its two best together (DeepSeek-V3, arXiv 2412.19437, section 2.1.2: of eight
// experts in four groups).
struct Choices {
    std::vector<std::int64_t> rows, scores, chosen;  // as in Routing
};
// `scores`: [tokens, experts]; `biases`: [experts], or none.
Choices choose_experts(std::span<const float> scores, std::span<const float> biases, const TokenPermute&);

// As in Routing, where so many copies chose each expert.
std::vector<std::int64_t> rows_sent(std::span<const std::int64_t> chosen, const TokenPermute&);

// What the host must know of a decision that a device made.
struct ExpertCounts {
    std::vector<std::int64_t> chosen;  // as in Routing
    // With a loss for balance: how many tokens of each sequence here chose each expert, [sequences, experts].
    std::vector<std::int64_t> of_sequences{};
};

// What is added to the biases of experts after a step in which c_e tokens of the whole batch chose each: speed * sign(mean c - c_e)
// (DeepSeek-V3, section 2.1.2).
std::vector<float> bias_updates(std::span<const float> counts, double speed);

// As in ExpertCounts.
std::vector<std::int64_t> count_by_sequence(const Choices&, std::int64_t experts, std::int64_t topk, const RoutedTokens&);
// Gradients of a loss of weight w by the shares s' = score / sum of the token's scores (softmax scores are shares already), from such
// counts c of all tokens, T of a sequence:
//   loss = w / sequences * sum over sequences of experts / (topk T^2) * sum over experts of c_e * (sum over tokens of s'_e)
// where counts are constants (Switch Transformers, arXiv 2101.03961, section 2.2; by sequence and with shares: DeepSeek-V3, section 2.1.2).
std::vector<float> balance_pulls(std::span<const std::int64_t> counts, std::int64_t experts, std::int64_t topk,
                                 std::int64_t tokens_of_sequence, double weight);

// As in Routing.
std::vector<std::int64_t> order_by_expert(const std::vector<std::int64_t>& arrived, std::int64_t experts_here);

// Calls work(expert, first row, rows) for the rows of an expert that lie together.
template <class Work>
void for_each_run(const Routing& routing, const Work& work) {
    std::int64_t first = 0;
    for (std::size_t i = 0; i < routing.worked.size(); ++i) {
        const std::int64_t rows = routing.worked[i];
        if (rows > 0) work(static_cast<std::int64_t>(i) % routing.experts_here, first, rows);
        first += rows;
    }
}

}  // namespace sextant
