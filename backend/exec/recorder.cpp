#include "backend/exec/recorder.hpp"

#include <utility>

namespace sextant {

void Recorder::open(SpanKind kind) {
    const Seconds at = now();
    if (open_) spans_.back().end = at;
    RecordedSpan span;
    span.start = span.end = at;
    span.segment = segment_;
    span.kind = kind;
    spans_.push_back(span);
    open_ = true;
}

void Recorder::begin(SegmentIndex segment, SpanKind kind) {
    end();
    segment_ = segment;
    open(kind);
}

void Recorder::kernel(SpanKind kind, Bytes bytes, Flops flops) {
    if (!open_ || spans_.back().kind != kind) open(kind);
    spans_.back().bytes += bytes;
    spans_.back().flops += flops;
}

void Recorder::end() {
    if (open_) spans_.back().end = now();
    open_ = false;
}

std::vector<RecordedSpan> Recorder::take() {
    end();
    return std::exchange(spans_, {});
}

}  // namespace sextant
