// A user's own chain of layers. Behind the last of them stand a linear layer to the classes and the loss.
#include "model/workload/builders.hpp"
#include "model/workload/chain_wiring.hpp"
#include "model/workload/images/layers.hpp"

#include <algorithm>

namespace sextant {
namespace {

using Kind = ChainLayer::Kind;

std::string size_text(Image x) { return std::to_string(x.channels) + "x" + std::to_string(x.height) + "x" + std::to_string(x.width); }

class ChainBuilder {
public:
    ChainBuilder(const ChainSpec& spec, LayerContext context, Image data)
        : spec_(spec),
          network_(std::move(context), data),
          sources_(chain_sources(spec.layers, problems())),
          last_readers_(last_readers(sources_)) {
        for (std::size_t i = 0; i < spec.layers.size(); ++i) features_.push_back(spec.layers[i].kind == Kind::dense || reads_features(i));
    }

    Network build(bool share_templates) && {
        std::vector<ChainGroup> groups = chain_groups(spec_.layers, sources_);
        ChainGroup tail{spec_.layers.size(), spec_.layers.size(), false};
        if (!groups.back().weighted) {
            tail = groups.back();
            groups.pop_back();
        }
        for (const ChainGroup& g : groups) {
            const bool passed = !beside(g.begin).empty() || !beside(g.end).empty();
            std::string name = share_templates && !passed ? "" : std::to_string(g.begin) + ": ";
            for (std::size_t i = g.begin; i < g.end; ++i)
                name += (i == g.begin ? "" : ", ") + describe(spec_.layers[i], static_cast<int>(i), sources_[i]);
            network_.block(name, BlockRole::layer, [&](Layers& l, Image x) { return layers(l, x, g); });
        }
        network_.block("head", BlockRole::head, [&](Layers& l, Image x) {
            x = layers(l, x, tail);
            if (spec_.per_pixel && features_.back())
                problems().add(
                    {.file = {},
                     .pointer = "/workload/chain/per_pixel",
                     .what = "there are no pixels that could have classes: the last layer makes features",
                     .hint = "\"input_shape\": [channels, height, width]; a convolution of 1 x 1 is a dense layer for each pixel"});
            return spec_.per_pixel ? l.pixel_classifier(x, spec_.classes, x) : l.classifier(x, spec_.classes);
        });
        return std::move(network_).build();
    }

private:
    struct Residual {
        std::size_t begin;
        Image image;
        std::size_t problems_before;
    };

    [[nodiscard]] Diagnostics& problems() { return network_.context().problems; }
    void report(std::size_t layer, std::string what, std::string hint = {}) {
        problems().add({.file = {}, .pointer = chain_pointer(layer), .what = std::move(what), .hint = std::move(hint)});
    }

    [[nodiscard]] bool reads_features(std::size_t i) const {
        return std::ranges::any_of(
            sources_[i], [&](int s) { return s == chain_data ? spec_.input_shape.size() == 1 : features_[static_cast<std::size_t>(s)]; });
    }

    // What goes past a block that begins with layer `at`, or into it beside what the layer in front makes: numbers of layers.
    [[nodiscard]] std::vector<int> beside(std::size_t at) const {
        std::vector<int> numbers;
        const int begin = static_cast<int>(at);
        for (int s = chain_data; s < begin - 1; ++s)
            if (last_readers_[static_cast<std::size_t>(s + 1)] >= begin) numbers.push_back(s);
        return numbers;
    }

    Image layers(Layers& l, const Image in, const ChainGroup& group) {
        std::vector<Residual> open;
        std::vector<Image> made;
        const std::vector<int> arrived = beside(group.begin);
        const std::vector<Image> images = l.beside();
        const auto read = [&](int source) {
            const int here = source - static_cast<int>(group.begin);
            if (here >= 0) return made[static_cast<std::size_t>(here)];
            const auto found = std::ranges::find(arrived, source);
            return found == arrived.end() ? in : images[static_cast<std::size_t>(found - arrived.begin())];
        };
        for (std::size_t i = group.begin; i < group.end; ++i) {
            network_.context().size_pointer = chain_pointer(i);
            const Kind kind = spec_.layers[i].kind;
            Image x = read(sources_[i].front());
            if (kind == Kind::residual_begin)
                open.push_back({i, x, problems().list().size()});
            else if (kind == Kind::residual_end)
                x = close(l, x, i, open);
            else if (sources_[i].size() > 1)
                x = join(l, i, read);
            else if (usable(i, x))
                x = layer(l, x, i);
            made.push_back(x);
        }
        for (const Residual& r : open) report(r.begin, "residual_begin without a residual_end");
        l.beside().clear();
        for (const int s : beside(group.end)) l.beside().push_back(read(s));
        return made.empty() ? in : made.back();
    }

