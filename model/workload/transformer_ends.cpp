// The first and the last block of a transformer: embeddings, output projection, loss.
#include "model/base/ceil_divide.hpp"
#include "model/workload/transformer_writer.hpp"

namespace sextant {
namespace {

constexpr std::int64_t relative_buckets = 32;  // T5 (arXiv 1910.10683), section 2.1
constexpr double sinusoid_base = 10000;        // arXiv 1706.03762, section 3.5

double product(std::int64_t a, std::int64_t b) { return static_cast<double>(a) * static_cast<double>(b); }

std::int64_t embedding_width(const TransformerSpec& spec) { return spec.embedding_width > 0 ? spec.embedding_width : spec.hidden; }

std::int64_t local_vocab(const TransformerWriter& w) {
    const std::int64_t multiple = w.shard.vocabulary_multiple;
    return ceil_divide(w.spec.vocab, w.shard.tensor * multiple) * multiple;
}

// What a block has of a matrix of the vocabulary.
struct VocabularyMatrix {
    std::optional<SharedMatrix> which{};  // none: no other block has it
    bool tied = false;                    // it belongs to a block before
};

template <class Write>
TensorId write_with(TransformerWriter& w, const VocabularyMatrix& matrix, const Write& write) {
    w.shared = matrix.which;
    w.tied = matrix.tied;
    const TensorId x = write();
    w.shared = {};
    w.tied = false;
    return x;
}

// Rows of the table are cut over the tensor group: each rank looks up what it has, and the sum over ranks is the embedding.
TensorId embed_tokens(TransformerWriter& w, std::string ids_name, bool tied, std::int64_t ahead = 0) {
    const std::int64_t tokens = w.cut.tokens(), rows = local_vocab(w), width = embedding_width(w.spec);
    const TensorId ids = w.graph.input(std::move(ids_name), {w.cut.batch, w.cut.sequence}, TensorRole::index);
    const TensorId x = write_with(w, {SharedMatrix::embedding, tied}, [&] {
        return w.write("embedding", Embedding{.tokens = tokens, .rows = rows, .width = width, .ahead = ahead}, {ids}, {tokens, width},
                       product(rows, width));
    });
    return w.leave_tensor_parallel("embedding.leave", x);
}

// A bias for each head and distance bucket, added to the scores of every layer of the stack.
void relative_bias(TransformerWriter& w) {
    if (w.spec.position != PositionKind::relative) return;
    const std::int64_t heads = w.spec.heads / w.shard.tensor, queries = w.cut.sequence, keys = w.cut.full_sequence;
    w.write("relative_bias", Embedding{.tokens = queries * keys, .rows = relative_buckets, .width = heads}, {}, {heads, queries, keys},
            product(relative_buckets, heads));
}

// Adds the row of its position to each token of the writer's sequence, where positions are a table.
TensorId add_positions(TransformerWriter& w, TensorId x) {
    if (!has_table(w.spec.position)) return x;
    const bool sinusoids = w.spec.position == PositionKind::sinusoidal;
    const std::int64_t rows = w.spec.max_positions > 0 ? w.spec.max_positions : w.cut.full_sequence;
    w.frozen = sinusoids;
    x = w.pointwise("positions", Pointwise{.kind = PointwiseKind::add, .constant = sinusoids ? sinusoid_base : 0}, {x},
                    product(rows, w.width_of(x)));
    w.frozen = false;
    return x;
}

// The norm at the end of a stack, unless each sum has one.
TensorId end_norm(TransformerWriter& w, std::string name, TensorId x) {
    return norm_placement_of(w.spec) == NormPlacement::sum ? x : w.norm(std::move(name), x);
}

TensorId cross_entropy(TransformerWriter& w, TensorId logits, const CrossEntropy& loss, const std::string& name) {
    const TensorId labels = w.graph.input(name + ".labels", {loss.rows}, TensorRole::index);
    return w.write(name, loss, {logits, labels}, {loss.rows}, 0, TensorRole::statistic);
}

TensorId capped(TransformerWriter& w, TensorId logits) {
    const double cap = w.spec.logit_softcap;
    if (cap == 0) return logits;
    logits = w.pointwise("head.narrow", Pointwise{.kind = PointwiseKind::scale, .constant = 1 / cap}, {logits});
    logits = w.pointwise("head.softcap", PointwiseKind::tanh, {logits});
    return w.pointwise("head.widen", Pointwise{.kind = PointwiseKind::scale, .constant = cap}, {logits});
}

// Logits of the local part of the vocabulary, and the loss over all parts: maximum, target and sum of exponentials of each row are
// exchanged, not the logits (Megatron-LM, arXiv 1909.08053, section 3). `cut`: x is cut by sequence; `loss`: but for its extents.
TensorId vocabulary_head(TransformerWriter& w, TensorId x, bool cut, const VocabularyMatrix& matrix, CrossEntropy loss = {}) {
    x = w.enter("head.enter", x, ParallelGroup::tensor, w.shard.tensor, cut);
    const std::int64_t rows = loss.rows = w.rows_of(x), classes = loss.classes = local_vocab(w);
    x = write_with(w, matrix, [&] { return w.linear("head", x, classes, false, TensorRole::logits); });
    if (w.spec.kind == TransformerKind::encoder) x = w.pointwise("head.bias", PointwiseKind::bias, {x}, static_cast<double>(classes));
    x = capped(w, x);
    if (!w.shard.training) return x;
    x = cross_entropy(w, x, loss, "loss");
    if (w.shard.tensor == 1) return x;
    const Exchange exchange{.forward = ExchangeKind::all_reduce,
                            .backward = ExchangeKind::none,
                            .group = ParallelGroup::tensor,
                            .elements = 3 * static_cast<double>(rows)};
    return w.write("loss.reduce", exchange, {x}, {rows}, 0, TensorRole::statistic);
}

// The output matrix of a block's head; `first`: of all heads of the network.
VocabularyMatrix output_matrix(const TransformerSpec& spec, bool first) {
    if (spec.tied_embeddings) return {SharedMatrix::embedding, true};
    if (spec.mtp_layers == 0) return {};
    return {SharedMatrix::output, !first};
}

TensorId classifier_head(TransformerWriter& w, TensorId x, std::int64_t rows, std::int64_t classes, const std::string& name) {
    x = w.linear(name, x, classes, true);
    if (!w.shard.training) return x;
    return cross_entropy(w, x, {.rows = rows, .classes = classes}, name + ".loss");
}

// All tokens on every rank, for heads that no cut of ours reaches; each rank then computes the same.
TensorId whole_sequence(TransformerWriter& w, TensorId x) {
    if (w.shard.tensor == 1 || !w.shard.sequence_parallel) return x;
    const std::int64_t tokens = w.cut.tokens(), width = w.width_of(x);
    const Exchange exchange{.forward = ExchangeKind::all_gather,
                            .backward = ExchangeKind::none,
                            .group = ParallelGroup::tensor,
                            .elements = product(tokens, width)};
    return w.write("head.gather", exchange, {x}, {tokens, width});
}

TensorId select_rows(TransformerWriter& w, std::string name, TensorId x, std::int64_t rows) {
    const std::int64_t width = w.width_of(x);
    return w.write(std::move(name), Pointwise{PointwiseKind::copy, product(rows, width)}, {x}, {rows, width});
}

// First token of each sample; BERT puts a dense layer and a tanh behind it.
TensorId pooled(TransformerWriter& w, TensorId x) {
    x = select_rows(w, "pooler.select", x, w.cut.batch);
    if (!w.spec.pooler) return x;
    x = w.linear("pooler", x, w.spec.hidden, true);
    return w.pointwise("pooler.tanh", PointwiseKind::tanh, {x});
}

void encoder_head(TransformerWriter& w, TensorId x) {
    x = whole_sequence(w, x);
    const TensorId tokens = x;
    if (w.spec.head == HeadKind::token_classifier) {
        if (w.spec.pooler) x = w.pointwise("head.gelu", PointwiseKind::gelu, {w.linear("head.transform", x, w.spec.hidden, true)});
        return w.graph.output(classifier_head(w, x, w.cut.tokens(), w.spec.classes, "classifier"));
    }
    if (w.spec.head == HeadKind::question_answering) {
        TensorId spans = w.linear("answer", tokens, 2, true);
        if (w.shard.training) spans = cross_entropy(w, spans, {.rows = 2 * w.cut.batch, .classes = w.cut.sequence}, "answer.loss");
        return w.graph.output(spans);
    }
    if (w.spec.head == HeadKind::classifier)
        return w.graph.output(classifier_head(w, pooled(w, x), w.cut.batch, w.spec.classes, "classifier"));
    if (w.spec.predicted_tokens > 0)
        x = select_rows(w, "head.select", x, w.cut.batch * ceil_divide(w.spec.predicted_tokens, w.shard.context));
    x = w.linear("head.transform", x, embedding_width(w.spec), w.spec.bias);
    x = w.pointwise("head.gelu", PointwiseKind::gelu, {x});
    x = w.norm("head.norm", x);
    w.graph.output(vocabulary_head(w, x, false, output_matrix(w.spec, false)));
    if (w.spec.pooler) w.graph.output(classifier_head(w, pooled(w, tokens), w.cut.batch, 2, "next_sentence"));
}

}  // namespace

OperatorGraph input_block(const TransformerSpec& spec, const Shard& shard, const TokenCut& cut) {
    TransformerWriter w{spec, shard, cut};
    TensorId x = embed_tokens(w, "tokens", false);
    x = add_positions(w, x);
    if (spec.type_vocab > 0) x = w.pointwise("segments", PointwiseKind::add, {x}, product(spec.type_vocab, w.width_of(x)));
    if (has_embedding_norm(spec)) x = w.norm("embedding.norm", x);
    relative_bias(w);
    x = w.dropout("embedding.drop", x);
    if (spec.embedding_width > 0) x = w.linear("embedding.project", x, spec.hidden, true);
    w.graph.output(x);
    return std::move(w.graph).build();
}

OperatorGraph vision_input_block(const TransformerSpec& spec, const Shard& shard, const TokenCut& cut) {
    TransformerWriter w{spec, shard, cut};
    const std::int64_t pixels = spec.channels * spec.patch_px * spec.patch_px, tokens = cut.tokens();
    // A convolution whose stride is its kernel is a GEMM over patches.
    TensorId x = w.graph.input("patches", {tokens - cut.batch, pixels});
    x = w.linear("patch_embedding", x, spec.hidden, true);
    x = w.write("class_token", Pointwise{PointwiseKind::copy, product(tokens, spec.hidden)}, {x}, {tokens, spec.hidden},
                static_cast<double>(spec.hidden));
    x = add_positions(w, x);
    if (cut.rows < tokens) {
        const Exchange scatter{.forward = ExchangeKind::none,
                               .backward = ExchangeKind::all_gather,
                               .group = ParallelGroup::tensor,
                               .elements = product(tokens, spec.hidden)};
        x = w.write("embedding.cut", scatter, {x}, {cut.rows, spec.hidden});
    }
    w.graph.output(w.dropout("embedding.drop", x));
    return std::move(w.graph).build();
}

OperatorGraph decoder_input_block(const TransformerSpec& spec, const Shard& shard, const TokenCut& encoder, const TokenCut& decoder) {
    TransformerWriter w{spec, shard, encoder};
    TensorId memory = end_norm(w, "encoder.norm", w.hidden_input("encoder.hidden"));
    memory = w.dropout("encoder.drop", memory);
    w.cut = decoder;
    TensorId x = add_positions(w, embed_tokens(w, "decoder.tokens", true));
    if (has_embedding_norm(spec)) x = w.norm("embedding.norm", x);
    relative_bias(w);
    w.graph.output(w.dropout("embedding.drop", x));
    w.graph.output(memory);
    return std::move(w.graph).build();
}

OperatorGraph head_block(const TransformerSpec& spec, const Shard& shard, const TokenCut& cut) {
    TransformerWriter w{spec, shard, cut};
    const TensorId x = end_norm(w, "final.norm", w.hidden_input("hidden"));
    if (spec.kind == TransformerKind::encoder)
        encoder_head(w, x);
    else if (spec.head == HeadKind::language_model)
        w.graph.output(vocabulary_head(w, x, shard.sequence_parallel, output_matrix(spec, false)));
    else
        w.graph.output(classifier_head(w, pooled(w, whole_sequence(w, x)), cut.batch, spec.classes, "classifier"));
    return std::move(w.graph).build();
}

OperatorGraph prediction_block(const TransformerSpec& spec, const Shard& shard, const TokenCut& cut, const LayerKind& kind,
                               std::int64_t module) {
    TransformerWriter w{spec, shard, cut};
    const bool first = module == 1;
    const TensorId hidden = w.hidden_input("hidden");
    const TensorId before = first ? hidden : w.hidden_input("mtp.hidden");
    const TensorId next = embed_tokens(w, "next.tokens", true, module);
    const TensorId a = w.norm("mtp.hidden_norm", before);
    const TensorId b = w.norm("mtp.next_norm", next);
    TensorId x =
        w.write("mtp.concatenate", Pointwise{PointwiseKind::copy, 2 * product(cut.rows, spec.hidden)}, {a, b}, {cut.rows, 2 * spec.hidden});
    x = w.linear("mtp.project", x, spec.hidden, false);
    x = write_layer(w, x, kind);
    w.graph.output(hidden);
    if (module < spec.mtp_layers) w.graph.output(x);
    const double weight = spec.mtp_loss_weight / static_cast<double>(spec.mtp_layers);
    vocabulary_head(w, w.norm("mtp.norm", x), shard.sequence_parallel, output_matrix(spec, first), {.ahead = module, .weight = weight});
    return std::move(w.graph).build();
}

}  // namespace sextant
