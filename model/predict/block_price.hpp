// What a block of the network takes in each pass: its kernels, its host and the exchanges inside its layers. Internal to predict.
#pragma once

#include "model/predict/state.hpp"

#include <span>
#include <vector>

namespace sextant {

// One collective over a group of the job, with its links as a what-if makes them. Its time includes the turns of other ranks that share the
// cores of its ranks.
CollectivePrice group_price(Collective, Bytes, const Group&, const Prepared::State&, const Resources&);
Seconds group_time(Collective, Bytes, const Group&, const Prepared::State&, const Resources&);

// The resources of a what-if that matter to kernels.
ComputeScale compute_scale(const Resources&);

// One phase of a block: time on the device and on the host, and exchanges inside layers.
struct PhasePrice {
    Seconds device;
    Seconds host;
    ByInLayer<Seconds> exchange, flowing;       // exposed exchanges; the part of them during which bytes are on links
    ByInLayer<Seconds> hidden, hidden_flowing;  // the same of exchanges hidden behind compute
    ByInLayer<Seconds> meeting;                 // how much longer exchanges take that meet hidden ones from before on their links
    Seconds copies;                             // of activations to or from host memory: the part that the phase does not hide
    [[nodiscard]] Seconds exchanges() const { return exchange.sum() + meeting.sum(); }
    [[nodiscard]] Seconds time() const { return device + exchanges() + copies; }
    [[nodiscard]] Seconds behind_kernels() const { return hidden.sum(); }
    [[nodiscard]] Seconds links(InLayer kind) const { return flowing[kind] + hidden_flowing[kind]; }
    // The same with exchanges that take this many times as long on links.
    [[nodiscard]] PhasePrice stretched(const ByInLayer<double>&) const;
    PhasePrice& operator+=(const PhasePrice&);
    friend PhasePrice operator+(PhasePrice a, const PhasePrice& b) { return a += b; }
    friend PhasePrice operator*(double n, const PhasePrice&);
};
struct SegmentPrice {
    PhasePrice forward, backward, recompute;
    PhasePrice weights;     // the part of backward that may be run apart: gradients of weights
    PhasePrice checkpoint;  // what the first forward of a block that will run again takes more: host time, but fewer copies
};
// The time of each kernel of a block.
struct KernelTimes {
    std::vector<Seconds> forward, backward, recompute;
};
KernelTimes kernel_times(const BlockKernels&, const Prepared::State&, const Resources&);
// The kernel as a rank runs it: lists of kernels are the same however ranks share gradients, but a rank adds up only its part of them.
Kernel as_run(const Kernel&, const Prepared::State&);
SegmentPrice price_block(const BlockKernels&, const KernelTimes&, const Prepared::State&, const JobGroups&, const Resources&);
// The fraction of passes that have another micro-batch beside them whose kernels hide their expert exchanges; 0 where none do.
double passes_beside_another(const Prepared::State&);

// Whether the device is a CPU. Its threads compute what they issue, which the time between its kernels covers; and a server is a process
// on a core too, which receives what comes itself and moves bytes at the rate of a core.
bool computes_on_cores(const Prepared::State&);
// Host time of a block in one pass. None for a captured graph, which is launched as a whole; but where the framework always captures,
// its `dispatch` is the time for each node of the graph.
struct HostTime {
    Seconds launch;  // to issue one kernel or exchange
    Seconds block;   // once for the block
    bool waits;      // the host waits for each kernel, so none of this is hidden behind the device's work
};
enum class Pass { forward, backward, recompute };
HostTime host_time(const Prepared::State&, Pass);

// Which part of a backward is meant: zero-bubble schedules run the gradients of weights apart.
enum class BackwardPart { whole, inputs, weights };
template <class T>
bool belongs(const T& item, BackwardPart part) {
    return part == BackwardPart::whole || item.weight_gradient == (part == BackwardPart::weights);
}

// One pass over a block: its kernels and the exchanges between them.
struct BlockPhase {
    const std::vector<Kernel>& kernels;
    std::span<const Seconds> times;  // of the kernels
    const std::vector<ExchangeCall>& exchanges;
    BackwardPart part = BackwardPart::whole;
};

// One call of an exchange inside a layer, whether hidden or not.
Collective collective_of(ExchangeKind);
Bytes sent_bytes(const ExchangeCall&, const Group&, const Prepared::State&);
CollectivePrice exchange_price(const ExchangeCall&, const Group&, const Prepared::State&, const Resources&);
Seconds exchange_time(const ExchangeCall&, const Prepared::State&, const JobGroups&, const Resources&);

// The fraction of a phase's exchanges that is hidden behind kernels; exchanges of experts for no longer than its kernels last.
struct HiddenParts {
    double tensor = 0, expert = 0;
    [[nodiscard]] double of(ParallelGroup which) const {
        return which == ParallelGroup::tensor ? tensor : which == ParallelGroup::expert ? expert : 0;
    }
};
HiddenParts hidden_parts(const BlockPhase&, const Prepared::State&, const JobGroups&, const Resources&);

}  // namespace sextant
