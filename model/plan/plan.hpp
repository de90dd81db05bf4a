// The parallel plan: how one training job is cut over devices and time. A plan is a request; check_plan says whether it can be.
#pragma once

#include "model/base/data_type.hpp"
#include "model/base/quantity.hpp"
#include "model/plan/optimizer.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace sextant {

// What happens to gradients and states over the data-parallel group.
enum class DataParallel {
    all_reduce,              // DDP: every rank holds everything
    zero1,                   // optimizer states sharded
    zero2,                   // gradients sharded too
    zero3,                   // parameters sharded too: ZeRO-3, FSDP full shard
    parameter_server,        // synchronous: workers push gradients, servers update
    async_parameter_server,  // each worker for itself
};

enum class Schedule { one_f_one_b, gpipe, interleaved, zero_bubble, zero_bubble_v, dual_pipe_v, sequential };

// Whether the pipeline goes to the last stage and comes back, so that every stage has two chunks and the first has both ends.
constexpr bool turns_back(Schedule s) { return s == Schedule::zero_bubble_v || s == Schedule::dual_pipe_v; }
// In which passes gradients of weights are made apart from those of inputs, which are passed on first.
enum class WeightsApart { in_none, in_some, in_all };
constexpr WeightsApart weights_apart(Schedule s) {
    if (s == Schedule::dual_pipe_v) return WeightsApart::in_some;
    return s == Schedule::zero_bubble || s == Schedule::zero_bubble_v ? WeightsApart::in_all : WeightsApart::in_none;
}

enum class Recompute {
    none,
    selective,  // the attention core, or the modules named in recompute_modules
    full,       // every block's inputs are kept, its forward runs again
    blocks,     // as full, for recompute_blocks of each stage's blocks
};

struct Precision {
    DataType compute = DataType::bf16;     // GEMM, convolution and attention inputs
    DataType activation = DataType::bf16;  // stored activations
    DataType parameter = DataType::bf16;   // stored weights that compute reads
    DataType optimizer_state = DataType::fp32;
    bool master_weights = true;         // fp32 copy owned by the optimizer
    bool tf32 = true;                   // fp32 matrix products may use TF32 tensor cores
    std::optional<DataType> gradient;   // stored gradients; absent: as the framework does
    std::optional<DataType> reduction;  // gradients on the wire; absent: as the framework does

    [[nodiscard]] DataType gradient_type() const { return gradient.value_or(parameter); }
    [[nodiscard]] DataType reduction_type() const { return reduction.value_or(gradient_type()); }
};

// The policy that people mean by one word: "fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4".
// Mixed precision keeps fp32 master weights; fp8 and narrower keep bf16 activations and weights and cast before each product.
Precision precision_policy(DataType word);

enum class Offload { none, optimizer, optimizer_and_parameters };

// Activations that wait for backward in host memory.
enum class OffloadActivations {
    none,
    residuals,  // the input of each block, and the sum in its middle, after attention
    layers,     // everything of offloaded_layers of each stage's layers; the copies are spread over all layers
    all,
};

// The most that a search or an advice suggests: with more, what is left of the logits hardly counts.
inline constexpr int enough_head_chunks = 16;

// The order in which ranks are numbered, fastest first. Consecutive ranks fill a node.
enum class PlanDimension { tensor, context, expert, data, pipeline };

