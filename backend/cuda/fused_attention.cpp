#include "backend/cuda/fused_attention.hpp"

#include "model/base/diagnostics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace sextant::cuda {
namespace {

using Tensor = OperationGraph::Tensor;

constexpr std::size_t least_version = 91600;  // before that, backward is wrong unless the keys are a multiple of 128

// The tensors of a piece of attention: its extents are those of the piece, its strides those of the whole.
class PieceGraph {
public:
    PieceGraph(const AttentionPart& part, Element element, std::int64_t samples, std::int64_t kv_heads)
        : part_(part),
          a_(part.whole),
          type_(cudnn_type(element)),
          samples_(samples),
          kv_heads_(kv_heads),
          heads_(kv_heads * (a_.heads / a_.kv_heads)),
          scale_(g_.number(1 / std::sqrt(static_cast<float>(a_.head_dim)))) {}

    OperationGraph forward() && {
        const Tensor q = g_.stored(queries(a_.head_dim), type_), k = g_.stored(keys(a_.head_dim).transpose(), type_);
        const Tensor v = g_.stored(keys(a_.value_dim), type_), out = g_.stored(queries(a_.value_dim), type_);
        const Tensor log_sum = statistics();
        const Tensor s = masked(scores(q, k)), largest = g_.passing(a_row()), sum = g_.passing(a_row());
        g_.reduce(CUDNN_REDUCE_TENSOR_MAX, s, largest);
        const Tensor e = of(CUDNN_POINTWISE_EXP, of(CUDNN_POINTWISE_SUB, s, &largest));
        g_.reduce(CUDNN_REDUCE_TENSOR_ADD, e, sum);
        const Tensor log = of(CUDNN_POINTWISE_LOG, sum), p = g_.passing(by_keys(), type_);
        g_.apply(CUDNN_POINTWISE_ADD, log_sum, largest, &log);
        g_.apply(CUDNN_POINTWISE_DIV, p, e, &sum);
        g_.multiply(p, v, out);
        return std::move(g_);
    }

    // The library knows two graphs. Of this one the gradients of the scores are written and read again, and sums made in the same order
    // every time. Of the other d_q is summed in fp32 as its parts come: that moves less, needs less room and should be faster.
    OperationGraph backward() && {
        const Tensor q = g_.stored(queries(a_.head_dim), type_), k = g_.stored(keys(a_.head_dim).transpose(), type_);
        const Tensor v = g_.stored(keys(a_.value_dim).transpose(), type_), out = g_.stored(queries(a_.value_dim), type_);
        const Tensor log_sum = statistics(), d_out = g_.stored(queries(a_.value_dim), type_);
        const Tensor dots = g_.stored(a_row(), CUDNN_DATA_FLOAT), d_q = g_.stored(queries(a_.head_dim), type_);
        const Tensor d_k = g_.stored(keys(a_.head_dim), type_), d_v = g_.stored(keys(a_.value_dim), type_);

        const Tensor products = g_.passing(Layout::packed({samples_, heads_, part_.queries, a_.value_dim})), dot = g_.passing(a_row());
        const Tensor undropped = g_.number(1.0F);  // a factor of dropout, without which the library does not know the graph
        g_.apply(CUDNN_POINTWISE_MUL, products, d_out, &out);
        g_.reduce(CUDNN_REDUCE_TENSOR_ADD, products, dot);
        g_.apply(CUDNN_POINTWISE_MUL, dots, dot, &undropped);

        const Tensor p = of(CUDNN_POINTWISE_EXP, masked(of(CUDNN_POINTWISE_SUB, scores(q, k), &log_sum)));
        multiply_shared(transpose(p), d_out, d_v);
        const Tensor d_p = g_.passing(by_keys());
        g_.multiply(d_out, v, d_p);
        const Tensor d_s = of(CUDNN_POINTWISE_MUL, of(CUDNN_POINTWISE_MUL, of(CUDNN_POINTWISE_SUB, d_p, &dots), &p), &scale_);
        multiply_shared(transpose(d_s), q, d_k);
        const Tensor k_again = g_.passing(keys(a_.head_dim), type_);
        g_.reshape(k, k_again);
        g_.multiply(d_s, k_again, d_q);
        return std::move(g_);
    }

private:
    // Some of the tokens [samples x whole, heads x width], of which there may be more heads than these.
    [[nodiscard]] Layout of_tokens(std::int64_t tokens, std::int64_t whole, std::int64_t heads, std::int64_t all_heads,
                                   std::int64_t width) const {
        return {{samples_, heads, tokens, width}, {whole * all_heads * width, width, all_heads * width, 1}};
    }
    [[nodiscard]] Layout queries(std::int64_t width) const { return of_tokens(part_.queries, a_.query_len, heads_, a_.heads, width); }
    [[nodiscard]] Layout keys(std::int64_t width) const { return of_tokens(part_.keys, a_.key_len, kv_heads_, a_.kv_heads, width); }
    [[nodiscard]] Layout by_keys() const { return Layout::packed({samples_, heads_, part_.queries, part_.keys}); }
    [[nodiscard]] Layout a_row() const { return Layout::packed({samples_, heads_, part_.queries, 1}); }

