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
    Seconds predicted, measured;  // of one call; predicted is zero for what a fused kernel does beyond its first operator

    [[nodiscard]] Seconds difference() const { return calls * (measured - predicted); }  // in a step
};

// The predicted time of one call of each; zero for what a fused kernel does beyond its first operator, and for operators that the job does
// not have.
std::vector<Seconds> predicted_call_times(const Prepared&, std::span<const OperatorTime>);

// The largest difference in a step first. Empty where the run did not record operator times.
std::vector<OperatorComparison> compare_operators(const Prepared&, const RunRecord&);

}  // namespace sextant
