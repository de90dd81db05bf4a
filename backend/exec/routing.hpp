// Which tokens of a micro-batch go to which experts, as the router of one layer decided.
//
// Copies of tokens are rows. They leave a rank in order of expert, then of token; they arrive in order of the rank that sent them, then of
// expert, and are sorted by expert; where each tensor rank of an expert has rows of its own, its ranks gather theirs, one rank's behind the
// other's. No row is dropped, and none is padding: how many there are differs from rank to rank and from step to step.
#pragma once

#include "backend/exec/array.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace sextant {

struct Routing {
    Array tokens;                         // of each row that leaves this rank, its token
    std::vector<std::int64_t> sent;       // rows for each expert of the layer
    std::int64_t experts_here = 0;        // of them
    std::vector<std::int64_t> arrived{};  // [ranks of the expert group, experts here]
    std::vector<std::int64_t> worked{};   // [ranks of an expert's tensor group that have rows of their own, experts here]
};

// Where rows of a tensor stand.
enum class RoutedRows : std::uint8_t { none, sent, arrived, worked };  // none: it has no routed rows
std::int64_t rows_at(RoutedRows, const Routing&);

// The decision: of each token the `topk` experts of the largest scores, the lower one where two have the same.
struct Choices {
    std::vector<std::int64_t> tokens;  // of each row, in their order
    std::vector<std::int64_t> sent;    // as in Routing
};
Choices choose_experts(std::span<const float> scores, std::int64_t experts, std::int64_t topk);

// Calls move(row where they arrived, row where sorted, how many lie together) for all rows.
template <class Move>
void for_each_sorted_run(const Routing& routing, const Move& move) {
    std::int64_t sorted = 0;
    for (std::int64_t e = 0; e < routing.experts_here; ++e) {
        std::int64_t at = 0;
        for (std::size_t i = 0; i < routing.arrived.size(); ++i) {
            const std::int64_t rows = routing.arrived[i];
            if (static_cast<std::int64_t>(i) % routing.experts_here == e) {
                move(at, sorted, rows);
                sorted += rows;
            }
            at += rows;
        }
    }
}

}  // namespace sextant