    template <class Read>
    Image join(Layers& l, std::size_t i, const Read& read) {
        const Kind kind = spec_.layers[i].kind;
        std::vector<Image> images;
        for (const int s : sources_[i]) images.push_back(read(s));
        const bool alike = std::ranges::all_of(images, [&](const Image& x) { return x.cut == images.front().cut; });
        if (!alike)
            for (Image& x : images) x = l.whole(x);
        Image x = images.front();
        if (kind == Kind::multiply) {
            const Image factor = images.back();
            if (factor.height * factor.width == 1 && factor.channels == x.channels) return l.gate("multiply", x, factor);
            report(i, "an image is multiplied with one factor for each of its channels: " + size_text(x) + " and " + size_text(factor) +
                          " arrive here");
            return x;
        }
        for (const Image& other : images) {
            const bool same_channels = kind == Kind::concat || other.channels == x.channels;
            if (same_channels && other.height == x.height && other.width == x.width) continue;
            report(i, (kind == Kind::concat ? "images of one size are put together: " : "equal images are added: ") + size_text(x) +
                          " and " + size_text(other) + " arrive here");
            return x;
        }
        if (kind == Kind::concat) return l.concatenate(images);
        for (std::size_t k = 1; k < images.size(); ++k) x = l.add("add", x, images[k]);
        return x;
    }

    Image close(Layers& l, Image x, std::size_t i, std::vector<Residual>& open) {
        if (open.empty()) {
            report(i, "residual_end without a residual_begin");
            return x;
        }
        const Residual r = open.back();
        open.pop_back();
        const bool same = r.image.channels == x.channels && r.image.height == x.height && r.image.width == x.width;
        if (same) return l.add("add", x, r.image);
        if (problems().list().size() == r.problems_before)  // else a layer inside is missing, and the difference says nothing
            report(i, "a residual adds equal shapes: " + size_text(r.image) + " enters and " + size_text(x) + " arrives here",
                   "keep width and stride inside, or put the layer that changes them in front");
        return x;
    }

    // Reports what makes layer i impossible on x.
    bool usable(std::size_t i, Image x) {
        const ChainLayer& c = spec_.layers[i];
        const std::string pointer = chain_pointer(i);
        const std::size_t before = problems().list().size();
        const bool windowed = c.kind == Kind::conv || (c.kind == Kind::pool && c.pooling != PoolingKind::global_average);
        if (c.kind == Kind::dense || c.kind == Kind::conv)
            require_between(problems(), pointer + "/width", "width", c.width, 1, largest_extent);
        if (windowed) require_between(problems(), pointer + "/kernel", "kernel", c.kernel, 1, largest_image_px);
        if (windowed) require_between(problems(), pointer + "/stride", "stride", c.stride, 1, largest_image_px);
        if (windowed && c.kernel_w) require_between(problems(), pointer + "/kernel_w", "kernel_w", *c.kernel_w, 1, largest_image_px);
        if (windowed && c.padding) require_between(problems(), pointer + "/padding", "padding", *c.padding, 0, largest_image_px);
        const bool enlarges = c.kind == Kind::upsample || c.transposed;
        if (c.kind == Kind::conv) require_between(problems(), pointer + "/dilation", "dilation", c.dilation, 1, largest_image_px);
        if (c.kind == Kind::upsample) require_between(problems(), pointer + "/factor", "factor", c.stride, 1, largest_image_px);
        if (c.transposed && (c.groups > 1 || c.dilation > 1 || c.kernel_w))
            report(i, "a transposed convolution here is square, and neither grouped nor dilated");
        if (enlarges && std::max(x.height, x.width) * c.stride > largest_image_px)
            report(i, "the image would be larger than " + std::to_string(largest_image_px) + " pixels");
        if ((c.kind == Kind::conv || c.kind == Kind::pool || c.kind == Kind::upsample) && reads_features(i))
            report(i, "this layer needs an image, and features arrive here", "put it in front of the first dense layer");
        if (c.kind == Kind::conv || (c.kind == Kind::norm && c.norm == NormKind::group)) {
            require_between(problems(), pointer + "/groups", "groups", c.groups, 1, largest_extent);
            require_divides(problems(), pointer + "/groups", "groups", c.groups, "channels that arrive here", x.channels);
        }
        if (c.kind == Kind::conv) require_divides(problems(), pointer + "/groups", "groups", c.groups, "width", c.width);
        if (c.kind == Kind::activation) require_activation(problems(), pointer + "/function", c.function);
        return problems().list().size() == before;
    }

