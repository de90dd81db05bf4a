// Which keys a query sees.
#pragma once

#include "backend/exec/place.hpp"

namespace sextant {

// Keys [begin, end).
struct KeyRange {
    std::int64_t begin, end;
};

// The key at the position of a query, which counts among this rank's. The last query of all is at the position of the last key.
constexpr std::int64_t key_beside(std::int64_t query, std::int64_t queries, std::int64_t keys, ContextCut context) {
    return context.position(query, queries) + keys - queries * context.ranks;
}

// The keys that a query sees. A window (0: none) reaches to both sides unless attention is causal.
constexpr KeyRange visible_keys(std::int64_t query, std::int64_t queries, std::int64_t keys, bool causal, std::int64_t window,
                                ContextCut context) {
    const std::int64_t beside = key_beside(query, queries, keys, context);
    const std::int64_t before = window == 0 ? keys : causal ? window - 1 : window / 2;
    const std::int64_t behind = beside + window - window / 2;
    const std::int64_t end = causal ? beside + 1 : window == 0 || behind > keys ? keys : behind;
    return {beside < before ? 0 : beside - before, end};
}

}  // namespace sextant
