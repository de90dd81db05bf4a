// What a framework does to a plan: what it overlaps, fuses, buckets and launches, by version.
// A closed struct, loaded from frameworks/*.json.
//
// Every parameter belongs to the software, has physical meaning and bounds, and carries its source. None belongs to one model or device;
// some were fitted to measured training runs (docs/model/training_fit.md). What each field drives: docs/model/frameworks.md.
#pragma once

#include "model/base/data_type.hpp"
#include "model/base/provenance.hpp"
#include "model/base/quantity.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace sextant {

// How far elementwise operators are joined into kernels.
enum class Fusion {
    none,       // each operator is a kernel: eager PyTorch, TensorFlow 1
    pointwise,  // bias+gelu, bias+dropout+add, batch norm+add+relu as hand-written or scripted kernels: Megatron, apex, MXNet of NVIDIA
    compiler,   // whole chains of pointwise and normalization: XLA, torch.compile, TensorRT
};

// Parts of a plan that not every framework can do.
enum class PlanFeature {
    several_nodes,
    tensor,
    sequence,
    context,
    experts,
    pipeline,
    gpipe,
    interleaved,
    zero_bubble,
    dual_pipe,
    zero1,
    zero2,
    zero3,
    shard_groups,      // over fewer ranks than all
    sharded_pipeline,  // ZeRO-2 or 3 beside a pipeline
    selective_recompute,
    offload,
    optimizer_offload,  // of the optimizer's states without parameters
    parameter_offload,
    unsharded_offload,  // of states that each of several ranks has
};

// Where offloaded gradients are until the host updates with them.
enum class OffloadedGradients {
    with_update,      // on the device, and go down then: Megatron-LM
    copied,           // go down behind their reduction, whose result stays on the device until backward has ended: FSDP
    added_on_device,  // move behind their reduction; the sum so far comes up to be added to: DeepSpeed
    added_on_host,    // move behind their reduction, and the host adds them up: FSDP2
};

// Where the weights that products in FP8 or narrower read come from, unless ZeRO-3 gathers them anew. They are kept in two layouts where
// forward and backward need different ones (NVIDIA/TransformerEngine).
enum class NarrowWeights {
    passing,     // made from the wide ones for each pass
    beside,      // made with the first micro-batch of a step, and kept
    in_primary,  // the only weights there are; as `beside` in NVFP4, which optimizers do not write
};

// What of GPT-OSS's gate is one kernel: each of its functions, all but the limits of its operands and the bias behind the second product,
// or the whole with them.
enum class ClampedGate { by_function, limits_apart, whole };

// Which FP32 products its libraries multiply in TF32 unless they are told not to, on devices that have it.
enum class CastToTf32 { none, convolutions, all };

// What starts a rank on every device. `tf_distribute`: a strategy inside the program, which runs once on each node. `own`: a launcher that
// is not exported.
enum class RankStarter { torchrun, horovodrun, tf_distribute, own };

// What torchrun starts: a program of the user's, or one whose plan Megatron-LM's flags or DeepSpeed's configuration say.
enum class TrainingProgram { yours, megatron, deepspeed };

struct Framework {
    std::string name;   // "megatron-lm-2021"
    std::string title;  // "Megatron-LM (2021, SC21 paper)"
    std::vector<std::string> aliases;
    std::string strategy_note;       // e.g. Lightning: which strategy it stands for; a report lists it among its assumptions
    std::vector<PlanFeature> lacks;  // a search looks at no plan that needs one of these

    [[nodiscard]] Fusion fusion_in(DataType compute) const { return compute == DataType::fp32 ? fusion_fp32.value_or(fusion) : fusion; }
    [[nodiscard]] bool can(PlanFeature f) const { return std::ranges::find(lacks, f) == lacks.end(); }

    // Host side
    Sourced<Seconds> dispatch;           // host time to issue one forward kernel, on a host of thread_speed 1
    Sourced<Seconds> backward_dispatch;  // the same in backward (an autograd engine without Python)
    // Host time of a block that runs again in backward, for each of its forwards: its checkpoint, states of random numbers.
    Sourced<Seconds> checkpoint_overhead{{}, SourceKind::estimated, "nothing beside its kernels"};
    Sourced<Seconds> step_overhead;         // per optimizer step: Python loop, logging, loss.item(), gradient scaler
    Sourced<Seconds> micro_batch_overhead;  // per micro-batch: loop, loader hand-over
    bool launch_blocking = false;           // the host waits for each kernel, as under a plan with launch_blocking
    bool dispatch_in_graph = false;         // kernels are replayed from captured graphs by default; `dispatch` is then the time per node
    Sourced<double> native_build;           // speed of its kernels against a build for this very hardware; portable wheels < 1

