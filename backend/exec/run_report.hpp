// What the ranks' steps come to.
#pragma once

#include "backend/exec/fingerprint.hpp"
#include "backend/exec/operator_times.hpp"
#include "backend/exec/trace_assembly.hpp"
#include "model/graph/run_record.hpp"

#include <functional>
#include <span>

namespace sextant {

// Adds up over all ranks, or finds the largest, on all of them.
using OverRanks = std::function<void(std::span<double>)>;

// Losses, times of the steps, and which of them is to be looked at. A step lasts from when the first rank begins it until the last ends it,
// by one clock: `clock_offset` makes this rank's that of the first.
RunRecord summarize(const Job&, const std::vector<StepRecord>&, Seconds clock_offset, const OverRanks& sum, const OverRanks& largest);

// `staleness`: what each process counted; it is needed on one only.
ServerSummary summarize(const Tally& pushed, const Tally& applied, const std::vector<std::vector<int>>& staleness, const OverRanks&);

std::vector<ParameterSummary> summarize(const std::vector<Fingerprint>&, const OverRanks&);

std::vector<OperatorTime> summarize(const Network&, const std::vector<std::vector<RecordedOperator>>& of_ranks);

}  // namespace sextant
