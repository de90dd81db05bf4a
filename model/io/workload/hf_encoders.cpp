// Encoders and vision transformers.
#include "model/io/workload/hf_parts.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace sextant {
namespace {

// What the model is trained for stands in the name of its class.
std::string model_class(ObjectReader& r) {
    std::string name;
    if (const std::vector<JsonNode> names = r.get("architectures").elements(); !names.empty()) read_value(names.front(), name);
    return name;
}

HeadKind head_of(ObjectReader& r, bool& pooler) {
    const std::string name = model_class(r);
    if (name.ends_with("ForSequenceClassification")) return HeadKind::classifier;
    for (const auto& [ending, head] :
         {std::pair{"ForQuestionAnswering", HeadKind::question_answering}, {"ForTokenClassification", HeadKind::token_classifier}}) {
        if (!name.ends_with(ending)) continue;
        pooler = false;
        return head;
    }
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
    if (has_table(spec.position)) spec.max_positions = spec.seq_len;
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

// Positions start behind the padding token's, and there is no next-sentence prediction.
void leave_out_padding_positions(TransformerSpec& spec) {
    spec.seq_len = std::max<std::int64_t>(1, spec.seq_len - 2);
    if (spec.head == HeadKind::masked_lm_nsp) spec.pooler = false;
    if (spec.head == HeadKind::classifier) spec.pooler = true;
}

void roberta(ObjectReader& r, TransformerSpec& spec) {
    bert(r, spec);
    leave_out_padding_positions(spec);
}

// An embedding may be narrower than the layers. The discriminator, which pre-training is about, says of each token whether it was replaced;
// the generator is a masked language model.
void electra(ObjectReader& r, TransformerSpec& spec) {
    bert(r, spec);
    std::int64_t width = 128;
    r.optional("embedding_size", width, width_bound);
    if (width != spec.hidden) spec.embedding_width = width;
    if (spec.head != HeadKind::masked_lm_nsp) return;
    if (model_class(r).ends_with("ForMaskedLM")) return;
    spec.head = HeadKind::token_classifier;
    spec.pooler = true;
    spec.classes = 2;
}

void esm(ObjectReader& r, TransformerSpec& spec) {
    read_sizes(r, spec);
    read_vocabulary(r, "max_position_embeddings", true, spec);
    spec.position = PositionKind::learned;
    std::string positions = "absolute";
    if (r.optional("position_embedding_type", positions) && positions == "rotary") spec.position = PositionKind::rotary;
    spec.norm_placement = NormPlacement::input;
    spec.embedding_norm = false;
    bool normed = false;
    if (r.optional("emb_layer_norm_before", normed)) spec.embedding_norm = normed;
    must_be(r, "is_folding_model", false);
    read_dropout(r, {"hidden_dropout_prob", "attention_probs_dropout_prob"}, 0.1, spec);
    encode(r, spec);
    leave_out_padding_positions(spec);
}

// Norms in front, and windows in all layers but every third, which reach to both sides of a token.
void modernbert(ObjectReader& r, TransformerSpec& spec) {
    read_sizes(r, spec);
    read_vocabulary(r, "max_position_embeddings", true, spec);
    read_activation(r, "hidden_activation", "gelu", true, spec.mlp);
    for (const char* bias : {"attention_bias", "mlp_bias", "classifier_bias"}) must_be(r, bias, false);
    must_be(r, "decoder_bias", true);
    spec.bias = false;
    r.optional("norm_bias", spec.norm_bias);
    spec.position = PositionKind::rotary;
    spec.norm_placement = NormPlacement::input;
    std::int64_t window = 128;
    r.optional("local_attention", window, length_bound);
    spec.sliding_window = window / 2 * 2 + 1;  // as many on either side, and the token itself
    spec.full_attention_every = 3;
    spec.full_attention_offset = 0;
    r.optional("global_attn_every_n_layers", spec.full_attention_every, layer_count);
    read_kinds_of_layers(r, spec);
    read_dropout(r, {"embedding_dropout", "attention_dropout", "mlp_dropout"}, 0, spec);
    encode(r, spec);
    if (spec.head == HeadKind::masked_lm_nsp) spec.pooler = false;
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
    {"bert", bert},
    {"camembert", roberta},
    {"distilbert", distilbert},
    {"electra", electra, "; counted: an output for tokens that were not replaced"},
    {"esm", esm, "; left out: the head that predicts contacts"},
    {"modernbert", modernbert, "; counted: a norm in front of the first attention, which has none; left out: that of a classifier's head"},
    {"roberta", roberta},
    {"vit", vit},
    {"xlm-roberta", roberta},
};

}  // namespace

std::span<const HfFamily> encoder_families() { return encoders; }

}  // namespace sextant
