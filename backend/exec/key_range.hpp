// Which keys a query sees.
#pragma once

#include <cstdint>

namespace sextant {

// Keys [begin, end).
struct KeyRange {
    std::int64_t begin, end;
};

// The last query stands beside the last key. A window (0: none) reaches to both sides unless it is causal.
constexpr KeyRange visible_keys(std::int64_t query, std::int64_t queries, std::int64_t keys, bool causal, std::int64_t window) {
    const std::int64_t beside = query + keys - queries;
    const std::int64_t before = window == 0 ? keys : causal ? window - 1 : window / 2;
    const std::int64_t behind = beside + window - window / 2;
    const std::int64_t end = causal ? beside + 1 : window == 0 || behind > keys ? keys : behind;
    return {beside < before ? 0 : beside - before, end};
}

}  // namespace sextant
