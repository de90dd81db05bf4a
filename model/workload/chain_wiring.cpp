#include "model/workload/chain_wiring.hpp"

#include "model/workload/images/layers.hpp"

#include <algorithm>
#include <map>

namespace sextant {
namespace {

using Kind = ChainLayer::Kind;

bool joins(Kind kind) { return kind == Kind::add || kind == Kind::concat || kind == Kind::multiply; }

class Wiring {
public:
    Wiring(const std::vector<ChainLayer>& layers, Diagnostics& problems) : layers_(layers), problems_(problems) {}

    std::vector<std::vector<int>> sources() {
        std::vector<std::vector<int>> all;
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            all.push_back(sources_of(i));
            add_name(i);
        }
        report_unread(all);
        return all;
    }

private:
    void report(std::size_t layer, const std::string& field, std::string what, std::string hint = {}) {
        problems_.add({.file = {}, .pointer = chain_pointer(layer) + field, .what = std::move(what), .hint = std::move(hint)});
    }

    std::vector<int> sources_of(std::size_t i) {
        const ChainLayer& layer = layers_[i];
        const int before = static_cast<int>(i) - 1;
        std::vector<int> found;
        for (std::size_t k = 0; k < layer.from.size(); ++k) {
            const auto named = numbers_.find(layer.from[k]);
            if (named == numbers_.end())
                report(i, "/from/" + std::to_string(k), "no layer before this one is called \"" + layer.from[k] + "\"",
                       "\"input\" is what the network reads");
            found.push_back(named == numbers_.end() ? before : named->second);
        }
        if (found.empty()) found.push_back(before);
        if (joins(layer.kind) && (found.size() < 2 || (layer.kind == Kind::multiply && found.size() > 2))) {
            report(i, "/from", layer.kind == Kind::multiply ? "a product has two operands" : "nothing to join: name two layers or more",
                   R"(as in {"add": {}, "from": ["a", "b"]})");
            found.resize(2, before);
        } else if (!joins(layer.kind) && found.size() > 1) {
            report(i, "/from", "this layer reads one image", R"(join them first, as in {"add": {}, "from": ["a", "b"]})");
            found = {found.front()};
        }
        return found;
    }

    void add_name(std::size_t i) {
        const std::string& name = layers_[i].name;
        if (name.empty()) return;
        if (!numbers_.emplace(name, static_cast<int>(i)).second) report(i, "/name", "\"" + name + "\" is taken");
    }

    void report_unread(const std::vector<std::vector<int>>& sources) {
        std::vector<bool> read(layers_.size());
        for (const std::vector<int>& of_layer : sources)
            for (const int s : of_layer)
                if (s >= 0) read[static_cast<std::size_t>(s)] = true;
        for (std::size_t i = 0; i + 1 < layers_.size(); ++i)
            if (!read[i]) report(i, "", "no layer reads what this one makes", "the last layer is what the classifier reads");
    }

    const std::vector<ChainLayer>& layers_;
    Diagnostics& problems_;
    std::map<std::string, int> numbers_{{"input", chain_data}};
};

std::string words_of(const ChainLayer& l) {
    const auto window = [&] {
        std::string text =
            " " + std::to_string(l.kernel) + "x" + std::to_string(l.kernel_w.value_or(l.kernel)) + "/" + std::to_string(l.stride);
        if (l.padding) text += " padded by " + std::to_string(*l.padding);
        if (l.dilation > 1) text += " dilated by " + std::to_string(l.dilation);
        return text + (l.round_up ? " rounded up" : "");
    };
    const std::string biased = l.bias ? "" : " without bias";
    switch (l.kind) {
        case Kind::dense: return "dense " + std::to_string(l.width) + biased;
        case Kind::conv:
            return (l.transposed ? "transposed conv " : "conv ") + std::to_string(l.width) + window() +
                   (l.groups > 1 ? " in " + std::to_string(l.groups) + " groups" : "") + biased;
        case Kind::norm:
            switch (l.norm) {
                case NormKind::layer: return "layer norm";
                case NormKind::rms: return "rms norm";
                case NormKind::batch: return "batch norm";
                case NormKind::group: return "group norm " + std::to_string(l.groups);
            }
            return "norm";
        case Kind::activation: return activation_name(l.function).value_or("?");
        case Kind::pool:
            if (l.pooling == PoolingKind::global_average) return "global pool";
            return (l.pooling == PoolingKind::max ? "max pool" : "average pool") + window();
        case Kind::upsample: return (l.upsampling == PointwiseKind::repeat ? "nearest " : "bilinear ") + std::to_string(l.stride);
        case Kind::dropout: return "dropout";
        case Kind::add: return "add";
        case Kind::concat: return "concat";
        case Kind::multiply: return "multiply";
        case Kind::residual_begin: return "(";
        case Kind::residual_end: return ")";
    }
    return {};
}

// For each layer, how many times the image that it makes has been made larger on its way.
std::vector<int> enlargements(const std::vector<ChainLayer>& layers, const std::vector<std::vector<int>>& sources) {
    std::vector<int> times;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        int most = layers[i].transposed || layers[i].kind == Kind::upsample ? 1 : 0;
        const int here = most;
        for (const int s : sources[i])
            if (s >= 0) most = std::max(most, here + times[static_cast<std::size_t>(s)]);
        times.push_back(most);
    }
    return times;
}

}  // namespace

std::vector<std::vector<int>> chain_sources(const std::vector<ChainLayer>& layers, Diagnostics& problems) {
    return Wiring(layers, problems).sources();
}

std::vector<int> last_readers(const std::vector<std::vector<int>>& sources) {
    std::vector<int> last(sources.size() + 1, chain_data);
    for (std::size_t i = 0; i < sources.size(); ++i)
        for (const int s : sources[i]) last[static_cast<std::size_t>(s + 1)] = static_cast<int>(i);
    return last;
}

std::vector<ChainGroup> chain_groups(const std::vector<ChainLayer>& layers, const std::vector<std::vector<int>>& sources) {
    const std::vector<int> enlarged = enlargements(layers, sources);
    std::vector<std::vector<int>> held;  // of what each layer reads, that which goes past no block
    for (std::size_t i = 0; i < layers.size(); ++i) {
        held.push_back(sources[i]);
        if (sources[i].size() > 1)
            std::erase_if(held.back(), [&](int s) { return (s < 0 ? 0 : enlarged[static_cast<std::size_t>(s)]) < enlarged[i]; });
    }
    const std::vector<int> last_reader = last_readers(held);
    std::vector<ChainGroup> groups;
    ChainGroup open;
    int depth = 0, needed_until = chain_data;  // of what was made before the layer before
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const Kind kind = layers[i].kind;
        const bool weighted = kind == Kind::dense || kind == Kind::conv || kind == Kind::residual_begin;
        if (i > 0) needed_until = std::max(needed_until, last_reader[i - 1]);
        if (depth == 0 && open.weighted && weighted && needed_until < static_cast<int>(i)) {
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

std::string chain_pointer(std::size_t layer) { return "/workload/chain/layers/" + std::to_string(layer); }

std::string describe(const ChainLayer& layer, int number, const std::vector<int>& sources) {
    std::string text = words_of(layer);
    if (sources == std::vector{number - 1}) return text;
    text += " of";
    for (const int s : sources) text += " -" + std::to_string(number - s);
    return text;
}

}  // namespace sextant
