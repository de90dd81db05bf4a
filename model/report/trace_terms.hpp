// Where the time of a rank went, read off a trace: of a simulation or of a real run, by the same rules.
//
// The terms divide the timeline [0, trace.end] of a rank. An instant belongs to
//   1. the kernel (or launch, overhead, offload) that its compute stream runs, else the exchange that the compute stream waits in;
//   2. where the compute stream is idle, to what ended the idleness. From the span after the gap, `cause` leads back in time:
//        - what this rank does in another stream, and transfers and data exchanges of others, belong to their own term while they run;
//        - before that, whatever else another rank does is waiting for it: `bubble` if it is of another stage, `straggler` if of the same;
//        - the time from the end of a cause to the start of its effect belongs to the effect: `launch` for a kernel (the host had not
//          issued it), its own term for an exchange (which waited for its cycle);
//        - without a cause, a kernel waited for its host, a transfer for its sender (`bubble`), an exchange for its other ranks
//        (`straggler`);
//   3. after the last span of its compute stream, to what its other streams still do, found in the same way from the last of them to end;
//      then it waits for the rank that ends the step.
//
// A trace says what waits for other ranks by starting an exchange's span when the last of its ranks has come to it, with the span that
// this rank came from as the cause. docs/model/terms.md works examples.
#pragma once

#include "model/graph/trace.hpp"
#include "model/predict/estimate.hpp"

#include <vector>

namespace sextant {

Term term_of(SpanKind);

// The rank whose last span ends last; of several, the first. Never a parameter server, whose work is communication to the workers.
GraphRank last_rank(const Trace&);

struct TermStretch {
    Seconds start, end;
    Term term = Term::forward;
};
// In order, without gaps, from 0 to trace.end; neighbours differ in their term.
std::vector<TermStretch> term_timeline(const Trace&, GraphRank);

Terms terms_of(const Trace&, GraphRank);  // sums to trace.end

// Exchanges, transfers and offload of this rank at instants that belong to another term. Two of one kind at the same time count once.
Terms overlapped_of(const Trace&, GraphRank);
Terms per_step(Terms of_several, int steps);

}  // namespace sextant
