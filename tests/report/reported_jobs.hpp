// Jobs that reports are made of.
#pragma once

#include "model/report/report.hpp"
#include "tests/cost/small_gpt.hpp"
#include "tests/predict/mlp_job.hpp"

namespace sextant {

// Two ranks with four of eight experts each.
inline Scenario experts_over_two_ranks() {
    auto gpt = std::get<TransformerSpec>(small_gpt().spec);
    gpt.moe = MixtureOfExperts{.experts = 8, .topk = 2, .ffn_hidden = 256};
    Scenario job = mlp_job(1);
    job.workload.spec = gpt;
    job.plan.micro_batch = 1;
    job.plan.dp = job.plan.ep = 2;
    job.plan.global_batch = 2;
    return job;
}

inline Report report_of(const Scenario& job) { return make_report(prepare(job)); }

}  // namespace sextant
