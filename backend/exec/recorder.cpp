#include "backend/exec/recorder.hpp"

namespace sextant {

void Recorder::open(SpanKind kind) {
    const Mark at = device_.mark();
    if (open_) spans_.back().end = at;
    RecordedSpan span;
    span.segment = segment_;
    span.kind = kind;
    spans_.push_back({span, at, at, true});
    open_ = true;
}

void Recorder::begin(SegmentIndex segment, SpanKind kind) {
    end();
    segment_ = segment;
    open(kind);
}

void Recorder::kernel(SpanKind kind, Bytes bytes, Flops flops) {
    if (!open_ || spans_.back().span.kind != kind) open(kind);
    spans_.back().span.bytes += bytes;
    spans_.back().span.flops += flops;
}

void Recorder::end() {
    if (open_) spans_.back().end = device_.mark();
    open_ = false;
}

std::vector<RecordedSpan> Recorder::take() {
    end();
    std::vector<RecordedSpan> taken;
    for (Noted& n : spans_) {
        if (n.marked) {
            n.span.start = device_.time_of(n.start);
            n.span.end = device_.time_of(n.end);
        }
        taken.push_back(n.span);
    }
    spans_.clear();
    return taken;
}

}  // namespace sextant
