// Encoders, T5, and vision transformers.
#include "model/io/workload/hf_parts.hpp"

#include <algorithm>

namespace sextant {
namespace {

// What the model is trained for stands in the name of its class.
HeadKind head_of(ObjectReader& r, bool& pooler) {
    std::string name;
    if (const std::vector<JsonNode> names = r.get("architectures").elements(); !names.empty()) read_value(names.front(), name);
    if (name.ends_with("ForQuestionAnswering")) {
        pooler = false;
        return HeadKind::question_answering;
    }
    if (name.ends_with("ForSequenceClassification")) return HeadKind::classifier;
    if (name.ends_with("ForMaskedLM")) pooler = false;
    return HeadKind::masked_lm_nsp;
}

// Labels are counted in the map from their numbers to their names.
std::int64_t label_count(ObjectReader& r, std::int64_t otherwise) {
    if (const JsonNode names = r.get("id2label"); names.is_object()) return static_cast<std::int64_t>(names.members().size());
    r.optional("num_labels", otherwise, width_bound);
    return otherwise;
}

void encode(ObjectReader& r, TransformerSpec& spec) {
    spec.kind = TransformerKind::encoder;
    spec.bidirectional = true;
    spec.max_positions = spec.seq_len;
    spec.pooler = true;
    spec.head = head_of(r, spec.pooler);
    spec.classes = label_count(r, 2);
}

void bert(ObjectReader& r, TransformerSpec& spec) {
    read_sizes(r, spec);
    read_vocabulary(r, "max_position_embeddings", true, spec);
    r.required("type_vocab_size", spec.type_vocab, width_bound);
    read_activation(r, "hidden_act", "gelu", false, spec.mlp);
    std::string positions = "absolute";
    r.optional("position_embedding_type", positions);
    if (positions != "absolute") refuse(r, "position_embedding_type", "\"" + positions + "\" positions are not supported here");
    encode(r, spec);
    must_be(r, "is_decoder", false);
}

// A classifier's first layer is as large as BERT's pooler.
void distilbert(ObjectReader& r, TransformerSpec& spec) {
    r.required("n_layers", spec.layers, layer_count);
    r.required("dim", spec.hidden, width_bound);
    r.required("hidden_dim", spec.ffn_hidden, width_bound);
    r.required("n_heads", spec.heads, width_bound);
    spec.kv_heads = spec.heads;
    read_vocabulary(r, "max_position_embeddings", true, spec);
    read_activation(r, "activation", "gelu", false, spec.mlp);
    must_be(r, "tie_weights_", true);
    encode(r, spec);
    if (spec.head == HeadKind::masked_lm_nsp) spec.pooler = false;
}

void roberta(ObjectReader& r, TransformerSpec& spec) {
    bert(r, spec);
    spec.seq_len = std::max<std::int64_t>(1, spec.max_positions - 2);  // positions start behind the padding token's
    if (spec.head == HeadKind::masked_lm_nsp) spec.pooler = false;     // there is no next-sentence prediction
    if (spec.head == HeadKind::classifier) spec.pooler = true;
}

void t5(ObjectReader& r, TransformerSpec& spec) {
    r.required("num_layers", spec.layers, layer_count);
    spec.decoder_layers = spec.layers;
    r.optional("num_decoder_layers", spec.decoder_layers, layer_count);
    r.required("d_model", spec.hidden, width_bound);
    r.required("d_ff", spec.ffn_hidden, width_bound);
    r.required("num_heads", spec.heads, width_bound);
    r.required("d_kv", spec.head_dim, width_bound);
    r.required("vocab_size", spec.vocab, width_bound);
    spec.kv_heads = spec.heads;
    spec.seq_len = 512;
    r.optional("n_positions", spec.seq_len, length_bound);
    r.optional("tie_word_embeddings", spec.tied_embeddings);
    std::string projection = "relu";
    r.optional("feed_forward_proj", projection);
    if (projection == "relu")
        spec.mlp = MlpKind::relu;
    else if (projection == "gated-gelu")
        spec.mlp = MlpKind::geglu;
    else
        refuse(r, "feed_forward_proj", "\"" + projection + "\" is not supported here");
    std::int64_t buckets = 32;
    if (r.optional("relative_attention_num_buckets", buckets) && buckets != 32)
        refuse(r, "relative_attention_num_buckets", "only 32 buckets are supported");
    spec.kind = TransformerKind::encoder_decoder;
    spec.norm = NormKind::rms;
    spec.position = PositionKind::relative;
    spec.bias = false;
}

void vit(ObjectReader& r, TransformerSpec& spec) {
    read_sizes(r, spec);
    r.required("image_size", spec.image_px, pixel_bound);
    r.required("patch_size", spec.patch_px, pixel_bound);
    r.optional("num_channels", spec.channels, pixel_bound);
    read_activation(r, "hidden_act", "gelu", false, spec.mlp);
    must_be(r, "qkv_bias", true);
    spec.kind = TransformerKind::vision;
    spec.head = HeadKind::classifier;
    spec.classes = label_count(r, 1000);
    spec.vocab = 1;
    const std::int64_t side = spec.image_px / spec.patch_px;
    spec.seq_len = side * side + 1;
}

constexpr HfFamily encoders[] = {
    {"bert", bert}, {"distilbert", distilbert}, {"roberta", roberta}, {"t5", t5}, {"vit", vit}, {"xlm-roberta", roberta},
};

}  // namespace

std::span<const HfFamily> encoder_families() { return encoders; }

}  // namespace sextant
