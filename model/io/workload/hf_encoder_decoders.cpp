// Encoders with decoders: T5, BART, and their relatives.
#include "model/io/workload/hf_parts.hpp"

#include <string>

namespace sextant {
namespace {

void read_t5(ObjectReader& r, std::string projection, TransformerSpec& spec) {
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

void t5(ObjectReader& r, TransformerSpec& spec) {
    read_t5(r, "relu", spec);
    read_tied(r, true, spec);
}

void mt5(ObjectReader& r, TransformerSpec& spec) {
    read_t5(r, "gated-gelu", spec);
    read_tied(r, false, spec);
}

// What encoder and decoder have a number each of, and must have the same.
void read_of_both(ObjectReader& r, const std::string& key, std::int64_t& field) {
    r.required("encoder_" + key, field, width_bound);
    std::int64_t of_decoder = field;
    if (r.optional("decoder_" + key, of_decoder, width_bound) && of_decoder != field)
        refuse(r, "decoder_" + key, "a decoder other than its encoder is not supported");
}

// Where norms stand, what tells positions apart, and a norm behind the embeddings or none: in that BART's relatives differ.
void read_bart_like(ObjectReader& r, NormPlacement placement, PositionKind position, bool embedding_norm, TransformerSpec& spec) {
    r.required("encoder_layers", spec.layers, layer_count);
    r.required("decoder_layers", spec.decoder_layers, layer_count);
    r.required("d_model", spec.hidden, width_bound);
    read_of_both(r, "ffn_dim", spec.ffn_hidden);
    read_of_both(r, "attention_heads", spec.heads);
    spec.kv_heads = spec.heads;
    read_vocabulary(r, "max_position_embeddings", true, spec);
    read_activation(r, "activation_function", "gelu", false, spec.mlp);
    read_dropout(r, {"dropout"}, 0.1, spec);
    spec.kind = TransformerKind::encoder_decoder;
    spec.norm_placement = placement;
    spec.position = position;
    spec.embedding_norm = embedding_norm;
    if (position == PositionKind::learned) spec.max_positions = spec.seq_len + 2;  // the table starts at two
}

void bart(ObjectReader& r, TransformerSpec& spec) {
    read_bart_like(r, NormPlacement::sum, PositionKind::learned, true, spec);
    for (const char* changed : {"normalize_before", "add_final_layer_norm", "static_position_embeddings"}) must_be(r, changed, false);
}

void mbart(ObjectReader& r, TransformerSpec& spec) { read_bart_like(r, NormPlacement::input, PositionKind::learned, true, spec); }

void marian(ObjectReader& r, TransformerSpec& spec) {
    read_bart_like(r, NormPlacement::sum, PositionKind::sinusoidal, false, spec);
    for (const char* changed : {"normalize_before", "normalize_embedding", "add_final_layer_norm"}) must_be(r, changed, false);
    must_be(r, "share_encoder_decoder_embeddings", true);
}

// Pegasus, and M2M-100 with NLLB.
void with_sinusoids(ObjectReader& r, TransformerSpec& spec) {
    read_bart_like(r, NormPlacement::input, PositionKind::sinusoidal, false, spec);
}

constexpr std::string_view table_counted = "; counted: tables of sinusoids, which nobody trains";
constexpr HfFamily encoder_decoders[] = {
    {"bart", bart},
    {"m2m_100", with_sinusoids, table_counted},
    {"marian", marian, table_counted},
    {"mbart", mbart},
    {"mt5", mt5},
    {"pegasus", with_sinusoids, table_counted},
    {"t5", t5},
};

}  // namespace

std::span<const HfFamily> encoder_decoder_families() { return encoder_decoders; }

}  // namespace sextant
