// A user's own chain of layers. Behind the last of them stand a linear layer to the classes and the loss.
#include "model/workload/builders.hpp"
#include "model/workload/convolutional_layers.hpp"

#include <algorithm>

namespace sextant {
namespace {

using Kind = ChainLayer::Kind;

std::string pointer_to(std::size_t layer) { return "/workload/chain/layers/" + std::to_string(layer); }

std::string size_text(Image x) { return std::to_string(x.channels) + "x" + std::to_string(x.height) + "x" + std::to_string(x.width); }

// Layers [begin, end) that make one block.
struct Group {
    std::size_t begin, end;
    bool weighted;  // it has a layer with a matrix; else it is all there is in front of the classifier
};

// A block has one layer with a matrix, or one residual, and all behind it up to the next; the first also what stands in front of it. See
// NetworkBuilder.
std::vector<Group> groups_of(const std::vector<ChainLayer>& layers) {
    std::vector<Group> groups;
    Group open{0, 0, false};
    int depth = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const Kind kind = layers[i].kind;
        const bool weighted = kind == Kind::dense || kind == Kind::conv || kind == Kind::residual_begin;
        if (depth == 0 && open.weighted && weighted) {
            groups.push_back(open);
            open = {i, i, false};
        }
        if (kind == Kind::residual_begin) ++depth;
        if (kind == Kind::residual_end) depth = std::max(0, depth - 1);
        open.weighted |= weighted;
        open.end = i + 1;
    }
    groups.push_back(open);
    return groups;
}

std::string describe(const ChainLayer& l) {
    const auto window = [&] { return " " + std::to_string(l.kernel) + "x" + std::to_string(l.kernel) + "/" + std::to_string(l.stride); };
    const std::string biased = l.bias ? "" : " without bias";
    switch (l.kind) {
        case Kind::dense:
            return "dense " + std::to_string(l.width) + biased;
        case Kind::conv:
            return "conv " + std::to_string(l.width) + window() + (l.groups > 1 ? " in " + std::to_string(l.groups) + " groups" : "") +
                   biased;
        case Kind::norm:
            switch (l.norm) {
                case NormKind::layer:
                    return "layer norm";
                case NormKind::rms:
                    return "rms norm";
                case NormKind::batch:
                    return "batch norm";
                case NormKind::group:
                    return "group norm " + std::to_string(l.groups);
            }
            return "norm";
        case Kind::activation:
            return activation_name(l.function).value_or("?");
        case Kind::pool:
            if (l.pooling == PoolingKind::global_average) return "global pool";
            return (l.pooling == PoolingKind::max ? "max pool" : "average pool") + window();
        case Kind::dropout:
            return "dropout";
        case Kind::residual_begin:
            return "(";
        case Kind::residual_end:
            return ")";
    }
    return {};
}

class ChainBuilder {
public:
    ChainBuilder(const ChainSpec& spec, LayerContext context, Image data) : spec_(spec), network_(std::move(context), data) {
        const auto dense = std::ranges::find(spec.layers, Kind::dense, &ChainLayer::kind);
        if (spec.input_shape.size() == 3) image_until_ = static_cast<std::size_t>(dense - spec.layers.begin());
    }

    Network build(bool share_templates) && {
        std::vector<Group> groups = groups_of(spec_.layers);
        Group tail{spec_.layers.size(), spec_.layers.size(), false};
        if (!groups.back().weighted) {
            tail = groups.back();
            groups.pop_back();
        }
        for (const Group& g : groups) {
            std::string name = share_templates ? "" : std::to_string(g.begin) + ": ";
            for (std::size_t i = g.begin; i < g.end; ++i) name += (i == g.begin ? "" : ", ") + describe(spec_.layers[i]);
            network_.block(name, BlockRole::layer, [&](Layers& l, Image x) { return layers(l, x, g); });
        }
        network_.block("head", BlockRole::head, [&](Layers& l, Image x) { return l.classifier(layers(l, x, tail), spec_.classes); });
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
        problems().add({.file = {}, .pointer = pointer_to(layer), .what = std::move(what), .hint = std::move(hint)});
    }

    Image layers(Layers& l, Image x, const Group& group) {
        std::vector<Residual> open;
        for (std::size_t i = group.begin; i < group.end; ++i) {
            network_.context().size_pointer = pointer_to(i);
            const Kind kind = spec_.layers[i].kind;
            if (kind == Kind::residual_begin)
                open.push_back({i, x, problems().list().size()});
            else if (kind == Kind::residual_end)
                x = close(l, x, i, open);
            else if (usable(i, x))
                x = layer(l, x, i);
        }
        for (const Residual& r : open) report(r.begin, "residual_begin without a residual_end");
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
        const std::string pointer = pointer_to(i);
        const std::size_t before = problems().list().size();
        const bool windowed = c.kind == Kind::conv || (c.kind == Kind::pool && c.pooling != PoolingKind::global_average);
        if (c.kind == Kind::dense || c.kind == Kind::conv)
            require_between(problems(), pointer + "/width", "width", c.width, 1, largest_extent);
        if (windowed) require_between(problems(), pointer + "/kernel", "kernel", c.kernel, 1, largest_image_px);
        if (windowed) require_between(problems(), pointer + "/stride", "stride", c.stride, 1, largest_image_px);
        if ((c.kind == Kind::conv || c.kind == Kind::pool) && i >= image_until_)
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
            case Kind::dense:
                return l.linear("dense", flatten(x), c.width, c.bias);
            case Kind::conv:
                return l.conv("conv", x,
                              {.out_channels = c.width, .kernel = c.kernel, .stride = c.stride, .groups = c.groups, .bias = c.bias});
            case Kind::norm:
                return l.norm("norm", x, c.norm, c.groups);
            case Kind::activation:
                return l.activation(x, c.function);
            case Kind::pool:
                if (c.pooling == PoolingKind::global_average) return l.global_pool(x);
                return l.pool("pool", x, {.kind = c.pooling, .kernel = c.kernel, .stride = c.stride});
            case Kind::dropout:
                return l.dropout(x);
            case Kind::residual_begin:
            case Kind::residual_end:
                break;
        }
        return x;
    }

    const ChainSpec& spec_;
    NetworkBuilder network_;
    std::size_t image_until_ = 0;  // the first layer that reads features
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
