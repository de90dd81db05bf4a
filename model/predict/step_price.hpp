// A step, put together from what its stages cost. Internal to predict.
#pragma once

#include "model/predict/stage_price.hpp"
#include "model/predict/update.hpp"

namespace sextant {

struct StepPrice {
    std::size_t last_stage = 0;  // whose rank finishes last
    Terms terms;                 // of that rank: they add up to the step
    Seconds taking;              // as Estimate has it
    Seconds caught_up;           // of data-parallel exchanges that it alone would wait for, what is done while it waits for other stages
};
// And on a rank of the stage that the others wait for.
struct WholeStepPrice : StepPrice {
    std::size_t slowest_stage = 0;
    Terms slowest;
};
WholeStepPrice price_step(const Prepared::State&, const StagePrices&, const Resources&);

// The parts of that, for who prices many steps. When each stage ends its last backward, or its last forward where there is none; where the
// schedule is played, `ends` holds when it has done all its work. Then the step, with the stages' updates.
void find_ends(const Prepared::State&, const StagePrices&, std::span<Seconds> ends);
StepPrice price_step(const Prepared::State&, const StagePrices&, std::span<const Seconds> ends, std::span<const UpdateTime>,
                     const Resources&);

// Of a rank of the stage, what noise and slow devices stretch: the kernels of its passes, and the update on its device.
Seconds busy_time(const Prepared::State&, const StagePrice&, const UpdateTime&);

// Of n ranks, by how many standard deviations of one rank's step time the slowest lags.
double expected_maximum(int n);

}  // namespace sextant
