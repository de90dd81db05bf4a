// Which tokens of a micro-batch go to which experts, as the router of one layer decided.
//
// A copy of a token is a row. Rows leave a rank in order of expert, then of token. They arrive in order of the rank that sent them, then of
// expert, and are sorted by expert. Where each tensor rank of an expert has rows of its own, these ranks gather theirs, in the order of
// ranks. The number of rows differs from rank to rank and from step to step, unless experts have a capacity: then each has exactly that
// many rows of every router. Copies take them in order of token; those that find no room are dropped, and rows left over are padding.
#pragma once

#include "backend/exec/array.hpp"
#include "model/base/ceil_divide.hpp"

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace sextant {

// The tokens of a micro-batch that the router of this rank routes.
struct RoutedTokens {
    std::int64_t sequences = 1;    // of the micro-batch
    std::int64_t of_sequence = 1;  // tokens of each, on this rank of the context group
    std::int64_t first = 0;        // the first token of this rank, counted through all sequences
    bool cut = false;              // the other ranks of the tensor group have the other tokens

    [[nodiscard]] constexpr std::int64_t sequence_of(std::int64_t token) const { return (first + token) / of_sequence; }
};

struct Routing {
    // For each copy of a token, [tokens, experts of a token] in order of expert: its row (or no_row), and the place of its score in
    // [tokens, experts].
    Array rows, scores;
    std::vector<std::int64_t> chosen;     // copies for each expert of the layer
    std::vector<std::int64_t> sent{};     // rows for each expert of the layer
    std::int64_t experts_here = 0;        // experts of the layer that this rank has
    std::vector<std::int64_t> arrived{};  // [ranks of the expert group, experts here]
    std::vector<std::int64_t> worked{};   // [ranks of an expert's tensor group that have rows of their own, experts here]
    Array order{};                        // for each row in order of expert, its number when it arrived; empty where they arrive in order
    // Gradients of the balance loss by each expert's share of a token's scores, [sequences, experts]; empty without such a loss.
    Array pulls{};
    RoutedTokens tokens{};
};

constexpr std::int64_t no_row = -1;  // of a copy that is dropped

// How far the rows of a tensor have come.
enum class RoutedRows : std::uint8_t { none, sent, arrived, worked };  // none: it has no routed rows
std::int64_t rows_at(RoutedRows, const Routing&);

// Rounds up to one of sixteen sizes between powers of two: loads differ from step to step, and most of such arrays can be used again.
constexpr std::int64_t room_for(std::int64_t rows) {
    const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(rows)));
    const std::int64_t step = power > 16 ? power / 16 : 1;
    return ceil_divide(rows, step) * step;
}

// A token goes to the experts with the largest scores, plus their biases if they have some. Of equal ones the lower number wins; NaN counts
// as the least. Where experts are in groups, only those of the best `groups_per_token` groups count: a group is worth as much as its best
// expert (DeepSeek-V2, arXiv 2405.04434, section 2.2.2), or, with biases, as its two best together (DeepSeek-V3, arXiv 2412.19437, section
// 2.1.2: eight experts from four groups).
struct Choices {
    std::vector<std::int64_t> rows, scores, chosen;  // as in Routing
};
// `scores`: [tokens, experts]; `biases`: [experts], or none.
Choices choose_experts(std::span<const float> scores, std::span<const float> biases, const TokenPermute&);

// Routing::sent, from Routing::chosen.
std::vector<std::int64_t> rows_sent(std::span<const std::int64_t> chosen, const TokenPermute&);

// What the host must know of a choice that a device made.
struct ExpertCounts {
    std::vector<std::int64_t> chosen;  // as in Routing
    // With a balance loss: how many of this rank's tokens of each sequence chose each expert, [sequences, experts].
    std::vector<std::int64_t> of_sequences{};
};

// What is added to the biases of experts after a step in which c_e tokens of the global batch chose expert e: speed * sign(mean c - c_e)
// (DeepSeek-V3, section 2.1.2).
std::vector<float> bias_updates(std::span<const float> counts, double speed);

// ExpertCounts::of_sequences.
std::vector<std::int64_t> count_by_sequence(const Choices&, std::int64_t experts, std::int64_t topk, const RoutedTokens&);
// Gradients of a balance loss of weight w by the shares s' = score / sum of the token's scores (softmax scores are shares already), from
// the counts c of all tokens, with T tokens in a sequence:
//   loss = w / sequences * sum over sequences of experts / (topk T^2) * sum over experts of c_e * (sum over tokens of s'_e)
// where counts are constants (Switch Transformers, arXiv 2101.03961, section 2.2; by sequence and with shares: DeepSeek-V3, section 2.1.2).
std::vector<float> balance_pulls(std::span<const std::int64_t> counts, std::int64_t experts, std::int64_t topk,
                                 std::int64_t tokens_of_sequence, double weight);

// Routing::order.
std::vector<std::int64_t> order_by_expert(const std::vector<std::int64_t>& arrived, std::int64_t experts_here);

// Calls work(expert, first row, rows) for each contiguous run of rows of one expert.
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
