// What of a timeline can be seen: the spans of a row as boxes, fewer where they are too many or too small.
#pragma once

#include "model/graph/trace.hpp"

#include <cstddef>
#include <vector>

namespace sextant {

using SpanRow = std::vector<const Span*>;  // of one stream, or of several; ordered by start

enum class Detail {
    spans,     // a box for each span
    segments,  // the spans of a segment in one box, of the kind that takes most of it; and segments of one micro-batch that follow closely
    columns,   // equal intervals, each divided among the kinds
};

struct Box {
    Seconds start, end;
    SpanKind kind = SpanKind::forward;
    std::uint32_t micro_batch = 0;
    std::uint16_t chunk = 0;
};

// The finest detail at which boxes are at least `readable` long on average, and no more than `most` in any row.
Detail detail_for(const std::vector<SpanRow>& rows, Seconds readable, std::size_t most);
std::vector<Box> boxes_of(const SpanRow& row, Detail);  // not of columns

std::vector<TimeByKind> columns_of(const SpanRow& row, Seconds interval);

}  // namespace sextant
