// What happened when, on every stream of every rank: the outcome of a simulation and of a real run alike.
#pragma once

#include "model/base/enum_array.hpp"
#include "model/base/quantity.hpp"
#include "model/graph/task_graph.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// What a span of time was spent on.
enum class SpanKind : std::uint8_t {
    forward,
    backward,
    weight_gradient,  // where a schedule puts it apart from the rest of backward
    recompute,
    optimizer,
    tensor_exchange,  // tensor parallelism, inside experts too
    context_exchange,
    expert_exchange,
    pipeline_transfer,
    data_exchange,  // gradients and weights over the data-parallel ranks, or with a parameter server
    launch,         // the device waits for the host
    offload,
    overhead,
    serve,  // on a parameter server
    input,  // the rank waits for its samples
    read,   // loader workers, from storage
    decode,
    device_copy,  // of samples
};
inline constexpr int span_kind_count = static_cast<int>(SpanKind::device_copy) + 1;
inline constexpr auto all_span_kinds = enumerators<SpanKind, span_kind_count>();
using TimeByKind = EnumArray<SpanKind, Seconds, span_kind_count>;
std::string_view to_text(SpanKind);
// The kind of an exchange that is a work of its own, and of one inside a block or of a collective over this group.
SpanKind span_kind(Payload);
SpanKind span_kind(ParallelGroup);
// Whether ranks exchange parts of the model or its activations. Loads and offloads are not exchanges.
bool is_exchange(SpanKind);
// Whether the device computes: utilization counts this, and communication beside it slows it down.
bool runs_kernels(SpanKind);

using SpanIndex = std::uint32_t;

// One thing on one stream of one rank, from start to end. Spans of one stream do not overlap, except for the hidden part of an exchange
// that goes on behind the kernels after it.
struct Span {
    Seconds start, end;
    Bytes bytes;  // a kernel: read and written; an exchange: what this rank passes on
    Flops flops;
    SegmentIndex segment = 0;  // of the graph; a segment may have several spans: kernels, exchanges between them, waiting for the host
    SpanIndex cause = 0;       // the span whose end let this one begin; itself where nothing did
    GraphRank rank = 0;
    std::uint32_t micro_batch = 0;
    std::uint32_t name = 0;  // into Trace::names
    std::uint16_t chunk = 0;
    Stream stream = Stream::compute;
    SpanKind kind = SpanKind::forward;
};

struct TraceRank {
    int rank = 0, stage = 0, multiplicity = 1;
    bool server = false;
    std::string host;  // of a real run; empty in a simulation
};
std::string name_of(const TraceRank&);  // "rank 3", "server 0"

struct Trace {
    std::vector<TraceRank> ranks;
    std::vector<std::string> names;
    std::vector<Span> spans;  // ordered by start, then by rank and stream
    Seconds end;              // of the step, from its start at 0
};

}  // namespace sextant