    // They begin wherever the queries of a part do.
    Tensor statistics() {
        return g_.stored({a_row().extents, {a_.heads * a_.query_len, a_.query_len, 1, 1}}, CUDNN_DATA_FLOAT, sizeof(float));
    }
    Tensor of(cudnnPointwiseMode_t kind, const Tensor& x, const Tensor* b = nullptr, const Tensor* t = nullptr) {
        Tensor made = g_.passing(x.layout);
        g_.apply(kind, made, x, b, t);
        return made;
    }
    Tensor scores(const Tensor& q, const Tensor& k) {
        const Tensor s = g_.passing(by_keys());
        g_.multiply(q, k, s);
        return of(CUDNN_POINTWISE_MUL, s, &scale_);
    }
    Tensor masked(const Tensor& s) {
        if (!a_.causal) return s;
        const std::int64_t ahead = part_.keys - part_.queries;  // keys before the one that stands beside the first query
        Tensor causal = kept_where(s, CUDNN_POINTWISE_CMP_GE, moved(indices(s, 2), part_.keys, part_.queries), indices(s, 3));
        if (a_.window == 0) return causal;
        const Tensor window = g_.number(static_cast<float>(a_.window - ahead)), reach = g_.passing(s.layout), key = indices(s, 3);
        g_.apply(CUDNN_POINTWISE_ADD, reach, key, &window);
        return kept_where(causal, CUDNN_POINTWISE_CMP_GT, reach, indices(s, 2));
    }
    // Scores where the comparison holds; elsewhere none.
    Tensor kept_where(const Tensor& s, cudnnPointwiseMode_t comparison, const Tensor& a, const Tensor& b) {
        const Tensor holds = g_.passing(s.layout, CUDNN_DATA_BOOLEAN), none = g_.number(-std::numeric_limits<float>::infinity());
        g_.apply(comparison, holds, a, &b);
        return of(CUDNN_POINTWISE_BINARY_SELECT, s, &none, &holds);
    }
    // Where the library is to see that it moves: in these two steps.
    Tensor moved(const Tensor& index, std::int64_t by, std::int64_t back) {
        if (by == back) return index;
        const Tensor on = g_.passing(index.layout, CUDNN_DATA_INT32);
        Tensor moved = g_.passing(index.layout, CUDNN_DATA_INT32);
        const Tensor further = g_.number(static_cast<std::int32_t>(by)), less = g_.number(static_cast<std::int32_t>(back));
        g_.apply(CUDNN_POINTWISE_ADD, on, index, &further);
        g_.apply(CUDNN_POINTWISE_SUB, moved, on, &less);
        return moved;
    }
    // Where along an axis each element stands.
    Tensor indices(const Tensor& like, std::int64_t axis) {
        Tensor made = g_.passing(like.layout, CUDNN_DATA_INT32);
        g_.apply(CUDNN_POINTWISE_GEN_INDEX, made, like, nullptr, nullptr, axis);
        return made;
    }
    Tensor transpose(const Tensor& x) {
        Tensor t = g_.passing(x.layout.transpose(), type_);
        g_.reshape(x, t);
        return t;
    }
    // Into keys or values, over the queries that share them.
    void multiply_shared(const Tensor& by_key, const Tensor& of_queries, const Tensor& result) {
        if (heads_ == kv_heads_) return g_.multiply(by_key, of_queries, result);
        const Tensor alone = g_.passing(Layout::packed({samples_, heads_, part_.keys, result.layout.extents[3]}), type_);
        g_.multiply(by_key, of_queries, alone);
        g_.reduce(CUDNN_REDUCE_TENSOR_ADD, alone, result);
    }

