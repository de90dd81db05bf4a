#include "model/workload/builders.hpp"
#include "model/workload/transformer_writer.hpp"

namespace sextant {
namespace {

std::string block_name(const LayerKind& kind) {
    std::string name = kind.experts ? "moe layer" : "transformer layer";
    if (kind.mixer == Mixer::state_space) name = "state-space layer";
    if (kind.mixer == Mixer::delta_rule) name = "delta-rule layer";
    if (kind.mixer == Mixer::none && !kind.experts) name = "mlp layer";
    if (kind.mixer == Mixer::attention && !kind.mlp) name = "attention layer";
    if (kind.cross) name = "decoder layer";
    if (kind.windowed) name += " (windowed)";
    return name;
}

OperatorGraph layer_block(const TransformerSpec& spec, const Shard& shard, const TokenCut& cut, const LayerKind& kind,
                          const TokenCut& memory_cut) {
    TransformerWriter w{spec, shard, cut};
    const TensorId x = w.hidden_input("hidden");
    if (!kind.cross) {
        w.graph.output(write_layer(w, x, kind));
        return std::move(w.graph).build();
    }
    const TensorId memory = w.graph.input("memory", {memory_cut.rows, spec.hidden});
    w.graph.output(write_layer(w, x, kind, memory, memory_cut));
    w.graph.output(memory);  // for the next layer
    return std::move(w.graph).build();
}

LayerKind kind_of_letter(char letter) {
    switch (letter) {
        case 'M': return {.mixer = Mixer::state_space, .mlp = false};
        case 'G': return {.mixer = Mixer::delta_rule, .mlp = false};
        case '*': return {.mixer = Mixer::attention, .mlp = false, .causal = true};
        case 'E': return {.mixer = Mixer::none, .experts = true};
        default: return {.mixer = Mixer::none};
    }
}

LayerKind kind_of_layer(const TransformerSpec& spec, std::int64_t layer) {
    if (!spec.layer_pattern.empty()) return kind_of_letter(spec.layer_pattern[static_cast<std::size_t>(layer)]);
    LayerKind kind;
    if (spec.moe && layer >= spec.moe->dense_layers) kind.experts = (layer - spec.moe->dense_layers) % spec.moe->every == 0;
    const std::int64_t every = spec.full_attention_every;
    const bool full = every > 0 && layer % every == spec.full_attention_offset.value_or(every - 1);
    kind.windowed = spec.sliding_window > 0 && layer % spec.sliding_window_every == 0 && !full;
    kind.causal = spec.kind == TransformerKind::decoder && !spec.bidirectional;
    return kind;
}

// A module for multi-token prediction is a layer like the last one; a hybrid has attention and its MLP or experts there.
LayerKind kind_of_prediction(const TransformerSpec& spec) {
    if (spec.layer_pattern.empty()) return kind_of_layer(spec, spec.layers - 1);
    return {.experts = spec.moe.has_value(), .causal = true};
}

class NetworkWriter {
public:
    NetworkWriter(const TransformerSpec& spec, const Shard& shard) : spec_(spec), shard_(shard) {}

    void block(std::string name, BlockRole role, OperatorGraph graph) {
        network_.sequence.push_back(static_cast<int>(network_.templates.size()));
        network_.templates.push_back({std::move(name), role, std::move(graph)});
    }

    // A layer of a kind that was built before is the same template once more.
    void layer(const TokenCut& cut, const LayerKind& kind, const TokenCut& memory_cut = {}) {
        for (const auto& [known, index] : built_)
            if (known == kind) return network_.sequence.push_back(index);
        built_.emplace_back(kind, static_cast<int>(network_.templates.size()));
        block(block_name(kind), BlockRole::layer, layer_block(spec_, shard_, cut, kind, memory_cut));
    }

    Network take() { return std::move(network_); }

private:
    const TransformerSpec& spec_;
    const Shard& shard_;
    Network network_;
    std::vector<std::pair<LayerKind, int>> built_;
};

Network encoder_decoder(const TransformerSpec& spec, const Shard& shard) {
    const TokenCut encoder = cut_tokens(spec.seq_len, shard);
    const TokenCut decoder = cut_tokens(spec.decoder_seq_len > 0 ? spec.decoder_seq_len : spec.seq_len, shard);
    NetworkWriter network(spec, shard);
    network.block("embedding", BlockRole::input, input_block(spec, shard, encoder));
    for (std::int64_t i = 0; i < spec.layers; ++i) network.layer(encoder, kind_of_layer(spec, i));
    network.block("decoder embedding", BlockRole::input, decoder_input_block(spec, shard, encoder, decoder));
    const std::int64_t decoder_layers = spec.decoder_layers > 0 ? spec.decoder_layers : spec.layers;
    for (std::int64_t i = 0; i < decoder_layers; ++i) network.layer(decoder, {.cross = true, .causal = true}, encoder);
    network.block("head", BlockRole::head, head_block(spec, shard, decoder));
    return network.take();
}

}  // namespace

NormPlacement norm_placement_of(const TransformerSpec& spec) {
    return spec.norm_placement.value_or(spec.kind == TransformerKind::encoder ? NormPlacement::sum : NormPlacement::input);
}

bool has_embedding_norm(const TransformerSpec& spec) { return spec.embedding_norm.value_or(spec.kind == TransformerKind::encoder); }

std::int64_t head_dim_of(const TransformerSpec& spec) { return spec.head_dim > 0 ? spec.head_dim : spec.hidden / spec.heads; }

std::int64_t tokens_of(const TransformerSpec& spec) {
    if (spec.kind != TransformerKind::vision) return spec.seq_len;
    const std::int64_t side = spec.image_px / spec.patch_px;
    return side * side + 1;
}

Network build_transformer(const TransformerSpec& spec, const Shard& shard) {
    check_transformer(spec, shard);
    if (spec.kind == TransformerKind::encoder_decoder) return encoder_decoder(spec, shard);

    const TokenCut cut = cut_tokens(tokens_of(spec), shard);
    const bool vision = spec.kind == TransformerKind::vision;
    NetworkWriter network(spec, shard);
    network.block("embedding", BlockRole::input, vision ? vision_input_block(spec, shard, cut) : input_block(spec, shard, cut));
    for (std::int64_t i = 0; i < spec.layers; ++i) network.layer(cut, kind_of_layer(spec, i));
    for (std::int64_t i = 1; i <= spec.mtp_layers; ++i)
        network.block("multi-token prediction", BlockRole::head, prediction_block(spec, shard, cut, kind_of_prediction(spec), i));
    network.block("head", BlockRole::head, head_block(spec, shard, cut));
    return network.take();
}

}  // namespace sextant
