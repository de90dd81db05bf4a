#include "tests/backend/networks.hpp"

#include "tests/backend/arrays.hpp"

#include <cmath>

namespace sextant {
namespace {

TransformerSpec small_transformer() {
    TransformerSpec s;
    s.layers = 2;
    s.hidden = 32;
    s.ffn_hidden = 64;
    s.heads = s.kv_heads = 4;
    s.vocab = 61;
    s.seq_len = 8;
    s.dropout = false;
    return s;
}

template <class Spec>
Workload workload(const std::string& name, Spec spec) {
    Workload w;
    w.name = name;
    w.spec = std::move(spec);
    return w;
}

Workload llama() {
    TransformerSpec s = small_transformer();
    s.kv_heads = 2;
    s.ffn_hidden = 48;
    s.mlp = MlpKind::swiglu;
    s.norm = NormKind::rms;
    s.position = PositionKind::rotary;
    s.tied_embeddings = s.bias = false;
    return workload("llama", s);
}

Workload bert() {
    TransformerSpec s = small_transformer();
    s.kind = TransformerKind::encoder;
    s.head = HeadKind::masked_lm_nsp;
    s.type_vocab = 2;
    s.pooler = true;
    s.predicted_tokens = 4;
    return workload("bert", s);
}

Workload vit() {
    TransformerSpec s = small_transformer();
    s.kind = TransformerKind::vision;
    s.head = HeadKind::classifier;
    s.image_px = 16;
    s.patch_px = 4;
    s.classes = 10;
    return workload("vit", s);
}

}  // namespace

SmallNetwork small_network(const std::string& name) {
    if (name == "mlp") return {workload(name, MlpSpec{.widths = {12, 16, 14, 5}}), 6};
    if (name == "resnet18") return {workload(name, ConvolutionalSpec{.name = name, .image_px = 32, .classes = 10}), 8};
    if (name == "llama") return {llama(), 3};
    if (name == "bert") return {bert(), 3};
    if (name == "vit") return {vit(), 3};
    return {workload("gpt", small_transformer()), 3};
}

void set_made_weights(ComputeDevice& device, const WholeNetwork& network) {
    std::uint64_t block = 0, ordinal = 0;
    network.for_each_parameter([&](std::size_t b, const ParameterTensor& p, const Array& weights, const Array&) {
        if (b != block) ordinal = 0;
        block = b;
        // make_fixtures.py: a matrix by its columns, a vector by 25; gains around one.
        const bool vector = p.whole_columns == 1;
        const double scale = 1 / std::sqrt(vector ? 25 : static_cast<double>(p.whole_columns));
        const float base = p.name.ends_with(".gain") ? 1 : 0;
        std::vector<float> serial = made_reals(Made::weight, {block, ordinal++}, p.whole_rows * p.whole_columns), mine(p.elements());
        for (float& v : serial) v = static_cast<float>(base + scale * static_cast<double>(v));
        cut(p, serial, mine);
        device.upload(mine.data(), weights);
    });
}

WholeNetwork::Data made_data(ComputeDevice& device, const std::string& name, std::uint64_t index) {
    return [&device, name, index](const Tensor& t) {
        const auto count = static_cast<std::int64_t>(t.elements());
        if (t.role != TensorRole::index) return to_device(device, made_reals(Made::input, {index}, count));
        if (t.name == "tokens") return to_device(device, made_integers(Made::input, 0, count, 61));
        if (t.name == "next_sentence.loss.labels") return to_device(device, made_integers(Made::input, 2, count, 2));
        const std::int64_t classes = name == "mlp" ? 5 : name == "resnet18" || name == "vit" ? 10 : 61;
        return to_device(device, made_integers(Made::input, 1, count, classes));
    };
}

}  // namespace sextant