    // Kernels
    // The fraction of a device's streaming bandwidth that the framework's elementwise kernels reach: vectorized or not, one pass or
    // several.
    Sourced<double> streaming_efficiency{1.0, SourceKind::estimated, "as a streaming kernel"};
    // Bytes that those kernels keep under way from and to memory on each multiprocessor: bytes of a thread x threads. Zero: enough.
    Sourced<Bytes> bytes_in_flight{{}, SourceKind::estimated, "enough for any memory"};
    Fusion fusion = Fusion::none;
    std::optional<Fusion> fusion_fp32;  // where networks that multiply in FP32 or TF32 are compiled differently
    ClampedGate clamped_gate = ClampedGate::by_function;
    // PyTorch's own kernels, one for each function: a gate is an activation and a product, an RMS norm a chain in FP32, rotary positions
    // are products with two tables. False where the framework has a kernel for the whole.
    bool composes_functions = false;
    bool fuses_expert_gate = false;        // experts in MXFP8: their first product, gate and quantization are one kernel, and so backward
    bool fused_softmax = false;            // scale, mask and softmax of plain attention in one kernel
    bool fused_optimizer = false;          // multi-tensor apply; else some kernels per parameter tensor
    bool recomputes_what_is_read = false;  // a forward that runs again makes only what backward reads
    Sourced<double> optimizer_kernels_per_tensor;  // launches of an update over the number of parameter tensors
    bool fused_gradient_accumulation = false;      // wgrad GEMM adds into the gradient buffer
    // ... and hands autograd a tensor like the weight in the place of the gradient: one for each shape, which stays (Transformer Engine).
    bool keeps_gradient_placeholders = false;
    bool accumulates_from_first = false;  // the first micro-batch of a step adds too, to zeros
    bool makes_data_gradients = false;    // backward also makes the gradient of the network's input, which nothing needs
    bool fused_cross_entropy = false;     // no fp32 copy of the logits
    // Passes over the logits of a fused loss: one or more forward, and two backward, which reads and writes them.
    Sourced<double> fused_loss_passes{3, SourceKind::estimated, "read forward; read and written backward"};
    int head_chunks = 1;  // parts of the tokens that the head and its loss take in turn, unless the plan says
    // Gradients of activations, the logits' among them, are written beside these and counted; else fragmentation carries them.
    bool counts_gradients_of_activations = false;
    CastToTf32 casts_to_tf32 = CastToTf32::none;  // by default; a plan that says fp32 gets fp32
    bool tensor_units = true;                     // its products and convolutions use the tensor units of a device that has them
    bool vector_filter_gradients = false;         // filter gradients of 16-bit convolutions are made on vector units: cuDNN before 7.4
    bool channels_last = false;                   // NHWC convolutions on tensor cores
    bool finds_largest_again = false;             // backward of max pooling looks for the largest of each window, which nobody kept
    bool rearranges_filters = false;              // each convolution lays its filters out anew, and their gradients back
    std::int64_t products_of_pixels = 0;  // but in FP32 those of at most so many single pixels are products, which read them as they lie
    // Backward of a batch norm whose statistics are frozen: passes over its operands, and the kernels that make them. cuDNN has none.
    Sourced<double> frozen_batch_norm_passes{4, SourceKind::estimated, "two operands read for the sums, one again for what goes back"};
    int frozen_batch_norm_kernels = 1;
    // Kernels as sextant-exec-cuda has them (docs/model/compute.md): sums over rows are made in parts, an operator with several outputs is
    // one product for each, attention in FP32 stores its scores, one kernel updates a block.
    bool plain_kernels = false;
    // Operators without code of their own for 16 bits run on copies in FP32 of what they read, and what they make is rounded: all but
    // products and table look-ups, and products where no unit of the device multiplies 16 bits.
    bool widens_16_bits = false;
    bool casts_each_use = false;             // autocast: fp32 weights cast to the compute type in every forward
    Sourced<double> attention_efficiency;    // its fused attention kernels against the best of their generation
    bool attention_for_ampere = false;       // these kernels use the instructions of Ampere, on newer devices too
    Sourced<double> convolution_efficiency;  // autotuned algorithms (1) against heuristics

