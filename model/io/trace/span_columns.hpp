// The columns in which the spans of a trace are kept, listed once for all who write or read them.
#pragma once

#include "model/graph/trace.hpp"

#include <string>
#include <string_view>

namespace sextant {

// `column(name, field, unit)`
template <class Column>
void for_each_span_column(Column&& column) {
    column("start", &Span::start, "s");
    column("end", &Span::end, "s");
    column("bytes", &Span::bytes, "B");
    column("flops", &Span::flops, "FLOP");
    column("segment", &Span::segment, "index");
    column("cause", &Span::cause, "index into spans");
    column("rank", &Span::rank, "index into ranks");
    column("micro_batch", &Span::micro_batch, "index");
    column("name", &Span::name, "index into names");
    column("chunk", &Span::chunk, "index");
    column("stream", &Span::stream, "name");
    column("kind", &Span::kind, "name");
}

// The key of a column in JSON: "start_s".
inline std::string json_key(std::string_view name, std::string_view unit) { return std::string(name) + (unit == "s" ? "_s" : ""); }

}  // namespace sextant
