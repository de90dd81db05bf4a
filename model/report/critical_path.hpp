// What the step could not have been shorter than: the chain of causes that ends with the span that ends last.
#pragma once

#include "model/graph/trace.hpp"

#include <vector>

namespace sextant {

struct CriticalPath {
    std::vector<SpanIndex> spans;  // in order of time
    Seconds seconds;               // covered by its spans; where two overlap, once
    Seconds waiting;               // the rest of the step: between a cause and its effect, before the first span and after the last
    TimeByKind by_kind;
    std::vector<Seconds> by_rank;  // by GraphRank
};
CriticalPath critical_path(const Trace&);

}  // namespace sextant
