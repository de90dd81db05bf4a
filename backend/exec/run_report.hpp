// What the ranks' steps come to.
#pragma once

#include "backend/exec/fingerprint.hpp"
#include "backend/exec/operator_times.hpp"
#include "backend/exec/trace_assembly.hpp"
#include "model/graph/run_record.hpp"

#include <functional>
#include <span>

namespace sextant {

// Adds up over all ranks, on all of them.
using SumOverRanks = std::function<void(std::span<double>)>;

// Losses, times of the steps, and which of them is to be looked at. A step is as long as its ranks take on average: they begin it together,
// and each waits for the others in it.
RunRecord summarize(const Job&, const std::vector<StepRecord>&, const SumOverRanks&);

// `staleness`: what each process counted; it is needed on one only.
ServerSummary summarize(const Tally& pushed, const Tally& applied, const std::vector<std::vector<int>>& staleness, const SumOverRanks&);

std::vector<ParameterSummary> summarize(const std::vector<Fingerprint>&, const SumOverRanks&);

std::vector<OperatorTime> summarize(const Network&, const std::vector<std::vector<RecordedOperator>>& of_ranks);

}  // namespace sextant
