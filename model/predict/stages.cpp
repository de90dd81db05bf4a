#include "model/predict/state.hpp"

namespace sextant {

StageParameters parameters_of(const Prepared::State& job, std::size_t stage) {
    StageParameters sum;
    const StageBlocks& blocks = job.stages[stage];
    for (std::size_t t = 0; t < job.templates.size(); ++t) {
        const BlockKernels& k = job.templates[t];
        const double n = blocks.count[t];
        // The head's tied weight lives with the embedding; a stage without the embedding needs a copy of its own.
        const double tied = blocks.has_input ? 0 : k.tied_parameters;
        sum.dense += n * (k.parameters + tied);
        sum.expert += n * k.expert_parameters;
        sum.tensors += blocks.count[t] * k.parameter_tensors;
    }
    return sum;
}

}  // namespace sextant
