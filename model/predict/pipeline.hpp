// How long a pipeline takes whose stages' passes take so long: formulas, not a play of the orders. docs/model/pipeline.md derives them.
// Internal to predict.
#pragma once

#include "model/plan/plan.hpp"

#include <span>

namespace sextant {

// One micro-batch on one stage, all chunks together: what its own stream does, transfers that block it included.
struct StageTimes {
    Seconds early;                  // of the next: what the stage does before its input arrives
    Seconds early_back;             // the same of backward
    Seconds ahead;                  // forward
    Seconds back;                   // backward; of zero-bubble schedules up to the gradient of the stage's input
    Seconds weights;                // what those leave for later
    Seconds host_ahead, host_back;  // to issue it all
    Seconds passing;                // what first and last micro-batch take longer
    [[nodiscard]] Seconds device() const { return ahead + back + weights; }
    [[nodiscard]] Seconds host() const { return host_ahead + host_back; }
};

struct Pipeline {
    Schedule schedule = Schedule::one_f_one_b;
    int chunks = 1;
    double micro_batches = 1;
    bool forward_only = false;
    Seconds hidden_send;  // of one boundary, in each direction, where transfers go on beside compute; zero where they block
};

// When the first stage ends its last backward; forward alone, when the last stage ends.
Seconds pipeline_time(const Pipeline&, std::span<const StageTimes>);

// The same where hosts hold up devices, which by themselves are done at `device`; else that.
Seconds host_time(const Pipeline&, std::span<const StageTimes>, Seconds device);

// By how much earlier the stage behind a stage ends its own last work.
Seconds drain(const Pipeline&, const StageTimes& ahead_of_it);

}  // namespace sextant
