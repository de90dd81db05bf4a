#include "backend/exec/rank_memory.hpp"

#include "backend/exec/rank_plan.hpp"
#include "model/base/ceil_divide.hpp"

#include <algorithm>

namespace sextant {
namespace {

const OperatorGraph& graph_of(const Network& network, int block) {
    return network.templates[static_cast<std::size_t>(network.sequence[static_cast<std::size_t>(block)])].graph;
}

bool uses_shared_matrix(const OperatorGraph& graph) {
    return std::ranges::any_of(graph.operators(), [](const Operator& op) { return op.shared.has_value(); });
}

// Of matrices that have none yet. How many elements of copies lie behind the block's dense and frozen parameters.
std::array<std::int64_t, 2> find_homes(SharedHomes& homes, const BlockProgram& program, int b) {
    std::array<std::int64_t, 2> copies{};
    for (const ParameterTensor& p : program.parameters()) {
        if (!p.matrix || homes[*p.matrix]) continue;
        const bool copied = p.run == RunKind::tied;
        std::int64_t& behind = copies[p.frozen ? 1 : 0];
        const std::int64_t offset = copied ? program.elements(p.frozen ? RunKind::frozen : RunKind::own) + behind : p.offset;
        if (copied) behind += p.elements();
        homes[*p.matrix] = {b, p.frozen ? &HeldBlock::frozen : &HeldBlock::dense, offset, p.elements(), copied};
    }
    return copies;
}

ParameterRun run_of(std::int64_t own, std::int64_t copies, ShardCut shard, bool sharded) {
    const std::int64_t used = own + copies;
    return {.own = own, .elements = ceil_divide(used, shard.ranks) * shard.ranks, .shard = shard, .sharded = sharded};
}

}  // namespace

SharedHome::Part SharedHome::part_of(ShardCut shard) const {
    const std::int64_t part = of_run / shard.ranks, begin = shard.rank * part - offset;
    const std::int64_t first = std::clamp<std::int64_t>(begin, 0, elements), last = std::clamp<std::int64_t>(begin + part, 0, elements);
    return {first, last - first};
}

RankMemory::RankMemory(ComputeDevice& device, const Job& job, GraphRank rank, const BlockCut& cut, const RunShards& shards,
                       GradientFlow flow, ComputeDevice* host)
    : device_(device), host_(host), flow_(flow) {
    const TaskGraph& graph = job.graph;
    const Plan& plan = job.scenario.plan;
    const auto make = [&](int b, SharedHomes& homes) {
        const BlockOptions options{.block = b,
                                   .samples = plan.micro_batch,
                                   .cut = cut,
                                   .input_gradients = b > 0,
                                   .recomputed = graph.blocks()[static_cast<std::size_t>(b)].recomputed,
                                   .element = job.element()};
        HeldBlock held{.program = BlockProgram(graph_of(graph.network(), b), graph_of(job.serial, b), plan, options)};
        const std::int64_t dense = held.program.elements(RunKind::own), frozen = held.program.elements(RunKind::frozen);
        const auto [dense_copies, frozen_copies] = find_homes(homes, held.program, b);
        held.dense = run_of(dense, dense_copies, shards.dense, flow.sharded);
        held.experts = run_of(held.program.elements(RunKind::experts), 0, shards.experts, flow.sharded && shards.experts.ranks > 1);
        held.frozen = run_of(frozen, frozen_copies, flow.sharded_parameters ? shards.dense : ShardCut{}, flow.sharded_parameters);
        held.biases = run_of(held.program.elements(RunKind::biases), 0, {}, false);
        for (std::optional<SharedHome>& home : homes)
            if (home && home->block == b) home->of_run = (held.*home->run).elements;
        return held;
    };
    for (const int b : blocks_of(graph, rank)) blocks_.emplace(b, make(b, homes_));
    std::set<int> stages{graph.ranks()[rank].stage};
    for (GraphRank other = 0; other < graph.ranks().size(); ++other) {
        const RankInfo& there = graph.ranks()[other];
        if (there.server || !stages.insert(there.stage).second) continue;
        for (const int b : blocks_of(graph, other))
            if (uses_shared_matrix(graph_of(graph.network(), b))) make(b, homes_elsewhere_[there.stage]);
    }
    make_room(&HeldBlock::dense, plan, !plan.forward_only);
    make_room(&HeldBlock::experts, plan, !plan.forward_only);
    make_room(&HeldBlock::frozen, plan, false);
    make_room(&HeldBlock::biases, plan, false);
}

void RankMemory::make_room(ParameterRun HeldBlock::*of, const Plan& plan, bool trained) {
    const Element element = of == &HeldBlock::biases ? Element::real : element_of(plan.precision.parameter);
    std::int64_t all = 0;
    for (const auto& [b, held] : blocks_) all += (held.*of).elements;
    if (all == 0) return;
    const bool offloads = host_ != nullptr && plan.offloads_parameters();
    for (auto& [b, held] : blocks_) (held.*of).sums_apart = flow_.sums_apart && ((held.*of).sharded || !flow_.sharded);
    const Array gradients = (blocks_.begin()->second.*of).passes() || !trained ? Array{} : device_.allocate(all);
    std::int64_t offset = 0;
    for (auto& [b, held] : blocks_) {
        ParameterRun& run = held.*of;
        const std::int64_t part = run.elements / run.shard.ranks;
        const bool gathered = flow_.sharded_parameters && run.sharded;
        // A rank that is alone is a shard of one. Experts that it shares with nobody stay, as do biases.
        const bool parks = offloads && (gathered || of == &HeldBlock::dense || of == &HeldBlock::frozen);
        if (!gathered && !parks) run.weights = device_.allocate(run.elements, element);
        run.owned = run.weights ? run.weights.part(run.shard.rank * part, part) : Array{nullptr, part, element};
        if (gathered && !parks) run.owned = device_.allocate(part, element);
        if (trained) {
            if (gradients) run.gradients = gradients.part(offset, run.elements);
            run.sums = run.sums_apart ? device_.allocate(part) : run.sharded ? run.owned_in(run.gradients) : run.gradients;
            offset += run.elements;
            if (!plan.without_optimizer && !flow_.served) make_room_to_update(run, part, plan);
        }
        if (parks) run.offloaded = run.masters && element == Element::real ? run.masters : host_->allocate(part, element);
    }
}

void RankMemory::make_room_to_update(ParameterRun& run, std::int64_t part, const Plan& plan) {
    ComputeDevice& device = updater(device_);
    if (host_ != nullptr) run.host_staging = device.allocate(part);
    if (host_ != nullptr || run.owned.element != Element::real) run.masters = device.allocate(part);
    for (int i = 0; i < facts_of(plan.optimizer).states; ++i) {
        run.states.push_back(device.allocate(part));
        device.fill(run.states.back(), 0);
    }
}

void RankMemory::draw_weights(std::uint64_t seed) {
    for (auto& [b, held] : blocks_) {
        const Array dense = room_for(held.dense), experts = room_for(held.experts), frozen = room_for(held.frozen);
        const auto room = [&, mine = b](int block) { return block == mine ? RunArrays{dense, experts, frozen} : RunArrays{}; };
        held.program.draw_weights(device_, seed, split(b, room));
        put(held.dense, dense);
        put(held.experts, experts);
        put(held.frozen, frozen);
    }
    clear_gradients();
}

// For all of a run, in fp32: where there is room for that, it stays; or in the place of its gradients.
Array RankMemory::room_for(const ParameterRun& run) {
    Array whole;
    for (const Array& room : {run.gradients, run.weights, host_ == nullptr ? run.masters : Array{}})
        if (room.element == Element::real && room.elements == run.elements) whole = room;
    if (!whole) whole = device_.allocate(run.elements);
    device_.fill(whole, 0);
    return whole;
}

void RankMemory::put(const ParameterRun& run, const Array& whole) {
    const auto copy = [&](const Array& from, const Array& to) {
        if (to && to.memory != from.memory) device_.copy(from, to);
    };
    const Array owned = run.owned_in(whole);
    copy(whole, run.weights);
    if (run.host_staging)
        device_.download(owned, run.masters.memory.get());
    else
        copy(owned, run.masters);
    if (run.offloaded) {
        Array rounded = owned;
        if (run.owned.element != Element::real) device_.copy(owned, rounded = device_.allocate(owned.elements, run.owned.element));
        device_.download(rounded, run.offloaded.memory.get());
    } else if (!run.weights) {
        copy(owned, run.owned);
    }
}

ParameterArrays RankMemory::split(int b, const std::function<RunArrays(int block)>& of) const {
    const HeldBlock& held = blocks_.at(b);
    const RunArrays mine = of(b);
    ParameterArrays arrays{mine.dense.part(0, held.dense.own), {}, mine.experts, mine.frozen.part(0, held.frozen.own), held.biases.weights};
    for (const ParameterTensor& p : held.program.parameters()) {
        if (p.run != RunKind::tied) continue;
        const SharedHome& home = *this->home(*p.matrix);
        const RunArrays there = of(home.block);
        const Array& in = home.run == &HeldBlock::frozen ? there.frozen : there.dense;
        if (in) arrays.tied[*p.matrix] = in.part(home.offset, home.elements);
    }
    return arrays;
}

ParameterArrays RankMemory::weights_of(int b, const std::function<GatheredWeights(int block)>& gathered) {
    return split(b, [&](int block) -> RunArrays {
        const HeldBlock& held = blocks_.at(block);
        const auto [dense, experts] = gathered(block);
        const Array& of_experts = experts ? experts : held.experts.weights;
        if (!dense) return {held.dense.weights, of_experts, held.frozen.weights};
        return {dense.part(0, held.dense.elements), of_experts, dense.part(held.dense.elements, held.frozen.elements)};
    });
}

ParameterArrays RankMemory::gradients_of(int b) {
    const auto make = [&](ParameterRun& run) {
        if (run.gradients || run.elements == 0) return;
        run.gradients = device_.allocate(run.elements);
        device_.fill(run.gradients, 0);
    };
    HeldBlock& held = blocks_.at(b);
    for (ParameterRun* run : held.runs()) make(*run);
    for (const ParameterTensor& p : held.program.parameters())
        if (p.run == RunKind::tied && !p.frozen) make(blocks_.at(home(*p.matrix)->block).dense);
    return split(b, [&](int block) -> RunArrays {
        const HeldBlock& of = blocks_.at(block);
        return {of.dense.gradients, of.experts.gradients, {}};
    });
}

Array RankMemory::gradient_run(int first, int count, ParameterRun HeldBlock::*of) {
    const Array begin = (blocks_.at(first).*of).gradients;
    std::int64_t elements = 0;
    for (int b = first; b < first + count; ++b) elements += (blocks_.at(b).*of).elements;
    return begin.part(0, elements);
}

GatheredWeights RankMemory::fetch(int b) {
    HeldBlock& held = blocks_.at(b);
    GatheredWeights whole;
    const std::int64_t dense = held.dense.elements, frozen = held.frozen.elements;
    whole.dense = device_.allocate(dense + frozen, held.dense.owned.element);
    if (dense > 0) upload_owned(held.dense, whole.dense.part(0, dense));
    if (frozen > 0) upload_owned(held.frozen, whole.dense.part(dense, frozen));
    if (!held.experts.offloaded) return whole;
    whole.experts = device_.allocate(held.experts.elements, held.experts.owned.element);
    upload_owned(held.experts, whole.experts);
    return whole;
}

void RankMemory::fetch_all() {
    for (auto& [b, held] : blocks_)
        for (ParameterRun* run : {&held.dense, &held.experts, &held.frozen})
            if (run->offloaded) upload_owned(*run, run->weights = device_.allocate(run->elements, run->owned.element));
}

void RankMemory::upload_owned(const ParameterRun& run, const Array& whole) {
    device_.upload(run.offloaded.memory.get(), run.owned_in(whole));
}

void RankMemory::settle(int b) {
    for (ParameterRun* run : blocks_.at(b).runs())
        if (run->elements > 0) settle(*run);
}

void RankMemory::settle(ParameterRun& run) {
    if (run.sums_apart) device_.add(run.sums, run.owned_in(run.gradients), run.sums);
    if (run.passes())
        run.gradients = {};
    else if (run.sums_apart || flow_.served)
        device_.fill(run.gradients, 0);
}

void RankMemory::clear_gradients() {
    for (auto& [b, held] : blocks_)
        for (ParameterRun* run : held.runs()) {
            if (run->gradients) device_.fill(run->gradients, 0);
            if (run->sums && run->sums_apart) device_.fill(run->sums, 0);
        }
}

void RankMemory::update(ComputeDevice& device, const OptimizerSettings& settings, int step) {
    copy_gradients_to_host();
    for (auto& [b, held] : blocks_)
        for (const ParameterRun* run : held.runs())
            if (run->elements > 0) updater(device).update(settings, step, run->updated(), run->updates_with(), run->states);
    take_masters(device);
}

void RankMemory::copy_gradients_to_host() {
    for (auto& [b, held] : blocks_)
        for (const ParameterRun* run : held.runs())
            if (run->host_staging) device_.download(run->sums, run->host_staging.memory.get());
}

// The host rounds what the device keeps in fewer bits, so that no more than these come up. They may be on their way until the step ends:
// nobody writes there before the next one's gradients have come.
void RankMemory::take_masters(ComputeDevice& device) {
    for (auto& [b, held] : blocks_)
        for (const ParameterRun* run : held.runs()) {
            if (!run->masters) continue;
            if (!run->host_staging) {
                device.copy(run->masters, run->owned);
                continue;
            }
            Array weights = run->masters;
            if (run->owned.element != Element::real) {
                weights = run->offloaded ? run->offloaded : Array{run->host_staging.memory, run->owned.elements, run->owned.element};
                host_->copy(run->masters, weights);
            }
            if (!run->offloaded) device_.upload(weights.memory.get(), run->owned);
        }
}

}  // namespace sextant
