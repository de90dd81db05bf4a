#include "model/predict/plan_pricer.hpp"

#include "model/plan/framework_defaults.hpp"
#include "model/predict/mixed_devices.hpp"
#include "model/predict/prepare.hpp"

#include <algorithm>

namespace sextant {
namespace {

bool same_cut(const Plan& a, const Plan& b) { return a.tp == b.tp && a.cp == b.cp && a.ep == b.ep && a.expert_tp == b.expert_tp; }

}  // namespace

PlanPricer::PlanPricer(const Scenario& job, const Topology& topology, KnownOrders& orders)
    : topology_(topology), orders_(orders), state_(prepare_machine(job)) {
    state_.nodes.count = topology.nodes();
}

void PlanPricer::lay_out(const Plan& plan) {
    swap_layout();
    swap_split();
    layout_ = nullptr;
    split_ = nullptr;
    placed_stages_ = nullptr;
    share_ = nullptr;
    layouts_.clear();
    const Plan& before = state_.scenario.plan;
    const bool stands_elsewhere = same_cut(plan, before) && plan.pp == before.pp && plan.dp == before.dp;
    if (!stands_elsewhere) splits_.clear();
    if (!same_cut(plan, before)) {
        swap_shape();
        shape_ = nullptr;
        shapes_.clear();
        in_layers_.clear();
        network_.reset();
    }
    state_.scenario.plan = plan;
    state_.bucket_rule = bucket_rule(plan, state_.scenario.framework, state_.precision);
}

bool PlanPricer::shape(const Plan& plan) {
    Plan& now = state_.scenario.plan;
    now.micro_batch = plan.micro_batch;
    now.sequence_parallel = plan.sequence_parallel;
    // Blocks list the kernels of a recompute whether or not any block is recomputed.
    const bool selective = plan.recompute == Recompute::selective;
    now.recompute = selective ? Recompute::selective : Recompute::full;
    state_.micro_batches = std::max<std::int64_t>(1, now.micro_batches());
    const bool accumulates = state_.micro_batches > 1;  // gradients are added to those of the micro-batch before
    const ShapeKey key{now.micro_batch, now.sequence_parallel, selective, accumulates};
    if (shape_ && key == shape_key_) return shape_->divides;
    shape_key_ = key;
    for (auto& [sharing, layout] : layouts_) {
        layout.sends.reset();
        layout.works = {};
    }
    swap_shape();
    const auto [entry, is_new] = shapes_.try_emplace(shape_key_);
    if (is_new) entry->second = make_shape();
    shape_ = &entry->second;
    swap_shape();
    if (const auto& slow = state_.scenario.straggler; shape_->divides && slow && slow->device) apply_shape_to_devices();
    return shape_->divides;
}

// What the devices of a job on two kinds are worth together depends on the kernels.
void PlanPricer::apply_shape_to_devices() {
    state_.scenario.straggler->speed = shape_->slow_speed;
    state_.rates = shape_->rates;
    for (auto& [key, split] : splits_) split.shares.clear();
    share_ = nullptr;
}

// A network that does not divide for a micro-batch does not divide for a larger one that is cut in the same way. (One that does, and has
// templates, cannot be where the devices called slow are faster at it.)
bool PlanPricer::may_divide() const {
    const Plan& now = state_.scenario.plan;
    return std::ranges::none_of(shapes_, [&](const auto& known) {
        const auto& [micro_batch, sequence_parallel, selective, accumulates] = known.first;
        return !known.second.divides && known.second.templates.empty() && micro_batch <= now.micro_batch &&
               sequence_parallel == now.sequence_parallel;
    });
}

PlanPricer::Shape PlanPricer::make_shape() {
    Shape shape;
    shape.divides = may_divide();
    if (!shape.divides) return shape;
    try {
        Network network = cut_network(state_.scenario);
        shape.templates = kernels_of(network, state_);
        apply_mixed_devices(state_, network);
        state_.rates.kept = kept_bytes(state_, network, shape.templates);
        if (!network_) {
            state_.roles.clear();
            for (const Block& block : network.templates) state_.roles.push_back(block.role);
            network_ = std::move(network);
        }
    } catch (const InputError&) {
        shape.divides = false;
    }
    if (const auto& slow = state_.scenario.straggler; slow && slow->device) {
        shape.slow_speed = slow->speed;
        shape.rates = state_.rates;
    }
    return shape;
}

void PlanPricer::schedule(const Plan& plan) {
    Plan& now = state_.scenario.plan;
    now.schedule = plan.schedule;
    now.vpp = plan.vpp;
    now.stage_blocks = plan.stage_blocks;
    swap_split();
    const auto [entry, is_new] = splits_.try_emplace({weights_apart(plan.schedule), plan.vpp, plan.stage_blocks});
    if (is_new) entry->second = make_split();
    split_ = &entry->second;
    swap_split();
    placed_stages_ = nullptr;
    share_ = nullptr;
    in_flight_ = &split_->in_flight[{plan.schedule, shape_key_}];
    in_flight_->resize(static_cast<std::size_t>(split_->layers) + 1);
}

PlanPricer::Split PlanPricer::make_split() const {
    Split split;
    split.stages = split_stages(*network_, state_.scenario.plan);
    split.chunks = chunks_of(*network_, block_parameters(*network_, state_.scenario.plan), state_);
    const auto same_blocks = [](const ChunkBlocks& a, const ChunkBlocks& b) {
        return std::ranges::equal(a.blocks, b.blocks, {}, &ChunkBlocks::Block::block_template, &ChunkBlocks::Block::block_template);
    };
    for (std::size_t s = 0; s < split.stages.size(); ++s) {
        split.as_before.push_back(s > 0 && std::ranges::equal(split.chunks[s], split.chunks[s - 1], same_blocks));
        if (!split.as_before[s] || weights_apart(state_.scenario.plan.schedule) != WeightsApart::in_none) split.candidates.push_back(s);
        split.layers = std::max(split.layers, split.stages[s].layers);
    }
    return split;
}

void PlanPricer::share(DataParallel data_parallel, std::optional<int> shard_group, Offload offload) {
    Plan& now = state_.scenario.plan;
    const LayoutKey before = layout_key(now);
    now.data_parallel = data_parallel;
    now.shard_group = shard_group;
    now.offload = offload;
    state_.added_gradients = added_gradients(now, state_.scenario.framework);
    // What was looked up for another way of sharing no longer holds.
    share_ = nullptr;
    if (layout_key(now) == before) return;
    swap_layout();
    layout_ = nullptr;
    placed_stages_ = nullptr;
}

void PlanPricer::recompute(Recompute kind, int blocks) {
    Plan& now = state_.scenario.plan;
    now.recompute = kind;
    now.recompute_blocks = blocks;
    const int most = recomputed_layers(now, split_->layers);
    for (StageBlocks& stage : state_.stages) stage.recomputed_layers = std::min(most, stage.layers);
}

const std::vector<KernelTimes>& PlanPricer::kernels() {
    std::vector<KernelTimes>& kernels = shape_->kernels[state_.added_gradients];
    if (kernels.empty()) kernels = kernel_times(state_, {});
    return kernels;
}

const std::vector<PlanPricer::BlockTime>& PlanPricer::times_of_kernels(double added_gradients) {
    std::vector<BlockTime>& times = shape_->times[added_gradients];
    if (!times.empty()) return times;
    const double at_hand = std::exchange(state_.added_gradients, added_gradients);
    const std::vector<KernelTimes>& kernels = this->kernels();
    for (std::size_t t = 0; t < kernels.size(); ++t) {
        const SegmentPrice alone = price_block(state_.templates[t], kernels[t], state_, {}, {});
        times.push_back({alone.forward.device, alone.backward.device, alone.recompute.device});
    }
    state_.added_gradients = at_hand;
    return times;
}

std::vector<Seconds> PlanPricer::block_times() {
    const std::vector<BlockTime>& of_templates = times_of_kernels(1);
    std::vector<Seconds> times;
    for (const int t : network_->sequence) {
        const BlockTime& block = of_templates[static_cast<std::size_t>(t)];
        times.push_back(block.forward + block.backward);
    }
    return times;
}

PlanPricer::Layout& PlanPricer::layout(GroupScope laid) {
    if (layout_ && layout_->laid >= laid) return *layout_;
    swap_layout();
    const Plan& plan = state_.scenario.plan;
    const auto [entry, is_new] = layouts_.try_emplace(layout_key(plan));
    if (is_new || entry->second.laid < laid) entry->second = make_layout(laid);
    layout_ = &entry->second;
    swap_layout();
    return *layout_;
}

PlanPricer::Layout PlanPricer::make_layout(GroupScope laid) {
    Layout layout;
    layout.laid = laid;
    layout.groups = lay_groups(state_.scenario, topology_, laid);
    for (const JobGroups& groups : layout.groups.kinds) {
        const auto known = std::ranges::find_if(in_layers_, [&](const JobGroups& g) { return same_in_layers(g, groups); });
        layout.in_layers.push_back(static_cast<std::size_t>(known - in_layers_.begin()));
        if (known == in_layers_.end()) in_layers_.push_back(groups);
    }
    return layout;
}

const PlanPricer::Share& PlanPricer::share() {
    if (share_) return *share_;
    const Plan& plan = state_.scenario.plan;
    const Share::Key key{plan.data_parallel, plan.shard_group, plan.offload, gradient_accumulation(plan, state_.micro_batches)};
    const auto known = std::ranges::find(split_->shares, key, &Share::key);
    share_ = known != split_->shares.end() ? &*known : &split_->shares.emplace_back(make_share(key));
    return *share_;
}

PlanPricer::Share PlanPricer::make_share(const Share::Key& key) const {
    Share share{key, {}, {}, {}};
    for (std::size_t s = 0; s < state_.stages.size(); ++s) {
        const bool as_before = split_->as_before[s];
        share.held.push_back(as_before ? share.held.back() : held_bytes(state_, s));
        share.on_host.push_back(as_before ? share.on_host.back() : host_states(state_, s));
        share.updates.push_back(as_before ? share.updates.back() : update_time(state_, s, {}));
    }
    return share;
}

const std::vector<InFlightBytes>& PlanPricer::in_flight() {
    std::vector<InFlightBytes>& in_flight =
        (*in_flight_)[static_cast<std::size_t>(recomputed_layers(state_.scenario.plan, split_->layers))];
    if (in_flight.empty())
        for (const std::size_t s : split_->candidates) in_flight.push_back(in_flight_bytes(state_, s, orders_.moments));
    return in_flight;
}

bool PlanPricer::fits_host() {
    const Plan& plan = state_.scenario.plan;
    if (plan.offload == Offload::none && plan.offload_activations == OffloadActivations::none) return true;
    const Share& here = share();
    const std::vector<InFlightBytes>& in_flight = this->in_flight();
    Bytes most;
    for (std::size_t i = 0; i < in_flight.size(); ++i) most = max(most, here.on_host[split_->candidates[i]] + in_flight[i].offloaded);
    return state_.used_devices() * most <= state_.scenario.cluster.node.host.memory.value;
}

Bytes PlanPricer::held() {
    const Share& here = share();
    Bytes most;
    for (const std::size_t s : split_->candidates) most = max(most, here.held[s].throughout + here.held[s].in_update);
    return most;
}

Bytes PlanPricer::memory() {
    const Share& here = share();
    const std::vector<InFlightBytes>& in_flight = this->in_flight();
    Bytes peak;
    for (std::size_t i = 0; i < in_flight.size(); ++i)
        peak = max(peak, peak_bytes(state_, split_->candidates[i], here.held[split_->candidates[i]], in_flight[i]));
    return peak;
}

const PlanPricer::Blocks& PlanPricer::blocks(std::size_t stage) {
    const std::size_t which = layout(GroupScope::in_layers).in_layers[state_.groups.kind_of[stage]];
    const Plan& plan = state_.scenario.plan;
    const int stages_that_offload = plan.offload_activations == OffloadActivations::layers ? plan.pp : 0;
    auto& of_groups =
        shape_->blocks[{weights_apart(plan.schedule), state_.added_gradients, passes_beside_another(state_), stages_that_offload}];
    if (of_groups.size() <= which) of_groups.resize(which + 1);
    std::optional<Blocks>& blocks = of_groups[which];
    if (!blocks) {
        blocks.emplace().segments = price_blocks(state_, kernels(), state_.groups[stage], {});
        for (const SegmentPrice& s : blocks->segments)
            blocks->times.push_back({s.forward.time(), s.backward.time(), s.recompute.time() + s.checkpoint.time()});
    }
    return *blocks;
}

const SendTimes& PlanPricer::sends() {
    std::optional<SendTimes>& sends = layout().sends;
    if (!sends) sends = state_.scenario.plan.pp > 1 ? SendTimes(state_, {}) : SendTimes();
    return *sends;
}

PlanPricer::PlacedStages& PlanPricer::placed_stages() {
    if (placed_stages_) return *placed_stages_;
    Layout& here = layout();
    const auto [entry, is_new] = here.placed_stages.try_emplace(split_);
    PlacedStages& placed = entry->second;
    placed_stages_ = &placed;
    if (!is_new) return placed;
    placed.as_before = stages_as_before(state_);
    for (auto& exchanges : placed.exchanges) exchanges.resize(state_.stages.size());
    for (std::size_t s = 0; s < state_.stages.size(); ++s) {
        std::vector<int> templates;
        for (const ChunkBlocks& chunk : state_.chunks[s])
            for (const ChunkBlocks::Block& b : chunk.blocks) templates.push_back(b.block_template);
        const StageMates& mates = state_.groups.mates[s];
        StageKey key{std::move(templates), state_.stages[s].has_input, state_.groups.kind_of[s], mates.in_layers, mates.data};
        placed.kind_of.push_back(here.kinds.try_emplace(std::move(key), here.kinds.size()).first->second);
    }
    return placed;
}

PlanPricer::Work& PlanPricer::work(std::size_t stage) {
    const std::size_t apart = static_cast<std::size_t>(weights_apart(state_.scenario.plan.schedule));
    auto& of_kinds = layout().works[2 * apart + (state_.added_gradients < 1 ? 1 : 0)];
    const std::size_t kind = placed_stages().kind_of[stage];
    if (of_kinds.size() <= kind) of_kinds.resize(layout_->kinds.size());
    auto& works = of_kinds[kind];
    if (works.empty()) works.resize(static_cast<std::size_t>(state_.stages[stage].layers) + 1);
    const auto which = static_cast<std::size_t>(state_.stages[stage].recomputed_layers);
    if (!works[which]) works[which] = std::make_unique<Work>(Work{stage_work(state_, stage, blocks(stage).segments), {}});
    return *works[which];
}

const StageExchanges& PlanPricer::exchanges(std::size_t stage) {
    std::optional<StageExchanges>& exchanges = placed_stages().exchanges[shared_out(state_.scenario.plan)][stage];
    if (!exchanges) exchanges = stage_exchanges(state_, stage, {});
    return *exchanges;
}

void PlanPricer::swap_shape() {
    if (shape_) std::swap(shape_->templates, state_.templates);
}

void PlanPricer::swap_split() {
    if (!split_) return;
    std::swap(split_->stages, state_.stages);
    std::swap(split_->chunks, state_.chunks);
}

void PlanPricer::swap_layout() {
    if (layout_) std::swap(layout_->groups, state_.groups);
}

}  // namespace sextant
