// The order of work of every pipeline stage: which micro-batch goes forward or backward next. No times, no prices.
//
// p stages, v chunks of blocks per stage (virtual stages; chunk c of stage s holds run c p + s of the blocks), m micro-batches.
//
//   sequential   one micro-batch through all stages and back before the next: "model parallel" without a pipeline
//   gpipe        all forwards, then all backwards, last micro-batch first (Huang et al., arXiv 1811.06965, section 2.3)
//   one_f_one_b  p - s - 1 forwards, then forward and backward in turn, then the remaining backwards
//                (Narayanan et al., SC21, arXiv 2104.04473, section 2.2.1; stage s counts from 0)
//   interleaved  the same over chunks, micro-batches in groups of p: warm-up of 2 (p - s - 1) + (v - 1) p forwards (ibid., 2.2.2)
//   zero_bubble  backward split into the gradient of the input and of the weights, the latter s micro-batches late, so that the
//                former reaches the stage before sooner; every stage holds up to p micro-batches: ZB-H1
//                (Qi et al., arXiv 2401.10241, section 2.2)
#pragma once

#include "model/plan/plan.hpp"

#include <vector>

namespace sextant {

enum class WorkKind { forward, backward, backward_input, backward_weight };

struct WorkItem {
    WorkKind kind = WorkKind::forward;
    int chunk = 0;
    int micro_batch = 0;

    friend bool operator==(const WorkItem&, const WorkItem&) = default;
};

// The work of each stage in order. Every micro-batch goes forward and backward once through every chunk.
// Preconditions: stages, chunks, micro_batches >= 1; chunks > 1 only when interleaved, whose micro-batches divide by stages.
std::vector<std::vector<WorkItem>> work_orders(Schedule, int stages, int chunks, int micro_batches);

}  // namespace sextant
