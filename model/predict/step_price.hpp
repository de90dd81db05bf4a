// The price of a step, put together from those of its stages. Internal to predict.
#pragma once

#include "model/predict/stage_price.hpp"
#include "model/predict/update.hpp"

namespace sextant {

struct StepPrice {
    std::size_t last_stage = 0;  // the stage whose rank finishes last
    Terms terms;                 // of that rank: they add up to the step
    Seconds taking;              // as in Estimate
    Seconds caught_up;           // data-parallel exchanges that the rank does not wait for because they run while it waits for other stages
};
// Also the terms on a rank of the stage that the others wait for.
struct WholeStepPrice : StepPrice {
    std::size_t slowest_stage = 0;
    Terms slowest;
};
WholeStepPrice price_step(const Prepared::State&, const StagePrices&, const Resources&);

// The two parts of that, for those who price many steps. The first puts into `ends` when each stage ends its last backward (or forward,
// where there is no backward); for a schedule that is played, `ends` already holds when each stage has done all its work in the play. The
// second prices the step with the stages' updates.
void find_ends(const Prepared::State&, const StagePrices&, std::span<Seconds> ends);
StepPrice price_step(const Prepared::State&, const StagePrices&, std::span<const Seconds> ends, std::span<const UpdateTime>,
                     const Resources&);

// The part of a rank's step that noise and slow devices stretch: the kernels of its passes, and the update on its device.
Seconds busy_time(const Prepared::State&, const StagePrice&, const UpdateTime&);

// By how many standard deviations of one rank's step time the slowest of n ranks lags behind the mean.
double expected_maximum(int n);

}  // namespace sextant
