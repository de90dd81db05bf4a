// What a block of the network takes in each pass: its kernels, its host and the exchanges inside its layers. Internal to predict.
#pragma once

#include "model/predict/state.hpp"

#include <span>
#include <vector>

namespace sextant {

// One collective over a group of the job, its links as a what-if makes them; and how long it takes amid other work, the turns of those that
// share its ranks' cores included.
CollectivePrice group_price(Collective, Bytes, const Group&, const Prepared::State&, const Resources&);
Seconds group_time(Collective, Bytes, const Group&, const Prepared::State&, const Resources&);

// Resources of a what-if as kernels take them.
ComputeScale compute_scale(const Resources&);

// Price of one template under the present resources: device time, host time and exchanges, by phase.
struct PhasePrice {
    Seconds device;
    Seconds host;
    ByInLayer<Seconds> exchange, flowing;       // exposed; of that on links
    ByInLayer<Seconds> hidden, hidden_flowing;  // likewise, what goes on behind compute
    ByInLayer<Seconds> meeting;                 // by which an exchange is longer that meets what is hidden of those before
    Seconds copies;                             // of activations to host memory or back, what the phase does not hide
    [[nodiscard]] Seconds exchanges() const { return exchange.sum() + meeting.sum(); }
    [[nodiscard]] Seconds time() const { return device + exchanges() + copies; }
    [[nodiscard]] Seconds behind_kernels() const { return hidden.sum(); }
    [[nodiscard]] Seconds links(InLayer kind) const { return flowing[kind] + hidden_flowing[kind]; }
    // With exchanges that are so many times as long on links.
    [[nodiscard]] PhasePrice stretched(const ByInLayer<double>&) const;
    PhasePrice& operator+=(const PhasePrice&);
    friend PhasePrice operator+(PhasePrice a, const PhasePrice& b) { return a += b; }
    friend PhasePrice operator*(double n, const PhasePrice&);
};
struct SegmentPrice {
    PhasePrice forward, backward, recompute;
    PhasePrice weights;     // of backward, what may come apart
    PhasePrice checkpoint;  // what the forward of a block that runs again takes more: of the host, and less of copies
};
// Of each kernel of a block.
struct KernelTimes {
    std::vector<Seconds> forward, backward, recompute;
};
KernelTimes kernel_times(const BlockKernels&, const Prepared::State&, const Resources&);
// Lists of kernels are the same however ranks share gradients; of those that add them up a rank runs its part.
Kernel as_run(const Kernel&, const Prepared::State&);
SegmentPrice price_block(const BlockKernels&, const KernelTimes&, const Prepared::State&, const JobGroups&, const Resources&);
// Where exchanges of experts go on beside the kernels of another micro-batch, the part of all passes that have one beside them; else 0.
double passes_beside_another(const Prepared::State&);

// A CPU's thread computes what it issues: that is in the time between its kernels.
bool issues_itself(const Prepared::State&);
// Host time of a block in one phase. A captured graph is launched as a whole; where that is the framework's habit, its dispatch is already
// the time per node.
struct HostTime {
    Seconds launch;  // to issue one kernel or exchange
    Seconds block;   // beside them
    bool waits;      // for each kernel: nothing of this passes beside the device's work
};
enum class Pass { forward, backward, recompute };
HostTime host_time(const Prepared::State&, Pass);

// Which kernels and exchanges of a backward are wanted: zero-bubble schedules run those of weights apart.
enum class BackwardPart { whole, inputs, weights };
template <class T>
bool belongs(const T& item, BackwardPart part) {
    return part == BackwardPart::whole || item.weight_gradient == (part == BackwardPart::weights);
}

// One call of an exchange inside a layer, hidden or not.
Collective collective_of(ExchangeKind);
Bytes sent_bytes(const ExchangeCall&, const Group&, const Prepared::State&);
CollectivePrice exchange_price(const ExchangeCall&, const Group&, const Prepared::State&, const Resources&);
Seconds exchange_time(const ExchangeCall&, const Prepared::State&, const JobGroups&, const Resources&);

// The fraction of its exchanges that goes on behind kernels: of those of experts no more than the kernels of a phase last.
struct HiddenParts {
    double tensor = 0, expert = 0;
    [[nodiscard]] double of(ParallelGroup which) const {
        return which == ParallelGroup::tensor ? tensor : which == ParallelGroup::expert ? expert : 0;
    }
};
HiddenParts hidden_parts(const std::vector<Kernel>&, std::span<const Seconds> times, const std::vector<ExchangeCall>&, BackwardPart,
                         const Prepared::State&, const JobGroups&, const Resources&);

}  // namespace sextant
