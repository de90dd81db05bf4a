// Operator by operator: what its kernels were predicted to take on the device, and what a run measured.
#pragma once

#include "model/graph/run_record.hpp"
#include "model/predict/estimate.hpp"

#include <span>
#include <string>
#include <vector>

namespace sextant {

struct OperatorComparison {
    std::string block, name;
    SpanKind kind = SpanKind::forward;
    double calls = 0;             // in a step, by a rank on average
    Seconds predicted, measured;  // of one call; nothing is predicted of what a fused kernel does beside its first operator

    [[nodiscard]] Seconds difference() const { return calls * (measured - predicted); }  // in a step
};

// Of one call of each; zero of what a fused kernel does beside its first operator, and of what is none of the job's.
std::vector<Seconds> predicted_call_times(const Prepared&, std::span<const OperatorTime>);

// Those that differ most in a step first. Empty where the run was not asked for them.
std::vector<OperatorComparison> compare_operators(const Prepared&, const RunRecord&);

}  // namespace sextant
