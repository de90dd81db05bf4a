// How exchanges appear in a trace.
#pragma once

#include "backend/exec/recorder.hpp"
#include "backend/exec/transport.hpp"

#include <span>

namespace sextant {

// The bytes that a rank sends in a ring of `ranks` (docs/model/collectives.md). `bytes`: of the whole buffer or result.
Bytes passed_on(ExchangeKind, int ranks, std::int64_t bytes);

RecordedSpan exchange_span(const TaskGraph&, SegmentIndex, std::span<const Call>, Seconds start, Seconds end);

}  // namespace sextant