    Image layer(Layers& l, Image x, std::size_t i) {
        const ChainLayer& c = spec_.layers[i];
        switch (c.kind) {
            case Kind::dense: return l.linear("dense", flatten(x), c.width, c.bias);
            case Kind::conv:
                if (c.transposed) return transposed(l, x, i);
                return l.conv("conv", x,
                              {.out_channels = c.width,
                               .kernel = c.kernel,
                               .stride = c.stride,
                               .padding = c.padding,
                               .kernel_w = c.kernel_w,
                               .groups = c.groups,
                               .bias = c.bias,
                               .dilation = c.dilation});
            case Kind::norm: return l.norm("norm", x, c.norm, c.groups);
            case Kind::activation: return l.activation(x, c.function);
            case Kind::pool:
                if (c.pooling == PoolingKind::global_average) return l.global_pool(x);
                return l.pool(
                    "pool", x,
                    {.kind = c.pooling, .kernel = c.kernel, .stride = c.stride, .padding = c.padding.value_or(0), .round_up = c.round_up});
            case Kind::upsample: {
                Image larger = x;
                larger.height *= c.stride;
                larger.width *= c.stride;
                return l.enlarge(x, larger, c.upsampling);
            }
            case Kind::dropout: return l.dropout(x);
            case Kind::add:
            case Kind::concat:
            case Kind::multiply:
            case Kind::residual_begin:
            case Kind::residual_end: break;
        }
        return x;
    }

    Image transposed(Layers& l, Image x, std::size_t i) {
        const ChainLayer& c = spec_.layers[i];
        const std::int64_t overlap = std::max<std::int64_t>(0, c.kernel - c.stride), padding = c.padding.value_or((overlap + 1) / 2);
        // Where windows cannot lie evenly around, a pixel more behind makes the image `stride` times as large.
        const std::int64_t more = !c.padding && overlap % 2 == 1 && c.stride > 1 ? 1 : 0;
        const auto size = [&](std::int64_t n) { return (n - 1) * c.stride + c.kernel - 2 * padding + more; };
        if (std::min(size(x.height), size(x.width)) < 1) {
            report(i, "the image is too small: nothing of it is left inside the padding");
            return x;
        }
        const ConvLayer layer{.out_channels = c.width, .kernel = c.kernel, .stride = c.stride, .padding = padding, .bias = c.bias};
        return l.transposed_conv("conv", x, layer, size(x.height), size(x.width));
    }

    const ChainSpec& spec_;
    NetworkBuilder network_;
    std::vector<std::vector<int>> sources_;
    std::vector<int> last_readers_;  // of the data, then of each layer
    std::vector<bool> features_{};   // by layer: what it makes is no image
};

}  // namespace

Network build_chain(const ChainSpec& spec, const Shard& shard) {
    const std::string shape = "/workload/chain/input_shape";
    Diagnostics problems;
    check_shard(problems, shard);
    refuse_transformer_cuts(problems, shard, "a chain of layers");
    require_between(problems, "/workload/chain/classes", "classes", spec.classes, 1, largest_extent);
    if (spec.input_shape.size() != 1 && spec.input_shape.size() != 3)
        problems.add({.file = {},
                      .pointer = shape,
                      .what = "an input of " + std::to_string(spec.input_shape.size()) + " dimensions",
                      .hint = "[features] or [channels, height, width]"});
    for (std::size_t i = 0; i < spec.input_shape.size(); ++i)
        require_between(problems, shape + "/" + std::to_string(i), "extent", spec.input_shape[i], 1,
                        i == 0 ? largest_extent : largest_image_px);
    problems.throw_if_any();

    Image data{.channels = spec.input_shape.front()};
    if (spec.input_shape.size() == 3) {
        data.height = spec.input_shape[1];
        data.width = spec.input_shape[2];
    }
    const LayerContext context{.shard = shard, .size_pointer = "/workload/chain"};
    ChainBuilder(spec, context, data).build(false);  // throws; each block by itself, so that a problem is reported wherever it occurs
    return ChainBuilder(spec, context, data).build(true);
}

}  // namespace sextant