    const AttentionPart& part_;
    const Attention& a_;
    cudnnDataType_t type_;
    std::int64_t samples_, kv_heads_, heads_;
    OperationGraph g_;
    Tensor scale_;
};

// Whether PieceGraph says all of it. NVIDIA does not let a single query meet a single key; the library knows what else it asks for.
bool is_described(const AttentionPart& p, Element element) {
    return is_half(element) && p.keys > 1 && (p.whole.causal ? p.queries <= p.keys : p.whole.window == 0);
}

// Where the arrays of a piece begin.
struct Piece {
    const AttentionPart& part;
    std::int64_t sample, kv_head;

    [[nodiscard]] const void* queries(const Array& x, std::int64_t width) const {
        return at(x, ((sample * a().query_len + part.first_query) * a().heads + head()) * width);
    }
    [[nodiscard]] const void* keys(const Array& x, std::int64_t width) const {
        return at(x, (sample * a().key_len * a().kv_heads + kv_head) * width);
    }
    [[nodiscard]] const void* statistics(const Array& x) const {
        return at(x, (sample * a().heads + head()) * a().query_len + part.first_query);
    }

private:
    [[nodiscard]] const Attention& a() const { return part.whole; }
    [[nodiscard]] std::int64_t head() const { return kv_head * (a().heads / a().kv_heads); }
    static const void* at(const Array& x, std::int64_t element) { return x.as<std::byte>() + element * bytes_of(x.element); }
};

template <class Work>
void for_each_piece(const AttentionPart& p, std::int64_t samples, std::int64_t kv_heads, const Work& work) {
    for (std::int64_t s = 0; s < p.whole.batch; s += samples)
        for (std::int64_t h = 0; h < p.whole.kv_heads; h += kv_heads) work(Piece{p, s, h});
}

// The next smaller part that divides a whole.
std::int64_t next_part(std::int64_t part, std::int64_t whole) {
    do --part;
    while (whole % part != 0);
    return part;
}

}  // namespace

std::optional<FusedAttentionConfig> choose_fused_attention(AttentionPass pass, const AttentionPart& part, Element element,
                                                           const Descriptor& properties) {
    if (cudnnGetVersion() < least_version || !is_described(part, element)) return {};
    const Attention& a = part.whole;
    for (std::int64_t samples = a.batch, kv_heads = a.kv_heads;;) {
        PieceGraph piece(part, element, samples, kv_heads);
        OperationGraph graph = pass == AttentionPass::forward ? std::move(piece).forward() : std::move(piece).backward();
        const std::vector<Engine> engines = graph.engines(properties);
        const auto fits = std::ranges::find_if(engines, [](const Engine& e) { return e.workspace_bytes <= most_workspace_bytes; });
        if (fits != engines.end()) return FusedAttentionConfig{samples, kv_heads, std::move(graph), *fits};
        if (engines.empty() || (samples == 1 && kv_heads == 1)) return {};
        if (samples > 1)
            samples = next_part(samples, a.batch);
        else
            kv_heads = next_part(kv_heads, a.kv_heads);
    }
}

Bytes fused_workspace(const Network& network, Element element, bool backward, const Descriptor& properties) {
    std::size_t most = 0;
    const auto count = [&](AttentionPass pass, const AttentionPart& part) {
        try {
            if (const auto config = choose_fused_attention(pass, part, element, properties))
                most = std::max(most, config->engine.workspace_bytes);
        } catch (const BackendError&) {  // it is run otherwise
        }
    };
    for (const auto& block : network.templates)
        for (const Operator& op : block.graph.operators())
            if (const auto* a = std::get_if<Attention>(&op.kind); a != nullptr && !a->alibi) {
                // Of context ranks the first has the most to do at once: the queries that see all keys.
                const ContextCut first{0, a->balanced ? static_cast<int>(a->key_len / a->query_len) : 1, a->balanced};
                const AttentionPart part = kernels::parts_of(*a, first).front();
                count(AttentionPass::forward, part);
                if (backward) count(AttentionPass::backward, part);
            }
    return static_cast<double>(most) * units::B;
}

