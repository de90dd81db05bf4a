// The columns of a trace in a run's JSON, listed once for writer and reader.
#pragma once

#include "model/graph/trace.hpp"

namespace sextant {

// `column(key, field)`
template <class Column>
void for_each_json_column(Column&& column) {
    column("start_s", &Span::start);
    column("end_s", &Span::end);
    column("bytes", &Span::bytes);
    column("flops", &Span::flops);
    column("segment", &Span::segment);
    column("cause", &Span::cause);
    column("rank", &Span::rank);
    column("micro_batch", &Span::micro_batch);
    column("name", &Span::name);
    column("chunk", &Span::chunk);
    column("stream", &Span::stream);
    column("kind", &Span::kind);
}

}  // namespace sextant
