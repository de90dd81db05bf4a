#include "model/predict/state.hpp"

#include <algorithm>
#include <numeric>

namespace sextant {
namespace {

// Blocks per virtual stage. By default the layers are dealt out evenly, the first virtual stage also has the input block and the
// last the head, as Megatron does; what does not divide goes to the middle stages first, which have neither.
std::vector<int> blocks_per_chunk(const Network& network, const Plan& plan) {
    if (!plan.stage_blocks.empty()) return plan.stage_blocks;
    const int chunks = plan.pp * plan.vpp;
    const int blocks = static_cast<int>(network.sequence.size());
    const auto role = [&](int i) {
        return network.templates[static_cast<std::size_t>(network.sequence[static_cast<std::size_t>(i)])].role;
    };
    const int inputs = blocks > 0 && role(0) == BlockRole::input ? 1 : 0;
    const int heads = blocks > 1 && role(blocks - 1) == BlockRole::head ? 1 : 0;
    const int layers = blocks - inputs - heads;
    std::vector<int> count(static_cast<std::size_t>(chunks), layers / chunks);
    int rest = layers % chunks;
    for (int i = 1; i < chunks - 1 && rest > 0; ++i, --rest) ++count[static_cast<std::size_t>(i)];
    for (int i = 0; i < chunks && rest > 0; ++i, --rest) ++count[static_cast<std::size_t>(i)];
    count.front() += inputs;
    count.back() += heads;
    return count;
}

}  // namespace

std::vector<StageBlocks> split_stages(const Network& network, const Plan& plan) {
    const std::vector<int> per_chunk = blocks_per_chunk(network, plan);
    std::vector<StageBlocks> stages(static_cast<std::size_t>(plan.pp));
    for (StageBlocks& s : stages) s.count.assign(network.templates.size(), 0);
    std::size_t block = 0;
    for (std::size_t chunk = 0; chunk < per_chunk.size(); ++chunk) {
        StageBlocks& stage = stages[chunk % stages.size()];  // virtual stages go round: chunk c of stage s is block run c * pp + s
        for (int i = 0; i < per_chunk[chunk] && block < network.sequence.size(); ++i, ++block) {
            const auto t = static_cast<std::size_t>(network.sequence[block]);
            ++stage.count[t];
            switch (network.templates[t].role) {
                case BlockRole::input:
                    stage.has_input = true;
                    break;
                case BlockRole::head:
                    stage.has_head = true;
                    break;
                case BlockRole::layer:
                    ++stage.layers;
                    break;
            }
        }
    }
    for (StageBlocks& s : stages) {
        s.recomputed_layers = plan.recompute == Recompute::none     ? 0
                              : plan.recompute == Recompute::blocks ? std::min(plan.recompute_blocks, s.layers)
                                                                    : s.layers;
    }
    return stages;
}

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
