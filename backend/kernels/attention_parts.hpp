// Attention as one operation of a library takes it: queries that are neighbours in their sequences, and the keys that they see.
#pragma once

#include "backend/exec/key_range.hpp"
#include "model/workload/operator.hpp"

#include <cstdint>
#include <vector>

namespace sextant::kernels {

struct AttentionPart {
    const Attention& whole;
    std::int64_t first_query, queries, keys;  // of each sequence here; keys from the first on. Causal: the last query sees them to the last
};

// One part; or two where a rank has two slices of every sequence (ContextCut), that with more keys first.
inline std::vector<AttentionPart> parts_of(const Attention& a, ContextCut context) {
    if (!a.causal) return {{a, 0, a.query_len, a.key_len}};
    std::vector<AttentionPart> parts;
    const std::int64_t queries = a.query_len / context.slices();
    for (std::int64_t first = a.query_len - queries; first >= 0; first -= queries)
        parts.push_back({a, first, queries, visible_keys(first + queries - 1, a.query_len, a.key_len, true, 0, context).end});
    return parts;
}

}  // namespace sextant::kernels
