// Attention by cuDNN, as one operation that never writes the scores (FlashAttention, arXiv 2205.14135): in 16 bits, unmasked, causal, or
// causal with a sliding window. Internal to backend/cuda.
#pragma once

#include "backend/cuda/cudnn_library.hpp"
#include "backend/cuda/graph_stream.hpp"
#include "backend/cuda/operation_graph.hpp"
#include "backend/exec/device.hpp"
#include "backend/kernels/attention_parts.hpp"
#include "model/workload/network.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>

namespace sextant::cuda {

using kernels::AttentionPart;

enum class AttentionPass { forward, backward };

// How attention is run: this many samples at a time; or of one sample this many key-value heads, with the query heads that share them.
struct FusedAttentionConfig {
    std::int64_t samples = 0, kv_heads = 0;
    OperationGraph graph;
    Engine engine;
};

// For a GPU with these properties: as much at a time as needs no more than most_workspace_bytes. None where cuDNN cannot run it; then our
// own kernels do.
std::optional<FusedAttentionConfig> choose_fused_attention(AttentionPass, const AttentionPart&, Element, const Descriptor& properties);

// The largest workspace that the attention of a network needs, without running any. `backward`: for both passes.
Bytes fused_workspace(const Network&, Element, bool backward, const Descriptor& properties);

class FusedAttention {
public:
    FusedAttention(Launches&, CudnnLibrary, Scratch);

    // Returns false where it does not run fused, and does nothing then. The statistics are those of backend/kernels/attention.hpp, so that
    // one pass may run fused and the other not.
    bool forward(const AttentionPart&, const OperatorCall&);
    bool backward(const AttentionPart&, const OperatorCall&, const Array& d_keys, const Array& d_values);
    // The passes that have been run, of any shape: "forward and backward".
    [[nodiscard]] std::string passes() const;

private:
    struct CompiledPass {
        std::int64_t samples, kv_heads;
        ExecutionPlan plan;
    };
    using Key = std::array<std::int64_t, 13>;  // the pass, the type, and all of the shape
    // None where the pass does not run fused.
    const std::optional<CompiledPass>& compiled_pass(AttentionPass, const AttentionPart&, Element);
    std::optional<CompiledPass> compile(AttentionPass, const AttentionPart&, Element) const;
    template <std::size_t Count>
    void call(const ExecutionPlan&, const std::array<const void*, Count>& data, const Array& workspace);

    Launches& launches_;
    CudnnLibrary library_;
    Scratch scratch_;
    std::map<Key, std::optional<CompiledPass>> compiled_;
};

}  // namespace sextant::cuda