FusedAttention::FusedAttention(Launches& launches, CudnnLibrary library, Scratch scratch)
    : launches_(launches), library_(std::move(library)), scratch_(std::move(scratch)) {}

std::optional<FusedAttention::CompiledPass> FusedAttention::compile(AttentionPass pass, const AttentionPart& part, Element element) const {
    try {
        const std::optional<FusedAttentionConfig> config = choose_fused_attention(pass, part, element, properties_of(library_.get()));
        if (config) return CompiledPass{config->samples, config->kv_heads, ExecutionPlan(config->graph, config->engine)};
    } catch (const BackendError&) {  // the other way of running it needs nothing that may have been refused here
    }
    return {};
}

const std::optional<FusedAttention::CompiledPass>& FusedAttention::compiled_pass(AttentionPass pass, const AttentionPart& part,
                                                                                 Element element) {
    const Attention& a = part.whole;
    const Key key{static_cast<std::int64_t>(pass),
                  static_cast<std::int64_t>(element),
                  a.batch,
                  a.heads,
                  a.kv_heads,
                  a.query_len,
                  a.key_len,
                  part.queries,
                  part.keys,
                  a.head_dim,
                  a.value_dim,
                  a.causal ? 1 : 0,
                  a.window};
    auto found = compiled_.find(key);
    if (found == compiled_.end()) found = compiled_.emplace(key, launches_.flushed([&] { return compile(pass, part, element); })).first;
    return found->second;
}

std::string FusedAttention::passes() const {
    std::string text;
    for (const auto& [pass, name] : {std::pair{AttentionPass::forward, "forward"}, std::pair{AttentionPass::backward, "backward"}}) {
        const auto first = static_cast<std::int64_t>(pass);
        const bool has_run = std::ranges::any_of(compiled_, [&](const auto& known) { return known.first[0] == first && known.second; });
        if (has_run) text += (text.empty() ? "" : " and ") + std::string(name);
    }
    return text;
}

template <std::size_t Count>
void FusedAttention::call(const ExecutionPlan& plan, const std::array<const void*, Count>& data, const Array& workspace) {
    const auto run = [this, &plan, data, room = workspace.reals()] {
        plan.run(library_.get(), std::vector<const void*>(data.begin(), data.end()), room);
    };
    launches_.call("cudnnBackendExecute", run, &plan, data, workspace.reals());
}

bool FusedAttention::forward(const AttentionPart& part, const OperatorCall& c) {
    const Attention& a = part.whole;
    const std::optional<CompiledPass>& compiled = compiled_pass(AttentionPass::forward, part, c.inputs[0].element);
    if (!compiled) return false;
    const Array room = room_for(compiled->plan.workspace_bytes(), scratch_);
    for_each_piece(part, compiled->samples, compiled->kv_heads, [&](const Piece& p) {
        call(compiled->plan,
             std::array{p.queries(c.inputs[0], a.head_dim), p.keys(c.inputs[1], a.head_dim), p.keys(c.inputs[2], a.value_dim),
                        p.queries(c.outputs[0], a.value_dim), p.statistics(c.outputs[1])},
             room);
    });
    return true;
}

bool FusedAttention::backward(const AttentionPart& part, const OperatorCall& c, const Array& d_keys, const Array& d_values) {
    const Attention& a = part.whole;
    const std::optional<CompiledPass>& compiled = compiled_pass(AttentionPass::backward, part, c.inputs[0].element);
    if (!compiled) return false;
    const Array room = room_for(compiled->plan.workspace_bytes(), scratch_);
    const Array dots = scratch_(compiled->samples * compiled->kv_heads * (a.heads / a.kv_heads) * part.queries);
    for_each_piece(part, compiled->samples, compiled->kv_heads, [&](const Piece& p) {
        call(compiled->plan,
             std::array<const void*, 10>{
                 p.queries(c.inputs[0], a.head_dim), p.keys(c.inputs[1], a.head_dim), p.keys(c.inputs[2], a.value_dim),
                 p.queries(c.outputs[0], a.value_dim), p.statistics(c.outputs[1]), p.queries(c.output_gradients[0], a.value_dim),
                 dots.reals(), p.queries(c.input_gradients[0], a.head_dim), p.keys(d_keys, a.head_dim), p.keys(d_values, a.value_dim)},
             room);
    });
    return true;
}

}  // namespace sextant::cuda
