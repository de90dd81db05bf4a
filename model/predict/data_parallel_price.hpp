// What data parallelism adds to a step: gradients reduced, weights gathered, parameter servers. Internal to predict.
#pragma once

#include "model/cost/shared_with_servers.hpp"
#include "model/predict/state.hpp"

#include <optional>

namespace sextant {

// ZeRO-3 / FSDP: the host time that the framework spends on the pieces of one call, a tensor for each rank of the group.
Seconds pieces_time(const Group&, const Prepared::State&);
// ZeRO-3 / FSDP: gathering the weights of one block once, and scattering its gradients once (summed over the replicas of the shard).
struct ShardedBlockPrice {
    Seconds gather, scatter;
};
ShardedBlockPrice price_sharded_block(const BlockParameters&, const Prepared::State&, const JobGroups&, const Resources&);

// What a stage finds where it stands in the job.
struct StageContext {
    Seconds arrival{};    // of the first micro-batch
    Seconds overhead{};   // of the framework, for each micro-batch
    double slowdown = 1;  // how many times as long its exchanges take while other stages on its nodes exchange too
};

// What data parallelism adds to one step of a stage, beside its micro-batches. A stage that is alone in its pipeline is played together
// with its host, whose lead over the device carries over from one micro-batch to the next; otherwise the parts say where other stages wait.
struct DataParallelPrice {
    Seconds exposed;    // communication that nothing hides
    Seconds hidden;     // communication behind kernels
    Seconds slowdown;   // how much longer kernels take beside that
    Seconds launch;     // the device waits for the host; only of a stage that is alone in its pipeline
    Seconds at_end;     // exchanges of what the last backward makes, hidden or not
    double copied = 0;  // the fraction of exposed and hidden that is copies to and from host memory

    // Where exposed and slowdown show.
    Seconds steady;         // in every micro-batch
    Seconds passing;        // besides, in the first and the last one together,
    Seconds first_forward;  // of that, in the first forward
    Seconds behind;         // after all passes
    // Parts of steady.
    Seconds steady_forward;                 // in forward
    Seconds steady_weights;                 // in the part of backward that a zero-bubble schedule leaves for later
    Seconds early_forward, early_backward;  // before the input of the pass arrives: weights gathered for the first blocks
    Seconds late;                           // once backward could already have sent its result

    // Where other stages exchange over the same links:
    Seconds met;       // how much longer the exchanges of a pass take than those of a micro-batch that passes alone
    Seconds on_links;  // what all those stages put on the links for each micro-batch
    // Where the exchanges of every micro-batch fall behind because compute does not wait for them (zero for schedules that are played):
    Seconds behind_last;  // what `behind` would be with those of the last micro-batch alone
    Seconds queue;        // all of them, one after another, from the beginning of the first backward

    // The part of steady that delays a micro-batch on its way through the pipeline.
    [[nodiscard]] Seconds on_its_way() const { return steady - steady_weights - early_forward - early_backward - late; }
};
// The time in which one worker sends this much to all servers together, or they to it, while all other workers do the same.
Seconds server_way_time(const Prepared::State&, Bytes, const Resources&);
// The same for gradients. Zero beside workers that are cores: there a server copies them itself, which is part of what it does with them.
Seconds push_time(const Prepared::State&, Bytes, const Resources&);
// Who shares cores, where servers are processes beside workers.
std::optional<SharedWithServers> shared_with_servers(const Prepared::State&);
// How long a parameter server takes to add gradients to their sum, and to update weights with it: bound by host memory, which the servers
// of a host share. Where the workers are cores, so is the server, and taking the gradients from them is included.
Seconds server_sum_time(const Prepared::State&, Bytes gradients);
Seconds server_update_time(const Prepared::State&, Bytes gradients);

}  // namespace sextant
