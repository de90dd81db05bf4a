// A stack of equal dense layers on the round machine: every block is one product of 1024 x 1024 x 1024 forward and two backward.
#pragma once

#include "model/cost/compute.hpp"
#include "model/predict/estimate.hpp"
#include "tests/cost/round_machine.hpp"

namespace sextant {

inline Scenario mlp_job(int blocks) {
    Scenario job;
    job.name = "equal layers";
    job.workload.spec = MlpSpec{.widths = std::vector<std::int64_t>(static_cast<std::size_t>(blocks) + 1, 1024)};
    job.cluster = round_machine::cluster(2);
    job.framework = round_machine::framework();
    job.library = round_machine::library();
    job.plan.micro_batch = job.plan.global_batch = 1024;
    job.plan.without_optimizer = true;
    return job;
}

// `blocks` products forward and twice as many backward for each micro-batch, and nothing else takes time.
inline Scenario products_job(int blocks, std::int64_t micro_batches = 1) {
    Scenario job = mlp_job(blocks);
    round_machine::only_arithmetic_counts(job);
    job.plan.global_batch = 1024 * micro_batches;
    return job;
}

// g: the time of one such product on the job's device.
inline Seconds one_product(const Scenario& job) {
    Kernel g;
    g.kind = KernelKind::gemm;
    g.m = g.n = g.k = 1024;
    g.type = job.plan.precision.compute;
    g.flops = 2.0 * 1024 * 1024 * 1024 * units::FLOP;
    return kernel_time(g, device_rates(job.cluster.node.device, job.framework, job.plan));
}

}  // namespace sextant
