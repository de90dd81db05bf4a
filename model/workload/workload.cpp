#include "model/workload/workload.hpp"

#include "model/base/overloaded.hpp"
#include "model/workload/builders.hpp"

#include <algorithm>

namespace sextant {
namespace {

// Parameters that one token meets: of the routed experts, topk out of all.
double active_parameters(const Network& network, const MixtureOfExperts& moe) {
    const double share = static_cast<double>(moe.topk) / static_cast<double>(moe.experts);
    double sum = 0;
    for (const int index : network.sequence) {
        const OperatorGraph& graph = network.templates[index].graph;
        sum += graph.dense_parameters() + share * graph.expert_parameters();
    }
    return sum;
}

// Those that the network looks up, in whichever block: a decoder has tokens of its own. Modules that look ahead see the same ones again.
std::int64_t tokens_of(const GraphSpec& graph) {
    double tokens = 0;
    for (const Block& block : graph.network.templates)
        for (const TensorId id : block.graph.inputs()) {
            const auto looks_up = [&](const Operator& op) {
                const auto* table = std::get_if<Embedding>(&op.kind);
                return table != nullptr && table->ahead == 0 && !op.inputs.empty() && op.inputs.front() == id;
            };
            if (std::ranges::any_of(block.graph.operators(), looks_up)) tokens += block.graph.tensor(id).elements();
        }
    return static_cast<std::int64_t>(tokens);
}

Flops forward_flops(const Network& network) {
    Flops sum;
    for (const int index : network.sequence)
        for (const Operator& op : network.templates[index].graph.operators()) sum += sextant::forward_flops(op);
    return sum;
}

}  // namespace

std::int64_t Workload::tokens_per_sample() const {
    if (const auto* graph = std::get_if<GraphSpec>(&spec)) return tokens_of(*graph);
    const TransformerSpec* t = transformer();
    if (t == nullptr || t->kind == TransformerKind::vision) return 0;
    std::int64_t tokens = t->seq_len;
    if (t->kind == TransformerKind::encoder_decoder) tokens += t->decoder_seq_len > 0 ? t->decoder_seq_len : t->seq_len;
    return tokens;
}

std::string_view Workload::sample_word() const {
    return std::visit(Overloaded{
                          [](const TransformerSpec& t) { return t.kind == TransformerKind::vision ? "image" : "sequence"; },
                          [](const ConvolutionalSpec&) { return "image"; },
                          [](const GraphSpec& g) {
                              const OperatorGraph& first = g.network.block(0).graph;
                              if (tokens_of(g) > 0) return "sequence";
                              return first.tensor(first.inputs().front()).shape.size() == 4 ? "image" : "sample";
                          },
                          [](const auto&) { return "sample"; },
                      },
                      spec);
}

Network build_network(const Workload& workload, const Shard& shard) {
    return std::visit(Overloaded{
                          [&](const TransformerSpec& spec) { return build_transformer(spec, shard); },
                          [&](const ConvolutionalSpec& spec) { return build_convolutional(spec, shard); },
                          [&](const MlpSpec& spec) { return build_mlp(spec, shard); },
                          [&](const ChainSpec& spec) { return build_chain(spec, shard); },
                          [&](const GraphSpec& spec) { return build_graph(spec, shard); },
                      },
                      workload.spec);
}

bool Workload::pads_experts() const {
    const TransformerSpec* t = transformer();
    return t != nullptr && t->moe && t->moe->capacity_factor > 0;
}

Workload dropless(Workload w) {
    if (w.pads_experts()) std::get<TransformerSpec>(w.spec).moe->capacity_factor = 0;
    return w;
}

WorkloadSize size_of(const Workload& workload) {
    const Network network = build_network(dropless(workload), {});
    WorkloadSize size;
    size.parameters = size.active_parameters = network.parameters();
    const TransformerSpec* transformer = workload.transformer();
    if (transformer != nullptr && transformer->moe) size.active_parameters = active_parameters(network, *transformer->moe);
    for (const int index : network.sequence) size.trained_parameters += network.templates[index].graph.count_parameters(false).total();
    size.forward = forward_flops(network);
    return size;
}

}  // namespace sextant
