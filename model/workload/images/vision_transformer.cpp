// Vision transformers (Dosovitskiy et al., arXiv 2010.11929) that differ from the first in more than size. DeiT III (Touvron et al., arXiv
// 2204.07118) and DINOv2 (Oquab et al., arXiv 2304.07193) scale what attention and perceptron add; BEiT (Bao et al., arXiv 2106.08254)
// looks up a bias for the distance of two patches; EVA-02 (Fang et al., arXiv 2303.11331) and DINOv3 (Siméoni et al., arXiv 2508.10104)
// rotate queries and keys, and the former gates its perceptrons; registers are further learned vectors (Darcet et al., arXiv 2309.16588);
// CLIP (Radford et al., arXiv 2103.00020) norms patches; SigLIP (Zhai et al., arXiv 2303.15343) pools by attention. All as timm has them.
#include "model/workload/images/families.hpp"

#include <string>
#include <vector>

namespace sextant {

Image Layers::prepend(Image x, std::int64_t tokens) {
    x = whole(x);
    Image y = x;
    y.height = tokens + x.height * x.width;
    y.width = 1;
    const double learned = static_cast<double>(tokens) * static_cast<double>(x.channels);
    y = emit("class token", Pointwise{PointwiseKind::copy, elements_here(y)}, {x.id}, y, learned);
    return standing_for("learned vectors in front of the pixels of an image", y);
}

Image Layers::join(Image first, Image rest) {
    rest = whole(rest);
    Image y = rest;
    y.height = first.height * first.width + rest.height * rest.width;
    y.width = 1;
    y = emit("join", Pointwise{PointwiseKind::copy, elements_here(y)}, {whole(first).id, rest.id}, y);
    return standing_for("learned vectors in front of the pixels of an image", y);
}

Image Layers::learned_query(Image like) {
    like = whole(like);
    like.height = like.width = 1;
    like = emit("query", Pointwise{PointwiseKind::copy, elements_here(like)}, {}, like, static_cast<double>(like.channels));
    return standing_for("learned queries", like);
}

Image Layers::first_tokens(Image x, std::int64_t count) {
    Image y = x;
    y.height = count;
    y.width = 1;
    y = emit("first tokens", Pointwise{PointwiseKind::copy, elements_here(y)}, {x.id}, y);
    return standing_for("learned vectors in front of the pixels of an image", y);
}

Image Layers::distilled_classifier(Image pair, std::int64_t classes) {
    const auto logits = [&](const std::string& name, Image x) { return linear(name, x, classes, true, TensorRole::logits); };
    Image one = first_tokens(pair), other = other_tokens(pair);
    const Image sum = add("classifiers.add", logits("classifier", one), logits("classifier of the teacher's", other));
    return loss(times(sum, 0.5));
}

Image Layers::positions(Image x, std::int64_t tokens) {
    x = whole(x);
    const double learned = static_cast<double>(tokens) * static_cast<double>(x.channels);
    return emit("positions", Pointwise{PointwiseKind::add, elements_here(x)}, {x.id}, x, learned);
}

namespace {

enum class Positions { none, of_patches, of_all };
enum class Perceptron { plain, gated, packed, normed };  // gated in one product or two, those with a norm inside
enum class Pool { token, both_tokens, norm_then_mean, mean_then_norm, attention };

// What lies around sizes, one for each kind of training.
struct VitForm {
    std::int64_t tokens = 1;  // learned vectors in front of the patches
    Positions positions = Positions::of_all;
    bool scales = false;         // what attention and perceptron add
    bool norms_patches = false;  // in front of the layers; then patches have no bias
    ProjectionBias bias = ProjectionBias::all;
    bool position_bias = false, rotates = false;
    bool norm_inside = false;  // of what heads make
    Perceptron perceptron = Perceptron::plain;
    bool norms_behind = false;  // attention and perceptron, not in front of them
    Pool pool = Pool::token;
};

struct VitSize {
    int layers;
    std::int64_t channels, heads;
    std::int64_t wide = 0;  // of the perceptron; 0: four times the channels
};

struct VitName {
    const char* name;
    VitSize size;
    std::int64_t patch_px, image_px = 224;
};

struct Vit : VitSize {
    std::int64_t patch_px;
    VitForm form;
};

Image vit_norm(Layers& l, const std::string& name, Image x) { return l.norm(name, x, NormKind::layer); }

Image vit_perceptron(Layers& l, Image x, const Vit& v) {
    const std::int64_t wide = v.wide > 0 ? v.wide : 4 * v.channels;
    if (v.form.perceptron == Perceptron::plain) return l.perceptron(x, wide);
    return l.gated_perceptron(x, wide, v.form.perceptron == Perceptron::packed, v.form.perceptron == Perceptron::normed);
}

// `side`: of the image, in patches.
Image vit_layer(Layers& l, Image x, const Vit& v, std::int64_t side) {
    const VitForm& f = v.form;
    const std::int64_t distances = (2 * side - 1) * (2 * side - 1);
    const AttentionLayer attention{.heads = v.heads,
                                   .position_bias = f.position_bias ? PositionBias::table : PositionBias::none,
                                   .position_rows = f.position_bias ? distances + 3 : 0,  // from, to and within the learned one
                                   .bias = f.bias,
                                   .rotates = f.rotates,
                                   .norm_inside = f.norm_inside};
    const auto branch = [&](const std::string& name, const std::string& norm, auto&& make) {
        Image y = f.norms_behind ? vit_norm(l, norm, make(x)) : make(vit_norm(l, norm, x));
        if (f.scales) y = l.scale(name + ".scale", y);
        x = l.add(name + ".add", x, y);
    };
    branch("attention", "norm1", [&](Image y) { return l.attention(y, attention); });
    branch("mlp", "norm2", [&](Image y) { return vit_perceptron(l, y, v); });
    return x;
}

Image pool_by_attention(Layers& l, Image x, const Vit& v) {
    const Image y = l.attention(l.learned_query(x), {.heads = v.heads, .of = x});
    return l.add("pool.add", y, vit_perceptron(l, vit_norm(l, "pool.norm", y), v));
}

void build_vit(NetworkBuilder& network, const Vit& v, std::int64_t classes) {
    const VitForm& f = v.form;
    const std::int64_t side = network.image().width / v.patch_px;
    network.block("patches", BlockRole::input, [&](Layers& l, Image x) {
        x = l.conv("patches", x,
                   {.out_channels = v.channels, .kernel = v.patch_px, .stride = v.patch_px, .padding = 0, .bias = !f.norms_patches});
        const std::int64_t patches = x.height * x.width;
        if (f.positions == Positions::of_patches) x = l.positions(x, patches);
        x = f.tokens > 0 ? l.prepend(x, f.tokens) : l.whole(x);
        if (f.positions == Positions::of_all) x = l.positions(x, f.tokens + patches);
        return f.norms_patches ? vit_norm(l, "patches.norm", x) : x;
    });
    for (int i = 0; i < v.layers; ++i)
        network.block("layer", BlockRole::layer, [&](Layers& l, Image x) { return vit_layer(l, x, v, side); });
    network.block("head", BlockRole::head, [&](Layers& l, Image x) {
        if (f.pool == Pool::token) return l.classifier(l.first_tokens(vit_norm(l, "norm", x)), classes);
        if (f.pool == Pool::attention)
            return l.classifier(pool_by_attention(l, other_tokens(vit_norm(l, "norm", x), f.tokens), v), classes);
        if (f.pool == Pool::both_tokens) return l.distilled_classifier(l.first_tokens(vit_norm(l, "norm", x), 2), classes);
        if (f.pool == Pool::norm_then_mean) return l.classifier(l.global_pool(vit_norm(l, "norm", x)), classes);
        return l.classifier(vit_norm(l, "norm", l.global_pool(x)), classes);
    });
}

}  // namespace

std::vector<Architecture> vision_transformer_architectures() {
    std::vector<Architecture> all;
    const auto add = [&](const VitForm& form, const std::vector<VitName>& names) {
        for (const VitName& n : names) {
            const Vit v{n.size, n.patch_px, form};
            all.push_back({{n.name}, [v](NetworkBuilder& b, std::int64_t classes) { build_vit(b, v, classes); }, n.image_px});
        }
    };
    constexpr VitSize tiny{12, 192, 3}, xsmall{10, 256, 4}, wee{14, 256, 4, 1280}, little{14, 320, 5, 1792}, small{12, 384, 6},
        deep_small{36, 384, 6}, medium{12, 512, 8}, deep_medium{20, 512, 8}, betwixt{12, 640, 10}, base{12, 768, 12}, base_16{12, 768, 16},
        so150m2{21, 832, 13, 2176}, base_plus{12, 896, 14}, so150m{18, 896, 14, 2304}, large{24, 1024, 16}, so400m{27, 1152, 16, 4304},
        huge{32, 1280, 16}, giant{40, 1408, 16, 6144}, giantopt{40, 1536, 16}, dino_giant{40, 1536, 24, 4096}, gigantic{48, 1664, 16, 8192},
        base_23{12, 768, 12, 2048}, large_23{24, 1024, 16, 2730}, tiny_23{12, 192, 3, 512}, small_23{12, 384, 6, 1024},
        enormous{64, 1792, 16, 15360}, seven_b{40, 4096, 32, 8192}, huge_plus{32, 1280, 20};
    add({.pool = Pool::mean_then_norm}, {{"eva_large_patch14_196", large, 14, 196}, {"eva_large_patch14_336", large, 14, 336}});
    add({.positions = Positions::of_patches},
        {{"flexivit_base", base, 16, 240}, {"flexivit_large", large, 16, 240}, {"flexivit_small", small, 16, 240}});
    add({.scales = true}, {{"vit_base_patch14_dinov2", base, 14, 518},
                           {"vit_base_patch16_plus_240", base_plus, 16, 240},
                           {"vit_base_patch32_plus_256", base_plus, 32, 256},
                           {"vit_large_patch14_dinov2", large, 14, 518},
                           {"vit_small_patch14_dinov2", small, 14, 518},
                           {"vit_small_patch16_36x1_224", deep_small, 16}});
    add({.tokens = 2, .positions = Positions::of_patches, .scales = true}, {{"vit_base_patch14_reg1_tipsv2", base, 14, 448},
                                                                            {"vit_large_patch14_reg1_tipsv2", large, 14, 448},
                                                                            {"vit_so400m_patch14_reg1_tipsv2", so400m, 14, 448}});
    add({.tokens = 5, .positions = Positions::of_patches, .scales = true}, {{"vit_base_patch14_reg4_dinov2", base, 14, 518},
                                                                            {"vit_large_patch14_reg4_dinov2", large, 14, 518},
                                                                            {"vit_small_patch14_reg4_dinov2", small, 14, 518}});
    add({.bias = ProjectionBias::none}, {{"vit_base_patch16_224_miil", base, 16}});
    add({.norms_patches = true}, {{"vit_base_patch16_clip_224", base, 16},
                                  {"vit_base_patch16_clip_384", base, 16, 384},
                                  {"vit_base_patch16_clip_quickgelu_224", base, 16},
                                  {"vit_base_patch16_plus_clip_240", base_plus, 16, 240},
                                  {"vit_base_patch32_clip_224", base, 32},
                                  {"vit_base_patch32_clip_256", base, 32, 256},
                                  {"vit_base_patch32_clip_384", base, 32, 384},
                                  {"vit_base_patch32_clip_448", base, 32, 448},
                                  {"vit_base_patch32_clip_quickgelu_224", base, 32},
                                  {"vit_betwixt_patch32_clip_224", betwixt, 32},
                                  {"vit_giant_patch14_clip_224", giant, 14},
                                  {"vit_gigantic_patch14_clip_224", gigantic, 14},
                                  {"vit_gigantic_patch14_clip_378", gigantic, 14, 378},
                                  {"vit_gigantic_patch14_clip_quickgelu_224", gigantic, 14},
                                  {"vit_huge_patch14_clip_224", huge, 14},
                                  {"vit_huge_patch14_clip_336", huge, 14, 336},
                                  {"vit_huge_patch14_clip_378", huge, 14, 378},
                                  {"vit_huge_patch14_clip_quickgelu_224", huge, 14},
                                  {"vit_huge_patch14_clip_quickgelu_378", huge, 14, 378},
                                  {"vit_large_patch14_clip_224", large, 14},
                                  {"vit_large_patch14_clip_336", large, 14, 336},
                                  {"vit_large_patch14_clip_quickgelu_224", large, 14},
                                  {"vit_large_patch14_clip_quickgelu_336", large, 14, 336},
                                  {"vit_medium_patch16_clip_224", medium, 16},
                                  {"vit_medium_patch32_clip_224", medium, 32},
                                  {"vit_xsmall_patch16_clip_224", xsmall, 16}});
    add({.tokens = 0, .pool = Pool::norm_then_mean}, {{"vit_base_patch16_gap_224", base_16, 16},
                                                      {"vit_base_patch16_siglip_gap_224", base, 16},
                                                      {"vit_base_patch16_siglip_gap_256", base, 16, 256},
                                                      {"vit_base_patch16_siglip_gap_384", base, 16, 384},
                                                      {"vit_base_patch16_siglip_gap_512", base, 16, 512},
                                                      {"vit_base_patch32_siglip_gap_256", base, 32, 256},
                                                      {"vit_giant_patch16_gap_224", giant, 16},
                                                      {"vit_giantopt_patch16_siglip_gap_256", giantopt, 16, 256},
                                                      {"vit_giantopt_patch16_siglip_gap_384", giantopt, 16, 384},
                                                      {"vit_huge_patch14_gap_224", huge, 14},
                                                      {"vit_huge_patch16_gap_448", huge, 16, 448},
                                                      {"vit_large_patch16_siglip_gap_256", large, 16, 256},
                                                      {"vit_large_patch16_siglip_gap_384", large, 16, 384},
                                                      {"vit_large_patch16_siglip_gap_512", large, 16, 512},
                                                      {"vit_so400m_patch14_siglip_gap_224", so400m, 14},
                                                      {"vit_so400m_patch14_siglip_gap_378", so400m, 14, 378},
                                                      {"vit_so400m_patch14_siglip_gap_384", so400m, 14, 384},
                                                      {"vit_so400m_patch14_siglip_gap_448", so400m, 14, 448},
                                                      {"vit_so400m_patch14_siglip_gap_896", so400m, 14, 896},
                                                      {"vit_so400m_patch16_siglip_gap_256", so400m, 16, 256},
                                                      {"vit_so400m_patch16_siglip_gap_384", so400m, 16, 384},
                                                      {"vit_so400m_patch16_siglip_gap_512", so400m, 16, 512}});
    add({.tokens = 4, .positions = Positions::of_patches, .pool = Pool::mean_then_norm},
        {{"vit_base_patch16_reg4_gap_256", base, 16, 256}});
    add({.tokens = 0, .pool = Pool::attention}, {{"vit_base_patch16_siglip_224", base, 16},
                                                 {"vit_base_patch16_siglip_256", base, 16, 256},
                                                 {"vit_base_patch16_siglip_384", base, 16, 384},
                                                 {"vit_base_patch16_siglip_512", base, 16, 512},
                                                 {"vit_base_patch32_siglip_256", base, 32, 256},
                                                 {"vit_giantopt_patch16_siglip_256", giantopt, 16, 256},
                                                 {"vit_giantopt_patch16_siglip_384", giantopt, 16, 384},
                                                 {"vit_large_patch16_siglip_256", large, 16, 256},
                                                 {"vit_large_patch16_siglip_384", large, 16, 384},
                                                 {"vit_large_patch16_siglip_512", large, 16, 512},
                                                 {"vit_so400m_patch14_siglip_224", so400m, 14},
                                                 {"vit_so400m_patch14_siglip_378", so400m, 14, 378},
                                                 {"vit_so400m_patch14_siglip_384", so400m, 14, 384},
                                                 {"vit_so400m_patch16_siglip_256", so400m, 16, 256},
                                                 {"vit_so400m_patch16_siglip_384", so400m, 16, 384},
                                                 {"vit_so400m_patch16_siglip_512", so400m, 16, 512}});
    add({.tokens = 0, .scales = true, .bias = ProjectionBias::none, .pool = Pool::norm_then_mean},
        {{"vit_betwixt_patch16_gap_256", betwixt, 16, 256},
         {"vit_medium_patch16_gap_240", medium, 16, 240},
         {"vit_medium_patch16_gap_256", medium, 16, 256},
         {"vit_medium_patch16_gap_384", medium, 16, 384}});
    add({.positions = Positions::of_patches, .scales = true, .pool = Pool::mean_then_norm},
        {{"vit_betwixt_patch16_reg1_gap_256", betwixt, 16, 256},
         {"vit_little_patch16_reg1_gap_256", little, 16, 256},
         {"vit_medium_patch16_reg1_gap_256", medium, 16, 256},
         {"vit_wee_patch16_reg1_gap_256", wee, 16, 256}});
    add({.tokens = 4, .positions = Positions::of_patches, .scales = true, .pool = Pool::mean_then_norm},
        {{"vit_betwixt_patch16_reg4_gap_256", betwixt, 16, 256},
         {"vit_betwixt_patch16_reg4_gap_384", betwixt, 16, 384},
         {"vit_little_patch16_reg4_gap_256", little, 16, 256},
         {"vit_medium_patch16_reg4_gap_256", medium, 16, 256},
         {"vit_mediumd_patch16_reg4_gap_256", deep_medium, 16, 256},
         {"vit_mediumd_patch16_reg4_gap_384", deep_medium, 16, 384}});
    add({.scales = true, .perceptron = Perceptron::packed}, {{"vit_giant_patch14_dinov2", dino_giant, 14, 518}});
    add({.tokens = 2, .positions = Positions::of_patches, .scales = true, .perceptron = Perceptron::packed},
        {{"vit_giant_patch14_reg1_tipsv2", dino_giant, 14, 448}});
    add({.tokens = 5, .positions = Positions::of_patches, .scales = true, .perceptron = Perceptron::packed},
        {{"vit_giant_patch14_reg4_dinov2", dino_giant, 14, 518}});
    add({}, {{"vit_gigantic_patch14_224", gigantic, 14}, {"vit_small_patch8_224", small, 8}, {"vit_tiny_patch16_384", tiny, 16, 384}});
    add({.scales = true, .bias = ProjectionBias::none, .pool = Pool::mean_then_norm},
        {{"vit_so150m2_patch16_reg1_gap_256", so150m2, 16, 256},
         {"vit_so150m2_patch16_reg1_gap_384", so150m2, 16, 384},
         {"vit_so150m2_patch16_reg1_gap_448", so150m2, 16, 448}});
    add({.tokens = 4, .pool = Pool::norm_then_mean},
        {{"vit_so150m_patch16_reg4_gap_256", so150m, 16, 256}, {"vit_so150m_patch16_reg4_gap_384", so150m, 16, 384}});
    add({.tokens = 4, .pool = Pool::attention}, {{"vit_so150m_patch16_reg4_map_256", so150m, 16, 256}});
    add({.bias = ProjectionBias::not_keys, .rotates = true, .perceptron = Perceptron::normed, .pool = Pool::mean_then_norm},
        {{"eva02_base_patch14_224", base_23, 14},
         {"eva02_base_patch14_448", base_23, 14, 448},
         {"eva02_large_patch14_224", large_23, 14},
         {"eva02_large_patch14_448", large_23, 14, 448}});
    add({.bias = ProjectionBias::not_keys, .rotates = true, .norm_inside = true, .perceptron = Perceptron::normed},
        {{"eva02_base_patch16_clip_224", base_23, 16},
         {"eva02_large_patch14_clip_224", large_23, 14},
         {"eva02_large_patch14_clip_336", large_23, 14, 336}});
    add({.bias = ProjectionBias::not_keys, .norms_behind = true}, {{"eva02_enormous_patch14_clip_224", enormous, 14}});
    add({.bias = ProjectionBias::not_keys, .rotates = true, .perceptron = Perceptron::packed, .pool = Pool::mean_then_norm},
        {{"eva02_small_patch14_224", small_23, 14},
         {"eva02_small_patch14_336", small_23, 14, 336},
         {"eva02_tiny_patch14_224", tiny_23, 14},
         {"eva02_tiny_patch14_336", tiny_23, 14, 336}});
    add({.bias = ProjectionBias::not_keys, .pool = Pool::mean_then_norm},
        {{"eva_giant_patch14_224", giant, 14}, {"eva_giant_patch14_336", giant, 14, 336}, {"eva_giant_patch14_560", giant, 14, 560}});
    add({.bias = ProjectionBias::not_keys}, {{"eva_giant_patch14_clip_224", giant, 14}});
    add({.tokens = 5,
         .positions = Positions::none,
         .scales = true,
         .bias = ProjectionBias::none,
         .rotates = true,
         .perceptron = Perceptron::gated,
         .pool = Pool::norm_then_mean},
        {{"vit_7b_patch16_dinov3", seven_b, 16, 256},
         {"vit_huge_plus_patch16_dinov3", huge_plus, 16, 256},
         {"vit_small_plus_patch16_dinov3", small, 16, 256}});
    add({.tokens = 5,
         .positions = Positions::none,
         .scales = true,
         .bias = ProjectionBias::none,
         .rotates = true,
         .pool = Pool::norm_then_mean},
        {{"vit_base_patch16_dinov3", base, 16, 256},
         {"vit_large_patch16_dinov3", large, 16, 256},
         {"vit_small_patch16_dinov3", small, 16, 256}});
    add({.tokens = 5,
         .positions = Positions::none,
         .scales = true,
         .bias = ProjectionBias::not_keys,
         .rotates = true,
         .pool = Pool::norm_then_mean},
        {{"vit_base_patch16_dinov3_qkvb", base, 16, 256},
         {"vit_large_patch16_dinov3_qkvb", large, 16, 256},
         {"vit_small_patch16_dinov3_qkvb", small, 16, 256},
         {"vit_tiny_patch16_dinov3_qkvb", tiny, 16, 256}});
    add({.tokens = 5, .positions = Positions::none, .scales = true, .bias = ProjectionBias::not_keys, .rotates = true},
        {{"vit_base_patch16_lingbot", base, 16, 512},
         {"vit_large_patch16_lingbot", large, 16, 512},
         {"vit_small_patch16_lingbot", small, 16, 512}});
    add({.positions = Positions::none, .scales = true, .rotates = true},
        {{"vit_base_patch16_rope_224", base, 16}, {"vit_large_patch16_rope_224", large, 16}, {"vit_small_patch16_rope_224", small, 16}});
    add({.positions = Positions::of_patches, .scales = true, .rotates = true}, {{"vit_base_patch16_rope_ape_224", base, 16},
                                                                                {"vit_large_patch16_rope_ape_224", large, 16},
                                                                                {"vit_small_patch16_rope_ape_224", small, 16}});
    add({.positions = Positions::none, .scales = true, .bias = ProjectionBias::not_keys, .rotates = true, .pool = Pool::mean_then_norm},
        {{"vit_base_patch16_rope_reg1_gap_256", base, 16, 256}, {"vit_medium_patch16_rope_reg1_gap_256", medium, 16, 256}});
    add({.tokens = 4,
         .positions = Positions::none,
         .scales = true,
         .bias = ProjectionBias::not_keys,
         .rotates = true,
         .pool = Pool::mean_then_norm},
        {{"vit_betwixt_patch16_rope_reg4_gap_256", betwixt, 16, 256}});
    add({.tokens = 5,
         .positions = Positions::none,
         .scales = true,
         .bias = ProjectionBias::none,
         .rotates = true,
         .perceptron = Perceptron::gated},
        {{"vit_giant_patch16_lingbot", dino_giant, 16, 512}});
    add({.tokens = 5,
         .positions = Positions::none,
         .scales = true,
         .bias = ProjectionBias::not_keys,
         .rotates = true,
         .perceptron = Perceptron::gated,
         .pool = Pool::norm_then_mean},
        {{"vit_huge_plus_patch16_dinov3_qkvb", huge_plus, 16, 256}, {"vit_small_plus_patch16_dinov3_qkvb", small, 16, 256}});
    add({.positions = Positions::none, .scales = true, .bias = ProjectionBias::none, .rotates = true, .pool = Pool::mean_then_norm},
        {{"vit_mediumd_patch16_rope_reg1_gap_256", deep_medium, 16, 256}});
    add({.positions = Positions::none,
         .scales = true,
         .bias = ProjectionBias::not_keys,
         .position_bias = true,
         .pool = Pool::mean_then_norm},
        {{"beit_base_patch16_224", base, 16},
         {"beit_base_patch16_384", base, 16, 384},
         {"beit_large_patch16_224", large, 16},
         {"beit_large_patch16_384", large, 16, 384},
         {"beit_large_patch16_512", large, 16, 512},
         {"beitv2_base_patch16_224", base, 16},
         {"beitv2_large_patch16_224", large, 16}});
    add({.positions = Positions::of_patches, .scales = true}, {{"deit3_base_patch16_224", base, 16},
                                                               {"deit3_base_patch16_384", base, 16, 384},
                                                               {"deit3_huge_patch14_224", huge, 14},
                                                               {"deit3_large_patch16_224", large, 16},
                                                               {"deit3_large_patch16_384", large, 16, 384},
                                                               {"deit3_medium_patch16_224", medium, 16},
                                                               {"deit3_small_patch16_224", small, 16},
                                                               {"deit3_small_patch16_384", small, 16, 384}});
    add({.tokens = 2, .pool = Pool::both_tokens}, {{"deit_tiny_distilled_patch16_224", tiny, 16},
                                                   {"deit_small_distilled_patch16_224", small, 16},
                                                   {"deit_base_distilled_patch16_224", base, 16},
                                                   {"deit_base_distilled_patch16_384", base, 16, 384}});
    return all;
}

}  // namespace sextant
