// The pipeline that priced stages form, in the quantities of the pipeline formulas (pipeline.hpp). Internal to predict.
#pragma once

#include "model/predict/stage_price.hpp"

namespace sextant {

// Refers to the job and its prices, which must outlive it.
class PricedPipeline {
public:
    PricedPipeline(const Prepared::State& job, const StagePrices& stages) : job_(job), plan_(job.scenario.plan), stages_(stages) {}

    [[nodiscard]] TimesOfStages times() const { return {stages_.times, stages_.kind_of}; }
    // With the links that several stages share, and as if each stage had links of its own.
    [[nodiscard]] Pipeline whole() const;
    [[nodiscard]] Pipeline without_shared_links() const;

    // From the first micro-batch that the first stage takes to the last one.
    [[nodiscard]] Seconds taking_time() const;

private:
    [[nodiscard]] double micro_batches() const { return static_cast<double>(job_.micro_batches); }
    [[nodiscard]] Seconds time_of_shared_links() const;

    const Prepared::State& job_;
    const Plan& plan_;
    const StagePrices& stages_;
};

}  // namespace sextant
