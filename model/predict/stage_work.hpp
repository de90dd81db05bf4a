// What the blocks of a stage take for each micro-batch, whatever the order in which stages work and whoever shares weights and states.
// Internal to predict.
#pragma once

#include "model/predict/block_price.hpp"
#include "model/predict/overlap.hpp"

#include <vector>

namespace sextant {

// By template: each block by itself, in a stage with these groups.
std::vector<KernelTimes> kernel_times(const Prepared::State&, const Resources&);
std::vector<SegmentPrice> price_blocks(const Prepared::State&, std::span<const KernelTimes>, const JobGroups&, const Resources&);

// The time of a send from each stage to the next, by the block that the chunk ends with; and to the stage before, where chunks go back.
class SendTimes {
public:
    SendTimes() = default;  // of a single stage
    SendTimes(const Prepared::State&, const Resources&);
    [[nodiscard]] Seconds behind(std::size_t stage, bool to_previous, int block_template) const {
        return (to_previous ? to_previous_ : to_next_)[stage * templates_ + static_cast<std::size_t>(block_template)];
    }

private:
    std::size_t templates_ = 0;
    std::vector<Seconds> to_next_, to_previous_;  // by stage, by template
};

struct StageWork {
    // One block. Where all passes run gradients of weights apart, backward does not include them.
    struct Passes {
        OwnWork forward, checkpointed, backward, recompute_and_backward,
            weights;  // checkpointed: the first forward of a block that runs again
    };
    std::vector<Passes> passes;  // by template
    SegmentPrice all;            // the blocks of the stage together
    OwnWork forward, backward;   // the same as stretches of work
    OwnWork weights;             // the part of backward that may be run apart
    Seconds launch;              // of both passes, where hosts issue nothing ahead of what stages send each other
};
// `segments`: by template, priced for the groups of the stage.
StageWork stage_work(const Prepared::State&, std::size_t stage, std::span<const SegmentPrice> segments);

}  // namespace sextant