struct Plan {
    int dp = 1, tp = 1, pp = 1, cp = 1;
    int vpp = 1;        // virtual chunks per pipeline stage
    int ep = 1;         // expert ranks: ep * expert_tp divides dp * cp * tp
    int expert_tp = 0;  // tensor parallelism inside experts; 0: as tp
    bool sequence_parallel = false;
    std::int64_t micro_batch = 1;
    std::int64_t global_batch = 1;
    DataParallel data_parallel = DataParallel::all_reduce;
    std::optional<int> shard_group;  // ZeRO over groups of this many data-parallel ranks (hybrid shard); absent: all
    int parameter_servers = 1;
    bool servers_on_workers = false;  // servers share the workers' hosts
    Schedule schedule = Schedule::one_f_one_b;
    std::vector<int> stage_blocks;  // blocks per virtual stage, input and head included; empty: as even as possible
    Recompute recompute = Recompute::none;
    int recompute_blocks = 0;
    std::vector<std::string> recompute_modules;
    Precision precision;
    Optimizer optimizer = Optimizer::adamw;
    bool flash_attention = true;
    bool cuda_graph = false;
    bool launch_blocking = false;    // the host waits for each kernel before it issues the next (CUDA_LAUNCH_BLOCKING=1)
    bool forward_only = false;       // inference
    bool without_optimizer = false;  // a benchmark of forward and backward alone
    bool frozen_batch_norm = false;  // batch norms train their gains and shifts with statistics that stay as they are
    Offload offload = Offload::none;
    OffloadActivations offload_activations = OffloadActivations::none;
    int offloaded_layers = 0;
    int head_chunks = 1;         // the head and its loss run over this many parts of the tokens in turn
    double pruned_fraction = 0;  // of the weights, not stored
    // Overrides of what the framework does by default.
    std::optional<bool> gradient_overlap, gather_overlap, tensor_overlap, pipeline_overlap, expert_overlap;
    std::optional<bool> token_deduplication;
    std::optional<bool> reduce_every_micro_batch;
    std::optional<bool> channels_last;  // images in NHWC
    std::optional<bool> autocast;       // weights of fp32, cast for each use; false: the network itself is of 16 bits
    std::vector<PlanDimension> placement{PlanDimension::tensor, PlanDimension::context, PlanDimension::data, PlanDimension::pipeline};
    bool scattered = false;               // a scheduler spread the ranks over more nodes than needed
    std::optional<int> devices_per_node;  // used on each node; absent: all
    std::vector<int> node_ranks;          // of each node, where a scheduler gave them unevenly; empty: nodes are filled in turn

    [[nodiscard]] int devices() const { return dp * tp * pp * cp; }
    [[nodiscard]] std::int64_t micro_batches() const { return global_batch / (micro_batch * dp); }  // per pipeline, per step
    [[nodiscard]] bool has_servers() const {
        return data_parallel == DataParallel::parameter_server || data_parallel == DataParallel::async_parameter_server;
    }
    [[nodiscard]] bool is_asynchronous() const { return data_parallel == DataParallel::async_parameter_server; }
    // Whether the workers themselves update weights, on their devices or in host memory.
    [[nodiscard]] bool updates_weights() const { return !forward_only && !without_optimizer && !has_servers(); }
    // Muon's update multiplies whole matrices, on the device.
    [[nodiscard]] bool updates_whole_matrices() const { return updates_weights() && facts_of(optimizer).spared_states > 0; }
    // ZeRO-1 and ZeRO-2: optimizer states, and at most gradients too, are sharded over the shard group.
    [[nodiscard]] bool shards_states() const { return data_parallel == DataParallel::zero1 || data_parallel == DataParallel::zero2; }
    [[nodiscard]] bool shards_parameters() const { return data_parallel == DataParallel::zero3; }
    [[nodiscard]] bool offloads_parameters() const { return offload == Offload::optimizer_and_parameters; }
    [[nodiscard]] bool shards_gradients() const { return data_parallel == DataParallel::zero2 || shards_parameters(); }
    [[nodiscard]] bool has_shards() const { return shards_states() || shards_parameters(); }
    [[nodiscard]] int shard_ranks() const { return shard_group.value_or(dp * cp); }
    // The degree of tensor parallelism inside an expert, and how many ranks hold the same experts.
    [[nodiscard]] int expert_tensor() const { return expert_tp > 0 ? expert_tp : tp; }
    [[nodiscard]] int expert_replicas() const { return std::max(1, dp * cp * tp / (ep * expert_tensor())); }
};

}  // namespace sextant
