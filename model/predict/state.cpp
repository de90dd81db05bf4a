#include "model/predict/state.hpp"

namespace sextant {

bool shards_are_masters(const Prepared::State& job) {
    return job.scenario.framework.shards_are_masters && job.scenario.plan.shards_parameters() && job.precision.master_weights;
}

Bytes gradient_bytes(const Prepared::State& job, double parameters) { return parameters * size_of(job.precision.reduction_type()); }
Bytes weight_bytes(const Prepared::State& job, double parameters) {
    return parameters * (1 - job.scenario.plan.pruned_fraction) * size_of(job.precision.parameter);
}

StageParameters parameters_of(const Prepared::State& job, std::size_t stage) {
    StageParameters sum;
    const StageBlocks& blocks = job.stages[stage];
    for (std::size_t t = 0; t < job.templates.size(); ++t) {
        const BlockKernels& k = job.templates[t];
        const double n = blocks.count[t];
        sum.trained = sum.trained + n * k.trained;
        sum.frozen = sum.frozen + n * k.frozen;
        sum.narrowed = sum.narrowed + n * k.narrowed;
        for (const WeightMatrix& m : k.matrices) (m.expert ? sum.matrices.expert : sum.matrices.dense) += n * m.parameters();
        sum.tensors += blocks.count[t] * k.trained_tensors;
        if (k.trained_tensors > 0) sum.blocks += blocks.count[t];
    }
    sum.shared = sum.trained.shared;
    sum.trained = sum.trained.in_stage({});
    sum.frozen = sum.frozen.in_stage({});
    return sum;
}

double held_parameters(const ParameterCount& p, const Plan& plan, bool sharded) {
    return held_parameters(p.dense, p.expert, plan, sharded);
}

Bytes spared_states(const Prepared::State& job, const StageParameters& p) {
    const Plan& plan = job.scenario.plan;
    return held_parameters(p.matrices, plan, plan.has_shards()) * facts_of(plan.optimizer).spared_states *
           size_of(job.precision.optimizer_state);
}

double owned_parameters(const Prepared::State& job, std::size_t stage) {
    return held_parameters(parameters_of(job, stage).trained, job.scenario.plan, job.scenario.plan.has_shards());
}

}  // namespace sextant
