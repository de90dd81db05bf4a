// What prepare() works out once and estimate() reads: kernels by block template, stages, groups on the topology. Internal to predict.
#pragma once

#include "model/cost/collectives.hpp"
#include "model/cost/compute.hpp"
#include "model/cost/kernel.hpp"
#include "model/plan/buckets.hpp"
#include "model/plan/offload.hpp"
#include "model/plan/partition.hpp"
#include "model/predict/estimate.hpp"
#include "model/predict/groups.hpp"
#include "model/predict/input.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

namespace sextant {

// The blocks of one chunk of a stage, in the order of forward, and the buckets of their gradients, in the order of backward: bucket b holds
// blocks b.first_block .. of this list.
struct ChunkBlocks {
    struct Block {
        int block_template = 0;
        std::optional<int> layer;  // where it is one: its number among those of its stage
        BlockParameters parameters;
        [[nodiscard]] bool runs_again(const StageBlocks& stage) const { return layer && *layer < stage.recomputed_layers; }
        [[nodiscard]] bool is_like(const Block& b) const { return block_template == b.block_template && parameters == b.parameters; }
    };
    // Blocks one after another that are alike.
    struct Run {
        Block first;
        int count = 0;
        // Those of a stage that run again come first.
        [[nodiscard]] int again(const StageBlocks& stage) const {
            return first.layer ? std::clamp(stage.recomputed_layers - *first.layer, 0, count) : 0;
        }
    };
    std::vector<Block> blocks;
    std::vector<Run> runs;  // of them
    std::vector<Bucket> buckets;
    int first_layer = 0, layers = 0;  // of those of its stage
    std::size_t alike = 0;            // chunks right before it in its stage that hold the same
    void add(const Block& block) {
        if (blocks.empty() || !blocks.back().is_like(block)) runs.push_back({block});
        ++runs.back().count;
        blocks.push_back(block);
    }
    [[nodiscard]] int layers_again(const StageBlocks& stage) const { return std::clamp(stage.recomputed_layers - first_layer, 0, layers); }
};
// Chunks right before this one of a stage that hold the same, and run as much of it again: what runs again comes first.
inline std::size_t alike_before(std::span<const ChunkBlocks> chunks, std::size_t chunk, const StageBlocks& stage) {
    std::size_t alike = chunks[chunk].alike;
    while (alike > 0 && chunks[chunk - alike].layers_again(stage) != chunks[chunk].layers_again(stage)) --alike;
    return alike;
}

class PlayedSchedule;

struct Prepared::State {
    Scenario scenario;
    Precision precision;  // as the framework really keeps it
    DeviceRates rates;
    std::vector<BlockKernels> templates;
    std::vector<BlockRole> roles;
    std::vector<StageBlocks> stages;
    std::vector<std::vector<ChunkBlocks>> chunks;  // by stage
    BucketRule bucket_rule;
    std::shared_ptr<const Topology> topology;
    StageGroups groups;
    std::int64_t micro_batches = 1;
    double added_gradients = 1;                    // added_gradients() of the plan
    Flops needed_for_sample;                       // by the mathematics: whatever the plan, and whatever is done again or by several ranks
    std::shared_ptr<const PlayedSchedule> played;  // where no formula has the schedule
    Bandwidth host_copy;                           // device to host memory, pinned
    Bandwidth host_bandwidth;                      // of the memory of the node, shared by its devices
    Bandwidth network;                             // of one node, all its network links together; zero where there is no network
    int devices_per_node = 1;
    double ranks_per_core = 1;  // where they share them; the scenario's rates are those of a part then (shared_cores.hpp)
    Seconds turn;               // of the others on a core, which a call waits for; zero where nobody shares
    int nodes = 1;
    std::optional<InputJob> input;  // none where samples are synthetic

