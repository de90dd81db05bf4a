// Jobs that reports are made of.
#pragma once

#include "model/report/report.hpp"
#include "tests/cost/small_gpt.hpp"
#include "tests/predict/mlp_job.hpp"

namespace sextant {

// `blocks` products forward and twice as many backward for each micro-batch, and nothing else takes time.
inline Scenario products_job(int blocks, std::int64_t micro_batches = 1) {
    Scenario job = mlp_job(blocks);
    round_machine::only_arithmetic_counts(job);
    job.plan.global_batch = 1024 * micro_batches;
    return job;
}

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
