// The order of work of every pipeline stage: which micro-batch goes forward or backward next. No times, no prices.
//
// p stages, v chunks of blocks per stage (VirtualStages says which blocks those are), m micro-batches.
//
//   sequential   one micro-batch through all stages and back before the next: "model parallel" without a pipeline
//   gpipe        all forwards, then all backwards, last micro-batch first (Huang et al., arXiv 1811.06965, section 2.3)
//   one_f_one_b  p - s - 1 forwards, then forward and backward in turn, then the remaining backwards
//                (Narayanan et al., SC21, arXiv 2104.04473, section 2.2.1; stage s counts from 0)
//   interleaved  the same over chunks, micro-batches in groups of p: warm-up of 2 (p - s - 1) + (v - 1) p forwards (ibid., 2.2.2)
//   zero_bubble  backward split into the gradient of the input and of the weights, the latter s micro-batches late, so that the
//                former reaches the stage before sooner; every stage holds up to p micro-batches: ZB-H1
//                (Qi et al., arXiv 2401.10241, section 2.2)
//   zero_bubble_v  the same over two chunks, the second of which goes back from the last stage to the first, which so has its first
//                gradient as soon as any other: no stage waits where f, i and w take as long, and none holds more than 2 p chunks, as
//                the first stage of 1F1B does (ibid., section 6, ZB-V)
//   dual_pipe_v  likewise, but steady passes are pairs, a forward of one chunk and a whole backward of the other, so that exchanges of
//                the one hide behind kernels of the other; 2 p + 1 chunks. Half of DualPipe (DeepSeek-AI, arXiv 2412.19437, section
//                3.2.1), whose p devices hold every chunk twice: its pipeline of p ranks is this one of p / 2
#pragma once

#include "model/plan/plan.hpp"

#include <cstdint>
#include <vector>

namespace sextant {

enum class WorkKind { forward, backward, backward_input, backward_weight };

struct WorkItem {
    WorkKind kind = WorkKind::forward;
    int chunk = 0;
    int micro_batch = 0;

    friend bool operator==(const WorkItem&, const WorkItem&) = default;
};

// The forwards of a stage before its first backward in the interleaved schedule, if there are that many; after
// them, forwards and backwards alternate.
int interleaved_warm_up(int stages, int chunks, int stage);

// The work of each stage in order. Every micro-batch goes forward and backward once through every chunk.
// Preconditions: stages, chunks, micro_batches >= 1; two chunks where the schedule turns back, else more than one only when interleaved,
// whose micro-batches divide by stages.
std::vector<std::vector<WorkItem>> work_orders(Schedule, int stages, int chunks, int micro_batches);
// That of one of them.
std::vector<WorkItem> work_order(Schedule, int stage, int stages, int chunks, int micro_batches);
// Between its first and its last passes an order repeats itself: this many micro-batches show all that is ever in flight at a time.
constexpr std::int64_t micro_batches_until_full(int stages) { return 3 * std::int64_t{stages}; }

}  // namespace sextant
