// What a rank recorded of a step.
#pragma once

#include "backend/exec/operator_times.hpp"
#include "backend/exec/recorder.hpp"

#include <optional>
#include <vector>

namespace sextant {

// What the trace of the step shows.
struct StepDetails {
    std::vector<RecordedSpan> spans;
    std::vector<RecordedArrival> arrivals{};
    std::vector<RecordedOperator> operators{};  // where the run times operators
};

struct StepRecord {
    std::optional<StepDetails> details;  // none: see thin_out()
    Seconds begin, end;
    std::int64_t peak_bytes = 0;        // of arrays on the device, up to the end of the step
    std::vector<double> losses;         // by round, this rank's share: the sum over the ranks is the mean over the global batch
    std::vector<double> mtp_losses{};   // the same for multi-token prediction, as a mean over its modules
    std::vector<double> expert_rows{};  // rows that this rank's routers sent, [blocks of the network, experts of a layer]
};

// To be called for each step that is added at the end. Of a long run it drops the details of all but every second, fourth, eighth ... step,
// on all ranks of the same, so that they take no more memory the longer it is.
void thin_out(std::vector<StepRecord>&);
inline constexpr std::size_t most_detailed_steps = 256;

}  // namespace sextant