    // Data parallelism
    bool overlaps_gradients = true;  // gradient reduction runs beside backward
    // A bucket is reduced as soon as it holds this much; zero: each tensor alone.
    // Absent: a block at a time where parameters are sharded, else all gradients in one exchange.
    std::optional<Sourced<Bytes>> bucket;
    std::optional<Sourced<Bytes>> bucket_per_rank;    // the bucket is at least this for each data-parallel rank (Megatron core)
    std::optional<Sourced<Seconds>> reduction_cycle;  // a background thread starts reductions once per cycle (Horovod)
    bool reduces_every_micro_batch = false;
    bool gradients_in_fp32 = false;  // main gradients kept and reduced in fp32
    // Under ZeRO-1 and ZeRO-2, which shard optimizer states but not weights, each rank receives the sum of all gradients and then uses its
    // part of that sum.
    bool reduces_whole_gradients = false;
    // Under ZeRO-1 and ZeRO-2 a rank owns whole tensors, and one rank after another sends what it has updated to all.
    bool broadcasts_parameters = false;
    // Where gradients are in memory more than once: as backward wrote them, in the type of the weights, beside those in fp32; as copies in
    // the buckets that are reduced; flattened for the update, in their own type and in fp32, or without shards in fp32 alone and flattened.
    bool keeps_both_gradients = false, copies_gradients_to_buckets = false, flattens_gradients_to_update = false;
    // Gradients that are reduced more than once in a step, or a bucket at a time as backward makes them, have memory of their own beside
    // their sums, or their rank's shard of these.
    bool sums_gradients_apart = false;
    // Where gradients are exchanged once a step: how often the bytes of each are read or written beside the exchange, to be copied into a
    // bucket, divided by the number of ranks, and copied out again.
    Sourced<double> bucket_passes{0, SourceKind::estimated, "gradients are exchanged as backward wrote them, where it did"};
    bool overlaps_parameter_gather = true;  // ZeRO / FSDP gathers run ahead of use
    int prefetch_blocks = 1;                // FSDP: blocks gathered ahead
    bool reshards_after_forward = true;     // FSDP: gather again in backward
    bool shards_are_masters = false;        // sharded weights are the FP32 masters themselves, narrowed when they are gathered
    // Sharded weights and gradients of a block travel as lists of one piece for each rank, tensor by tensor: beside the wire, a call takes
    // this time for each of its ranks (DeepSpeed of 2021, before PyTorch gathered into one tensor).
    Sourced<Seconds> list_of_pieces{{}, SourceKind::estimated, "one tensor for all ranks"};
    OffloadedGradients offloaded_gradients = OffloadedGradients::with_update;
    bool sums_on_host = false;  // parameter servers: workers of one host add up their gradients before one sum leaves it, and fetch once
    Sourced<double> overlap_slowdown;  // how many times as long kernels take while communication uses the device
    bool clips_gradients = false;      // a norm over all gradients before the update
    bool waits_for_norm = false;       // the host reads a norm of all gradients before the update, and so is no longer ahead of the device

    // Model parallelism
    int vocabulary_multiple = 1;              // rows of the embedding on a rank are padded to a multiple of this
    bool overlaps_tensor = false;             // tensor-parallel exchanges pipelined with GEMMs
    Sourced<double> tensor_overlap_fraction;  // the fraction of an overlapped exchange that is hidden
    bool overlaps_experts = false;            // all-to-alls go on behind the kernels of another micro-batch
    Sourced<double> expert_overlap_fraction;  // the fraction of an overlapped exchange that is hidden, if kernels last long enough
    // A token travels once to each node and rank that has any of its experts, not once for each expert: DeepEP, HybridEP.
    bool deduplicates_tokens = false;
    bool overlaps_pipeline = false;  // sends do not block compute
    // The host waits until what stages send each other has arrived, and issues nothing ahead of it; not where sends do not block compute.
    bool waits_for_transfers = false;
    bool scatters_pipeline = false;  // transfers between stages are cut over the tensor group and gathered afterwards (SC21, section 4.1)

    // Communication
    RankStarter starter = RankStarter::torchrun;
    TrainingProgram program = TrainingProgram::yours;
    std::string library;         // default communication library: "nccl"
    std::string socket_library;  // used when the plan asks for plain sockets; empty: the same one over TCP

    // Memory
    Sourced<Bytes> context;                // driver context, library handles and workspaces
    Sourced<Bytes> communication_buffers;  // of a communicator, allocated once
    NarrowWeights narrow_weights = NarrowWeights::passing;
    Sourced<double> fragmentation;  // reserved over allocated, minus one
    std::string notes;
    std::string source;
};

}  // namespace sextant
