// The record of a run, from what its ranks recorded.
#pragma once

#include "backend/exec/fingerprint.hpp"
#include "backend/exec/operator_times.hpp"
#include "backend/exec/trace_assembly.hpp"
#include "model/graph/run_record.hpp"

#include <functional>
#include <span>

namespace sextant {

// A reduction over all ranks in place, with the result on all of them: the sum or the maximum.
using OverRanks = std::function<void(std::span<double>)>;

// Losses, the times of the steps, and which step is shown in detail. A step lasts from when the first rank begins it until the last rank
// ends it, on the clock of rank 0: `clock_offset` is added to this rank's clock.
RunRecord summarize(const Job&, const std::vector<StepRecord>&, Seconds clock_offset, const OverRanks& sum, const OverRanks& largest);

// `staleness`: what each process counted; only rank 0 needs it.
ServerSummary summarize(const UpdateChecksum& pushed, const UpdateChecksum& applied, const std::vector<std::vector<int>>& staleness,
                        const OverRanks&);

std::vector<ParameterSummary> summarize(const std::vector<Fingerprint>&, const OverRanks&);

std::vector<OperatorTime> summarize(const Network&, const std::vector<std::vector<RecordedOperator>>& of_ranks);

}  // namespace sextant
