// How long a pipeline takes, from how long the passes of its stages take: by formulas, without playing the schedule (pipeline_play.hpp does
// that). docs/model/pipeline.md derives them. Internal to predict.
#pragma once

#include "model/plan/plan.hpp"

#include <span>
#include <string_view>

namespace sextant {

// One micro-batch on one stage, all chunks together: what the stage's own stream does, blocking transfers included.
struct StageTimes {
    Seconds early;           // the part of forward that is done before its input arrives
    Seconds early_backward;  // the same of backward
    Seconds forward;
    Seconds backward;  // in zero-bubble schedules, up to the gradient of the stage's input
    Seconds weights;   // what those schedules leave for later
    Seconds late;      // the part of backward that is done after its result has been sent
    Seconds met;       // how much longer exchanges in backward take beside those of other stages; not of a micro-batch that passes alone
    Seconds host_forward, host_backward;  // to issue it all
    Seconds passing;                      // how much longer the first and the last micro-batch take
    [[nodiscard]] Seconds device() const { return forward + backward + weights; }
    // These are of a micro-batch that passes alone.
    [[nodiscard]] Seconds backward_alone() const { return backward - early_backward - met; }
    [[nodiscard]] Seconds alone() const { return forward - early + backward_alone() + weights - late; }
    [[nodiscard]] Seconds host() const { return host_forward + host_backward; }
};

struct Pipeline {
    Schedule schedule = Schedule::one_f_one_b;
    int chunks = 1;
    double micro_batches = 1;
    bool forward_only = false;
    // Transfers beside compute, for one micro-batch; zero where transfers block.
    Seconds hidden_send;       // over one boundary in one direction, on average
    Seconds busiest_boundary;  // over the busiest boundary, in one direction
    Seconds busiest_stage;     // from the busiest stage to both its neighbours, over the same link
    // However fast the stages are, the step takes no less: what links shared by several stages carry, and the way of the first micro-batch
    // through the other stages.
    Seconds shared_links;
};

// The times of stages, most of which are like the one before.
struct TimesOfStages {
    std::span<const StageTimes> kinds;
    std::span<const std::size_t> kind_of;  // by stage

    [[nodiscard]] std::size_t size() const { return kind_of.size(); }
    [[nodiscard]] const StageTimes& operator[](std::size_t stage) const { return kinds[kind_of[stage]]; }
};

// Puts into `ends` when each stage ends its last pass.
void pipeline_ends(const Pipeline&, const TimesOfStages&, std::span<Seconds> ends);

// The earliest time at which the stage begins its first backward.
Seconds first_backward(const Pipeline&, const TimesOfStages&, std::size_t stage);

// The formula that pipeline_ends() follows for this schedule, in the symbols of docs/model/pipeline.md; for a schedule that is played
// (is_played()), the rule of the play.
std::string_view pipeline_formula(Schedule, bool forward_only, bool played);

// The least time of a schedule that turns back: the work of any stage, and what it waits for. With many micro-batches, exactly that.
Seconds turning_time(const Pipeline&, const TimesOfStages&);

// When the stage that ends last does so, where its device would be done at `device` if it never waited for a host.
Seconds held_up_by_hosts(const Pipeline&, const TimesOfStages&, Seconds device);

}  // namespace sextant
