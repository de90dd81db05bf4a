// What one thread of one rank did when, during a step; trace_assembly.hpp makes a Trace of what all ranks recorded.
#pragma once

#include "backend/exec/device.hpp"
#include "model/graph/trace.hpp"

#include <optional>
#include <vector>

namespace sextant {

struct RecordedSpan {
    Seconds start, end;  // of a collective: from when this rank came to it
    Bytes bytes;
    Flops flops;
    SegmentIndex segment = 0;
    CommunicatorIndex communicator = 0;  // of a collective
    Stream stream = Stream::compute;
    SpanKind kind = SpanKind::forward;
    bool collective = false;
};

// A transfer as its receiver sees it.
struct RecordedArrival {
    SegmentIndex segment = 0;
    Seconds at;
};

// Work of a device is timed by its marks, which become times when the spans are taken: the device must be through with it by then.
class Recorder {
public:
    explicit Recorder(ComputeDevice& device) : device_(device) {}

    // Work of this segment begins, which continues until something else begins or end() is called. Kernels of one kind that follow each
    // other are one span.
    void begin(SegmentIndex, SpanKind);
    void kernel(SpanKind, Bytes, Flops);  // of the segment at hand
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
