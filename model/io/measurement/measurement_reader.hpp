// Published measurements: the rows of the files that measurements/FORMAT.md describes, field by field as they stand there.
//
// These files are written by programs: SI numbers with the unit in the key. A key that is not known here is passed over, because
// more sources bring more fields; a value of the wrong type, a negative or a huge one makes its row an UnreadRow.
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/base/quantity.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace sextant {

// What all kinds of row share.
struct RowHeader {
    std::string id;
    std::string source_ref;
    std::string notes;
    bool complete = true;  // false: the source left out something that matters
    bool suspect = false;  // the figures of the source disagree with each other
    std::string file;      // of the row, for diagnostics
    std::string pointer;   // "/rows/17"

    // Totals count these rows only.
    [[nodiscard]] bool counted() const { return complete && !suspect; }
};

struct MeasuredModel {
    struct LatentAttention {
        std::optional<std::int64_t> q_lora_rank, kv_lora_rank, qk_head_dim, qk_rope_dim, v_head_dim;
    };
    std::string name, family, mlp, positional;
    std::optional<std::int64_t> layers, hidden, ffn_hidden, heads, kv_heads, head_dim, vocab, seq_len, image_px;
    std::optional<std::int64_t> experts, topk, moe_ffn_hidden, shared_expert_ffn_hidden, dense_layers;
    std::optional<std::int64_t> mtp_layers, sliding_window, sliding_window_every, max_predictions;
    std::optional<bool> tied_embeddings, bias, qkv_bias, bidirectional;
    std::optional<LatentAttention> mla;
};

struct MeasuredIntraNode {
    std::string kind;  // "nvswitch", "nvlink", "pcie"
    std::string as_stated;
    bool pair_only = false;  // bridges between pairs
    std::optional<bool> peer_access;
    std::optional<int> domain_gpus;  // NVLink domain larger than a node
};

struct MeasuredInterNode {
    std::string fabric;  // "infiniband", "roce", "omni-path", "efa", "ethernet"
    std::optional<int> nics_per_node;
    std::optional<double> nic_gbit_per_s;
};

struct MeasuredHardware {
    std::string gpu, system, cpu;
    int gpus = 1, nodes = 1;
    std::optional<int> gpus_per_node, gpus_used_per_node;
    MeasuredIntraNode intra_node;
    std::optional<MeasuredInterNode> inter_node;
    std::vector<std::string> assumed;  // fields that the source does not state
};

struct MeasuredPlan {
    int tp = 1, pp = 1, cp = 1, zero_stage = 0;
    std::optional<int> dp, vpp, ep, etp, zero1_shard_size, activation_cpu_offload_layers;
    std::optional<std::int64_t> micro_batch, global_batch, grad_accum;
    std::string fsdp, recompute, recompute_detail, schedule, variable_update, phase, optimizer, ddp, trainable;
    std::string precision, precision_kind, framework, framework_family;
    std::string grad_reduce_dtype, grad_dtype, grad_allreduce, fsdp_mixed_precision, moe_dispatcher;
    std::string cuda_graph;  // "implementation/scope", "whole", or begins with "none"
    std::vector<std::string> recompute_modules, offload;
    bool sequence_parallel = false, embedding_as_pipeline_layer = false, activation_cpu_offload = false;
    bool fp8_params = false, shard_weights = false, shard_gradients = false;
    int lmhead_chunks = 1;
    std::optional<bool> flash_attention, grad_overlap, param_gather_overlap, tp_overlap, p2p_overlap, moe_a2a_overlap, channels_last,
        cross_entropy_fusion;
};

struct TrainingRow {
    RowHeader header;
    std::string task;  // "pretrain", "SFT", "LoRA"; may be empty
    MeasuredModel model;
    MeasuredHardware hardware;
    MeasuredPlan plan;
    std::string input;  // "synthetic", or how real data was read
    std::optional<Seconds> step_time;
    std::optional<Frequency> samples_per_second, tokens_per_second;  // of all devices, where a source says no step time
    std::optional<Bytes> memory;
    bool memory_is_allocated = false;  // what PyTorch's allocator handed out at most (StageMemory::allocated), not all that a process held
    std::optional<bool> fits;          // false: the run failed for lack of memory
};

struct CollectiveRow {
    RowHeader header;
    MeasuredHardware hardware;
    int ranks = 1;
    bool host_buffers = false;  // the ranks' buffers lie in host memory
    std::string collective;     // "all_reduce", "broadcast" ...
    std::string library;        // with its version; may be empty
    Bytes message;
    std::optional<Seconds> time;
    std::optional<Bandwidth> bus_bandwidth;  // as nccl-tests counts it, where a source says no time
};

// What a loading benchmark emulates: a device that takes a batch, and the computation of a batch.
struct EmulatedTraining {
    std::int64_t batch = 1;
    Seconds computation;
    int threads = 1;                          // that read for each accelerator
    std::string format;                       // "tfrecord", "npz"
    std::optional<double> least_utilization;  // of the accelerators, for a result to count
};

struct LoadingRow {
    RowHeader header;
    std::string system, submitter, workload, emulated_accelerator;
    int hosts = 1, accelerators = 1;
    bool most_accelerators = true;  // no other row of this system, with as many hosts, has more
    std::int64_t files = 0, samples_per_file = 1;
    Bytes sample;
    std::optional<EmulatedTraining> training;  // as the source defines the workload
    std::optional<Bandwidth> node_bandwidth;   // at most, of a host's storage, where its maker states it
    std::optional<Frequency> samples_per_second;
    std::optional<double> accelerator_utilization;
};

// A row that could not be understood, and why. The other rows of its file are used.
struct UnreadRow {
    RowHeader header;
    std::vector<Diagnostic> problems;
};

using MeasurementRow = std::variant<TrainingRow, CollectiveRow, LoadingRow, UnreadRow>;
const RowHeader& header_of(const MeasurementRow&);

struct MeasurementFile {
    std::string path;
    std::string title;  // of the source
    std::vector<MeasurementRow> rows;
};

// A file without rows leaves a Diagnostic.
MeasurementFile load_measurements(const std::filesystem::path&, Diagnostics&);
MeasurementFile read_measurements(std::string_view text, std::string name, Diagnostics&);

}  // namespace sextant