    [[nodiscard]] int used_devices() const { return std::min(devices_per_node, scenario.plan.devices()); }  // of a node
    // While all devices of the node copy: those behind one PCIe switch share its uplink.
    [[nodiscard]] Bandwidth host_copy_beside_others() const {
        return host_copy / std::clamp(scenario.cluster.node.devices_per_switch, 1, used_devices());
    }
    // Of a call, where ranks do so much between two of them: a turn, or until the others are done, each of which has the core alone then.
    [[nodiscard]] Seconds wait_for_core(Seconds work_between) const { return min(turn, work_between / ranks_per_core); }
};

// Price of one template under the present resources: device time, host time and exchanges, by phase.
struct PhasePrice {
    Seconds device;
    Seconds host;
    ByInLayer<Seconds> exchange, flowing;       // exposed; of that on links
    ByInLayer<Seconds> hidden, hidden_flowing;  // likewise, what goes on behind compute
    ByInLayer<Seconds> meeting;                 // by which an exchange is longer that meets what is hidden of those before
    Seconds copies;                             // of activations to host memory or back, what the phase does not hide
    [[nodiscard]] Seconds exchanges() const { return exchange.sum() + meeting.sum(); }
    [[nodiscard]] Seconds time() const { return device + exchanges() + copies; }
    [[nodiscard]] Seconds behind_kernels() const { return hidden.sum(); }
    [[nodiscard]] Seconds links(InLayer kind) const { return flowing[kind] + hidden_flowing[kind]; }
    // With exchanges that are so many times as long on links.
    [[nodiscard]] PhasePrice stretched(const ByInLayer<double>&) const;
    PhasePrice& operator+=(const PhasePrice&);
    friend PhasePrice operator+(PhasePrice a, const PhasePrice& b) { return a += b; }
    friend PhasePrice operator*(double n, const PhasePrice&);
};
struct SegmentPrice {
    PhasePrice forward, backward, recompute;
    PhasePrice weights;     // of backward, what may come apart
    PhasePrice checkpoint;  // what the forward of a block that runs again takes more: of the host, and less of copies
};
// Of each kernel of a block.
struct KernelTimes {
    std::vector<Seconds> forward, backward, recompute;
};
KernelTimes kernel_times(const BlockKernels&, const Prepared::State&, const Resources&);
// Lists of kernels are the same however ranks share gradients; of those that add them up a rank runs its part.
Kernel as_run(const Kernel&, const Prepared::State&);
SegmentPrice price_block(const BlockKernels&, const KernelTimes&, const Prepared::State&, const JobGroups&, const Resources&);
// Where exchanges of experts go on beside the kernels of another micro-batch, the part of all passes that have one beside them; else 0.
double passes_beside_another(const Prepared::State&);

// A CPU's thread computes what it issues: that is in the time between its kernels.
bool issues_itself(const Prepared::State&);
// The weights in shards are those in FP32 that the optimizer updates: there are no others.
bool shards_are_masters(const Prepared::State&);
// Host time of a block in one phase. A captured graph is launched as a whole; where that is the framework's habit, its dispatch is already
// the time per node.
struct HostTime {
    Seconds launch;  // to issue one kernel or exchange
    Seconds block;   // beside them
    bool waits;      // for each kernel: nothing of this passes beside the device's work
};
enum class Pass { forward, backward, recompute };
HostTime host_time(const Prepared::State&, Pass);

// Which kernels and exchanges of a backward are wanted: zero-bubble schedules run those of weights apart.
enum class BackwardPart { whole, inputs, weights };
template <class T>
bool belongs(const T& item, BackwardPart part) {
    return part == BackwardPart::whole || item.weight_gradient == (part == BackwardPart::weights);
}

// One call of an exchange inside a layer, hidden or not.
Collective collective_of(ExchangeKind);
Bytes sent_bytes(const ExchangeCall&, const Group&, const Prepared::State&);
CollectivePrice exchange_price(const ExchangeCall&, const Group&, const Prepared::State&, const Resources&);
Seconds exchange_time(const ExchangeCall&, const Prepared::State&, const JobGroups&, const Resources&);

// The fraction of its exchanges that goes on behind kernels: of those of experts no more than the kernels of a phase last.
struct HiddenParts {
    double tensor = 0, expert = 0;
    [[nodiscard]] double of(ParallelGroup which) const {
        return which == ParallelGroup::tensor ? tensor : which == ParallelGroup::expert ? expert : 0;
    }
};
HiddenParts hidden_parts(const std::vector<Kernel>&, std::span<const Seconds> times, const std::vector<ExchangeCall>&, BackwardPart,
                         const Prepared::State&, const JobGroups&, const Resources&);

// ZeRO-3 / FSDP: what the framework spends on the pieces of one call, a tensor for each rank of the group.
Seconds pieces_time(const Group&, const Prepared::State&);
// ZeRO-3 / FSDP: the weights of one block gathered once, its gradients scattered once (and summed over the replicas of the shard).
struct ShardedBlockPrice {
    Seconds gather, scatter;
};
ShardedBlockPrice price_sharded_block(const BlockParameters&, const Prepared::State&, const JobGroups&, const Resources&);

// Gradients as they travel, weights as they are stored.
Bytes gradient_bytes(const Prepared::State&, double parameters);
Bytes weight_bytes(const Prepared::State&, double parameters);

// What comes and goes with the micro-batches of a stage, whoever shares weights and states: on the device, and in host memory; and the
// weights of its largest block.
struct PassingBytes {
    Bytes activations, logits, offloaded, largest_weights;
};
PassingBytes passing_bytes(const Prepared::State&, std::size_t stage);
// Memory of each stage; of one what is there from beginning to end, and its peak with what passes; and what a device has.
std::vector<StageMemory> stage_memory(const Prepared::State&);
Bytes held_bytes(const Prepared::State&, std::size_t stage);
Bytes peak_bytes(const Prepared::State&, std::size_t stage, Bytes held, const PassingBytes&);
Bytes device_memory(const Prepared::State&);
HostMemory host_memory(const Prepared::State&);
// Gradients that are scattered once a step add up whole until then: none of a micro-batch that is alone; those of two chunks at a time,
// where a stage's chunks do all their micro-batches one chunk after the other; all of them.
enum class AddingUp { nothing, of_two_chunks, all };
AddingUp adding_up(const Plan&, std::int64_t micro_batches);
// What one rank of the stage puts there for the whole step: weights, gradients and the optimizer's states.
Bytes host_states(const Prepared::State&, std::size_t stage);

// Of one block and one micro-batch: activations that wait for backward on the device, logits apart, and those that do in host memory, where
// this share of such blocks runs forward again; logits; and what the block needs while it runs, again or for inference.
Bytes waiting_activations(const BlockKernels&, const Prepared::State&, double recomputed);
Bytes offloaded_activations(const BlockKernels&, const Prepared::State&, double recomputed);
Bytes offloaded_activations(const Prepared::State&, std::size_t stage);  // of a micro-batch in all blocks of the stage
Bytes waiting_logits(const BlockKernels&, const Plan&);
Bytes working_memory(const BlockKernels&, const Prepared::State&, bool recomputed);

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
Seconds server_sum_time(const Prepared::State&, Bytes gradients);
Seconds server_update_time(const Prepared::State&, Bytes gradients);

// What all devices of a node do at once: copies over the link of each, and what the host reads and writes for each.
Seconds host_copy_time(const Prepared::State&, Bytes over_link, Bytes in_host_memory, const Resources&);
// So many gradients that a rank owns, behind their reduction.
Seconds gradient_copy_time(const Prepared::State&, double gradients, StepEnds, const Resources&);
// Optimizer offload: the update of what a rank owns in host memory with its copies; those weights once to the device.
Seconds offloaded_update_time(const Prepared::State&, std::size_t stage, const Resources&);
Seconds offloaded_weights_time(const Prepared::State&, std::size_t stage, const Resources&);

// What a stage does when its gradients are there: on the device, and in host memory with copies. The host's time to launch the former
// passes beside the device's, and before, as far as it is ahead.
struct UpdateTime {
    Seconds device, launches, host;
    Bytes tied;  // of gradients of a matrix that the other end of the pipeline has too: summed before
    [[nodiscard]] Seconds total() const { return device + host; }
};
UpdateTime update_time(const Prepared::State&, std::size_t stage, const Resources&);
// Of that sum, which nothing hides (Megatron-LM, finalize_model_grads.py, _allreduce_word_embedding_grads).
Seconds tied_sum_time(const Prepared::State&, const UpdateTime&, const Resources&);

// One collective over a group of the job, its links as a what-if makes them; and how long it takes amid other work, the turns of those that
// share its ranks' cores included.
CollectivePrice group_price(Collective, Bytes, const Group&, const Prepared::State&, const Resources&);
Seconds group_time(Collective, Bytes, const Group&, const Prepared::State&, const Resources&);

// Local parameters of a stage. Tied weights are counted once, where their owner is in another stage.
struct StageParameters {
    ParameterCount trained, frozen;
    decltype(ParameterCount::shared) shared{};  // of the former, matrices that blocks of other stages may have too
    int tensors = 0, blocks = 0;                // of those that are trained, and that have some
};
// Of local parameters those that one rank holds: all, or its shard.
double held_parameters(const ParameterCount&, const Plan&, bool sharded);
double owned_parameters(const Prepared::State&, std::size_t stage);  // whose optimizer states a rank holds
StageParameters parameters_of(const Prepared::State&, std::size_t stage);
// Of the gradients of all of them, on their way into the buckets of a step's exchanges and out again.
Bytes bucket_traffic(const Prepared::State&, const StageParameters&);

}  // namespace sextant
