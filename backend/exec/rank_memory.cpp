#include "backend/exec/rank_memory.hpp"

#include <set>

namespace sextant {
namespace {

std::set<int> blocks_of(const TaskGraph& graph, GraphRank rank) {
    std::set<int> blocks;
    if (graph.ranks()[rank].server)
        for (std::size_t b = 0; b < graph.blocks().size(); ++b) blocks.insert(static_cast<int>(b));
    for (const Segment& s : graph.segments())
        if (const auto* work = std::get_if<ComputeWork>(&graph.works()[s.work]); work != nullptr && s.rank == rank)
            for (int b = work->first_block; b < work->first_block + work->count; ++b) blocks.insert(b);
    return blocks;
}

const OperatorGraph& graph_of(const Network& network, int block) {
    return network.templates[static_cast<std::size_t>(network.sequence[static_cast<std::size_t>(block)])].graph;
}

}  // namespace

RankMemory::RankMemory(ComputeDevice& device, const TaskGraph& graph, GraphRank rank, const Network& serial, const Plan& plan,
                       const BlockCut& cut, ShardCut shard, GradientFlow flow)
    : device_(device), shard_(shard), flow_(flow) {
    const std::set<int> here = blocks_of(graph, rank);
    const Element element = element_of(plan.precision.parameter);
    std::int64_t all = 0;
    for (const int b : here) {
        const BlockOptions options{.block = b,
                                   .samples = plan.micro_batch,
                                   .cut = cut,
                                   .input_gradients = b > 0,
                                   .recomputed = graph.blocks()[static_cast<std::size_t>(b)].recomputed,
                                   .element = element};
        HeldBlock held{.program = BlockProgram(graph_of(graph.network(), b), graph_of(serial, b), plan, options)};
        held.own = held.program.own_elements();
        held.tied_copy = here.contains(0) ? 0 : held.program.tied_elements();
        const std::int64_t used = held.own + held.tied_copy;
        held.elements = (used + shard.ranks - 1) / shard.ranks * shard.ranks;
        all += held.elements;
        blocks_.emplace(b, std::move(held));
    }
    const Array run = flow.sharded || plan.forward_only ? Array{} : device.allocate(all);
    std::int64_t offset = 0;
    for (auto& [b, held] : blocks_) {
        const std::int64_t part = held.elements / shard.ranks;
        if (!flow.sharded_parameters) held.weights = device.allocate(held.elements, element);
        held.owned = flow.sharded_parameters ? device.allocate(part, element) : held.weights.part(shard.rank * part, part);
        if (plan.forward_only) continue;
        if (run) held.gradients = run.part(offset, held.elements);
        held.sums = flow.sharded || (flow.accumulates && !flow.served) ? device.allocate(part) : held.gradients;
        offset += held.elements;
        const bool updates = !plan.without_optimizer && !flow.served;
        if (updates && element != Element::real) held.masters = device.allocate(part);
        const int states = updates ? facts_of(plan.optimizer).states : 0;
        for (int i = 0; i < states; ++i) {
            held.states.push_back(device.allocate(part));
            device.fill(held.states.back(), 0);
        }
    }
    clear_gradients();
}

void RankMemory::draw_weights(std::uint64_t seed) {
    for (auto& [b, held] : blocks_) {
        // In fp32: where there is room for all of it, it stays.
        Array whole;
        for (const Array& room : {held.weights, held.masters})
            if (room.element == Element::real && room.elements == held.elements) whole = room;
        if (!whole) whole = device_.allocate(held.elements);
        device_.fill(whole, 0);
        held.program.draw_weights(device_, seed, split(b, whole, {}));
        const auto put = [&](const Array& from, const Array& to) {
            if (to && to.memory != from.memory) device_.copy(from, to);
        };
        const Array owned = whole.part(shard_.rank * held.owned.elements, held.owned.elements);
        put(whole, held.weights);
        put(owned, held.masters);
        if (!held.weights) put(owned, held.owned);
    }
}

ParameterArrays RankMemory::split(int b, const Array& run, const Array& embedding) const {
    const HeldBlock& held = blocks_.at(b);
    ParameterArrays arrays{run.part(0, held.own), {}};
    const std::int64_t tied = held.program.tied_elements();
    if (tied > 0) arrays.tied = held.tied_copy > 0 ? run.part(held.own, tied) : embedding.part(0, tied);
    return arrays;
}

ParameterArrays RankMemory::weights_of(int b, const Array& weights) {
    return split(b, weights, blocks_.contains(0) ? blocks_.at(0).weights : Array{});
}

ParameterArrays RankMemory::gradients_of(int b) {
    const auto make = [&](HeldBlock& held) {
        if (held.gradients) return;
        held.gradients = device_.allocate(held.elements);
        device_.fill(held.gradients, 0);
    };
    HeldBlock& held = blocks_.at(b);
    make(held);
    const bool elsewhere = held.program.tied_elements() > held.tied_copy;
    if (elsewhere) make(blocks_.at(0));
    return split(b, held.gradients, elsewhere ? blocks_.at(0).gradients : Array{});
}

Array RankMemory::gradient_run(int first, int count) {
    const Array begin = blocks_.at(first).gradients;
    std::int64_t elements = 0;
    for (int b = first; b < first + count; ++b) elements += blocks_.at(b).elements;
    return begin.part(0, elements);
}

void RankMemory::settle(int b) {
    HeldBlock& held = blocks_.at(b);
    if (flow_.sharded) {
        device_.add(held.sums, held.received, held.sums);
        held.received = held.gradients = {};
    } else if (flow_.accumulates) {
        if (!flow_.served) device_.add(held.sums, held.gradients, held.sums);
        device_.fill(held.gradients, 0);
    }
}

void RankMemory::clear_gradients() {
    for (auto& [b, held] : blocks_) {
        if (held.gradients) device_.fill(held.gradients, 0);
        if (held.sums && held.sums.memory != held.gradients.memory) device_.fill(held.sums, 0);
    }
}

void RankMemory::update(ComputeDevice& device, const OptimizerSettings& settings, int step) {
    for (auto& [b, held] : blocks_) {
        if (held.elements == 0) continue;
        const Array& weights = held.masters ? held.masters : held.owned;
        if (settings.kind != Optimizer::lamb) {
            device.update(settings, step, weights, held.sums, held.states);
            if (held.masters) device.copy(held.masters, held.owned);
            continue;
        }
        for (const ParameterTensor& p : held.program.parameters()) {
            if (p.tied && held.tied_copy == 0) continue;
            const std::int64_t at = p.offset + (p.tied ? held.own : 0);
            std::vector<Array> states;
            for (const Array& s : held.states) states.push_back(s.part(at, p.elements()));
            device.update(settings, step, weights.part(at, p.elements()), held.sums.part(at, p.elements()), states);
        }
        if (held.masters) device.copy(held.masters, held.owned);
    }
}

}  // namespace sextant
