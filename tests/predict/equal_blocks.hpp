// Pipelines of equal blocks where nothing but arithmetic takes time: forward of a block is g, backward 2 g.
#pragma once

#include "model/predict/state.hpp"
#include "tests/predict/mlp_job.hpp"

namespace sextant {

inline Scenario pipeline_job(int stages, std::int64_t micro_batches, Schedule schedule, int blocks) {
    Scenario job = products_job(blocks, micro_batches);
    job.plan.pp = stages;
    job.plan.schedule = schedule;
    return job;
}
inline Scenario pipeline_job(int stages, std::int64_t micro_batches, Schedule schedule) {
    return pipeline_job(stages, micro_batches, schedule, stages);
}

// In units of g.
inline double step_of(const Scenario& job) { return estimate(prepare(job)).step / one_product(job); }

}  // namespace sextant
