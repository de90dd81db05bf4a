// A step, put together from what its stages cost. Internal to predict.
#pragma once

#include "model/predict/stage_price.hpp"

namespace sextant {

struct StepPrice {
    std::size_t last_stage = 0;     // whose rank finishes last
    std::size_t slowest_stage = 0;  // that the others wait for
    Terms terms;                    // of the one that finishes last: they add up to the step
    Terms slowest;
};
StepPrice price_step(const Prepared::State&, const StagePrices&, const Resources&);

}  // namespace sextant
