// What data parallelism adds to a step: gradients reduced, weights gathered, parameter servers. Internal to predict.
#pragma once

#include "model/predict/state.hpp"

namespace sextant {

// ZeRO-3 / FSDP: what the framework spends on the pieces of one call, a tensor for each rank of the group.
Seconds pieces_time(const Group&, const Prepared::State&);
// ZeRO-3 / FSDP: the weights of one block gathered once, its gradients scattered once (and summed over the replicas of the shard).
struct ShardedBlockPrice {
    Seconds gather, scatter;
};
ShardedBlockPrice price_sharded_block(const BlockParameters&, const Prepared::State&, const JobGroups&, const Resources&);

// What data parallelism adds to one step of a stage, beside its micro-batches. A stage that is alone in its pipeline is played with its
// host, whose lead over the device carries over from one micro-batch to the next; where others wait for it, by parts.
struct DataParallelPrice {
    Seconds exposed;   // communication that nothing hides, all of it
    Seconds slowdown;  // of the kernels beside the rest
    Seconds hidden;
    Seconds launch;     // the device waits for the host; of a stage alone
    Seconds at_end;     // exchanges of what the last backward makes, hidden or not
    double copied = 0;  // of exposed and hidden, the part that copies to and from host memory have
    // Where exposed and slowdown show: in every micro-batch, in the first and the last, of that in the first forward, and behind it all.
    Seconds steady, passing, first_forward, behind;
    // Of steady, in forward, and in the part of backward that a zero-bubble schedule leaves for later.
    Seconds steady_forward, steady_weights;
    // Of steady, what is done before the input of a pass arrives, where the stage waits for that: weights gathered for its first blocks;
    // and what is done when a backward could already have sent its result.
    Seconds early_forward, early_backward, late;
    // Of what a pass has besides, what exchanges take longer because other stages have theirs on the same links: a micro-batch that passes
    // alone does without. And what is on these links for each micro-batch, of all those stages.
    Seconds met, on_links;
    // Where compute does not wait for the exchanges of every micro-batch, and those fall behind: what is behind it all if only the last
    // one's are; and all of them, one after another, since the first backward began. Of schedules that no formula follows neither is known.
    Seconds behind_last, queue;

    // Of steady, what a micro-batch has on its way.
    [[nodiscard]] Seconds on_its_way() const { return steady - steady_weights - early_forward - early_backward - late; }
};
// What one worker has for all servers together, or they for it, while all others do the same.
Seconds server_way_time(const Prepared::State&, Bytes, const Resources&);
// What host memory does for a parameter server, and beside it for others on its host: adds gradients to the sum; updates weights with them.
// Beside workers that are cores: what such a core does, taking the gradients from them included. Neglected: that the workers may need it.
Seconds server_sum_time(const Prepared::State&, Bytes gradients);
Seconds server_update_time(const Prepared::State&, Bytes gradients);

}  // namespace sextant
