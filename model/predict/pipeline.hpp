// How long a pipeline takes whose stages' passes take so long: formulas, not a play of the orders (that is pipeline_play.hpp).
// docs/model/pipeline.md derives them. Internal to predict.
#pragma once

#include "model/plan/plan.hpp"

#include <span>
#include <string_view>

namespace sextant {

// One micro-batch on one stage, all chunks together: what its own stream does, transfers that block it included.
struct StageTimes {
    Seconds early;           // of forward: what the stage does before its input arrives
    Seconds early_backward;  // the same of backward
    Seconds forward;
    Seconds backward;  // of zero-bubble schedules up to the gradient of the stage's input
    Seconds weights;   // what those leave for later
    Seconds late;      // of backward: what the stage does when it has sent its result
    Seconds met;       // of backward: what exchanges take longer beside those of other stages; not where one micro-batch passes alone
    Seconds host_forward, host_backward;  // to issue it all
    Seconds passing;                      // what first and last micro-batch take longer
    [[nodiscard]] Seconds device() const { return forward + backward + weights; }
    // Of one that passes alone.
    [[nodiscard]] Seconds backward_alone() const { return backward - early_backward - met; }
    [[nodiscard]] Seconds alone() const { return forward - early + backward_alone() + weights - late; }
    [[nodiscard]] Seconds host() const { return host_forward + host_backward; }
};

struct Pipeline {
    Schedule schedule = Schedule::one_f_one_b;
    int chunks = 1;
    double micro_batches = 1;
    bool forward_only = false;
    // Where transfers go on beside compute: over one boundary, in each direction; those of a micro-batch that the busiest one carries; and
    // those that the busiest stage sends, to both its neighbours, by the same link. Zero where they block.
    Seconds hidden_send, busiest_boundary, busiest_stage;
    // However fast stages are: what links that several of them share carry, and what the first micro-batch passes besides.
    Seconds shared_links;
};

// Of each of several stages, most of which are like the one before.
struct TimesOfStages {
    std::span<const StageTimes> unlike;
    std::span<const std::size_t> which;  // of these, by stage

    [[nodiscard]] std::size_t size() const { return which.size(); }
    [[nodiscard]] const StageTimes& operator[](std::size_t stage) const { return unlike[which[stage]]; }
};

// When each stage ends its last backward, into `ends`; forward alone: as late as the last stage.
void pipeline_ends(const Pipeline&, const TimesOfStages&, std::span<Seconds> ends);

// When each stage begins its first backward, at the earliest.
Seconds first_backward(const Pipeline&, const TimesOfStages&, std::size_t stage);

// The formula that pipeline_ends() follows for this schedule, in the symbols of docs/model/pipeline.md. Where the schedule is played
// (is_played()), the rule that the play follows.
std::string_view pipeline_formula(Schedule, bool forward_only, bool played);

// How long a schedule that turns back takes at least: the work of any stage, and what it waits for. With many micro-batches, just so long.
Seconds turning_time(const Pipeline&, const TimesOfStages&);

// When the last stage to end does so, whose device would be done at `device` if it never waited for the hosts.
Seconds held_up_by_hosts(const Pipeline&, const TimesOfStages&, Seconds device);

}  // namespace sextant
