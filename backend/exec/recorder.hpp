// Records what one thread of a rank does during a step. trace_assembly.hpp makes a Trace of the records of all ranks.
#pragma once

#include "backend/exec/device.hpp"
#include "model/graph/trace.hpp"

#include <optional>
#include <vector>

namespace sextant {

struct RecordedSpan {
    Seconds start, end;  // a collective starts when this rank reaches it
    Bytes bytes;
    Flops flops;
    SegmentIndex segment = 0;
    CommunicatorIndex communicator = 0;  // of a collective
    Stream stream = Stream::compute;
    SpanKind kind = SpanKind::forward;
    bool collective = false;
};

// When a transfer arrived at its receiver.
struct RecordedArrival {
    SegmentIndex segment = 0;
    Seconds at;
};

// Work of a device is timed by its marks. take() turns them into times, and the device must have reached them by then.
class Recorder {
public:
    explicit Recorder(ComputeDevice& device) : device_(device) {}

    // Begins a span of this segment. It ends where another begins, or at end(). Consecutive kernels of one kind are one span.
    void begin(SegmentIndex, SpanKind);
    void kernel(SpanKind, Bytes, Flops);  // of the current segment
    void end();
    void add(const RecordedSpan& span) { spans_.push_back({span, {}, {}, false}); }

    [[nodiscard]] SegmentIndex segment() const { return segment_; }
    std::vector<RecordedSpan> take();

private:
    struct Noted {
        RecordedSpan span;
        Mark start, end;
        bool marked;  // else the span has its times
    };
    void open(SpanKind);

    ComputeDevice& device_;
    std::vector<Noted> spans_;
    SegmentIndex segment_ = 0;
    bool open_ = false;
};

}  // namespace sextant
