// Attention by cuDNN, as one operation that never writes the scores (FlashAttention, arXiv 2205.14135): in 16 bits, of every query to every
// key, or to those up to its own, or to the last few of these. Internal to backend/cuda.
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

// How attention is run: some of its samples at a time, or some key-value heads of one, with the queries that share them.
struct FusedWay {
    std::int64_t samples = 0, kv_heads = 0;
    OperationGraph graph;
    Engine engine;
};

// On a GPU of such properties. None where there is no such way: it is run otherwise then.
std::optional<FusedWay> fused_way(AttentionPass, const AttentionPart&, Element, const Descriptor& properties);

// The most room that it takes, beside arrays, in a network: known before any of it is run. `backward`: both passes.
Bytes fused_workspace(const Network&, Element, bool backward, const Descriptor& properties);

class FusedAttention {
public:
    FusedAttention(Launches&, CudnnLibrary, Scratch);

    // False: it does not run fused, and nothing was done. Statistics are those of backend/kernels/attention.hpp, so that one pass may run
    // so and the other otherwise.
    bool forward(const AttentionPart&, const OperatorCall&);
    bool backward(const AttentionPart&, const OperatorCall&, const Array& d_keys, const Array& d_values);
    // Those that have been run, of any shape: "forward and backward".
    [[nodiscard]] std::string passes() const;

private:
    struct Way {
        std::int64_t samples, kv_heads;
        ExecutionPlan plan;
    };
    using Key = std::array<std::int64_t, 13>;
    const std::optional<Way>& way_of(AttentionPass, const AttentionPart&, Element);
    std::optional<Way> make_way(AttentionPass, const AttentionPart&, Element) const;
    template <std::size_t Count>
    void call(const ExecutionPlan&, const std::array<const void*, Count>& data, const Array& workspace);

    Launches& launches_;
    CudnnLibrary library_;
    Scratch scratch_;
    std::map<Key, std::optional<Way>> ways_;
};

}  // namespace sextant::cuda
