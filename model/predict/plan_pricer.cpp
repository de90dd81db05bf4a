#include "model/predict/plan_pricer.hpp"

#include "model/predict/prepare.hpp"

#include <algorithm>
#include <numeric>

namespace sextant {
namespace {

bool same_cut(const Plan& a, const Plan& b) { return a.tp == b.tp && a.cp == b.cp && a.ep == b.ep && a.expert_tp == b.expert_tp; }

}  // namespace

PlanPricer::PlanPricer(const Scenario& job, const Topology& topology) : topology_(topology), state_(prepare_machine(job)) {
    state_.nodes = topology.nodes();
}

void PlanPricer::lay_out(const Plan& plan) {
    swap_layout();
    swap_order();
    layout_ = nullptr;
    order_ = nullptr;
    layouts_.clear();
    orders_.clear();
    if (!same_cut(plan, state_.scenario.plan)) {
        swap_shape();
        shape_ = nullptr;
        shapes_.clear();
        network_.reset();
    }
    state_.scenario.plan = plan;
    state_.bucket_rule = bucket_rule(plan, state_.scenario.framework, state_.precision);
}

bool PlanPricer::shape(const Plan& plan) {
    Plan& now = state_.scenario.plan;
    now.micro_batch = plan.micro_batch;
    now.sequence_parallel = plan.sequence_parallel;
    // Blocks have the kernels to run again, whether any does or not.
    const bool selective = plan.recompute == Recompute::selective;
    now.recompute = selective ? Recompute::selective : Recompute::full;
    state_.micro_batches = std::max<std::int64_t>(1, now.micro_batches());
    state_.played.clear();
    for (auto& [sharing, layout] : layouts_) layout.segments = layout.segments_apart = {};
    swap_shape();
    const bool accumulates = state_.micro_batches > 1;  // gradients are added to those of the micro-batch before
    const auto [entry, is_new] = shapes_.try_emplace({now.micro_batch, now.sequence_parallel, selective, accumulates});
    if (is_new) entry->second = make_shape();
    shape_ = &entry->second;
    swap_shape();
    return shape_->divides;
}

PlanPricer::Shape PlanPricer::make_shape() {
    Shape shape;
    try {
        Network network = cut_network(state_.scenario);
        shape.templates = kernels_of(network, state_);
        if (!network_) {
            state_.roles.clear();
            for (const Block& block : network.templates) state_.roles.push_back(block.role);
            network_ = std::move(network);
        }
    } catch (const InputError&) {
        shape.divides = false;
        return shape;
    }
    for (const BlockKernels& k : shape.templates) {
        const SegmentPrice alone = price_block(k, state_, {}, {});
        shape.times.push_back({alone.forward.device, alone.backward.device, alone.recompute.device});
    }
    return shape;
}

void PlanPricer::order(const Plan& plan) {
    Plan& now = state_.scenario.plan;
    now.schedule = plan.schedule;
    now.vpp = plan.vpp;
    now.stage_blocks = plan.stage_blocks;
    state_.played.clear();
    swap_order();
    const auto [entry, is_new] = orders_.try_emplace({plan.vpp, plan.stage_blocks});
    if (is_new) entry->second = make_order();
    order_ = &entry->second;
    swap_order();
}

PlanPricer::Order PlanPricer::make_order() const {
    Order order;
    order.stages = split_stages(*network_, state_.scenario.plan);
    order.chunks = chunks_of(*network_, block_parameters(*network_, state_.scenario.plan), state_);
    for (std::size_t s = 0; s < order.stages.size(); ++s) {
        StageBlocks& first = order.first_chunks.emplace_back();
        first.count.resize(network_->templates.size());
        for (const ChunkBlocks::Block& b : order.chunks[s].front().blocks) {
            ++first.count[static_cast<std::size_t>(b.block_template)];
            if (b.layer) ++first.layers;
        }
        order.as_before.push_back(s > 0 && order.stages[s] == order.stages[s - 1] && first == order.first_chunks[s - 1]);
    }
    return order;
}

void PlanPricer::share(const Plan& plan) {
    Plan& now = state_.scenario.plan;
    now.data_parallel = plan.data_parallel;
    now.shard_group = plan.shard_group;
    now.offload = plan.offload;
}

void PlanPricer::run_again(const Plan& plan) {
    stages_.reset();
    Plan& now = state_.scenario.plan;
    now.recompute = plan.recompute;
    now.recompute_blocks = plan.recompute_blocks;
    for (StageBlocks& stage : state_.stages) stage.recomputed_layers = recomputed_layers(now, stage.layers);
}

std::vector<Seconds> PlanPricer::block_times() const {
    std::vector<Seconds> times;
    for (const int t : network_->sequence) {
        const BlockTime& block = shape_->times[static_cast<std::size_t>(t)];
        times.push_back(block.ahead + block.back);
    }
    return times;
}

std::vector<int> PlanPricer::blocks_of_stages() const {
    std::vector<int> blocks;
    for (const StageBlocks& stage : state_.stages) blocks.push_back(std::accumulate(stage.count.begin(), stage.count.end(), 0));
    return blocks;
}

int PlanPricer::layers() const { return std::ranges::max(state_.stages, {}, &StageBlocks::layers).layers; }

PlanPricer::Layout& PlanPricer::layout() {
    const Plan& plan = state_.scenario.plan;
    const auto [entry, is_new] = layouts_.try_emplace({plan.has_shards(), plan.shard_group});
    if (is_new) entry->second.groups = lay_groups(state_.scenario, topology_);
    if (layout_ != &entry->second) {
        swap_layout();
        layout_ = &entry->second;
        swap_layout();
    }
    return *layout_;
}

PlanPricer::Segments& PlanPricer::segments() {
    Layout& here = layout();
    std::optional<Segments>& segments = state_.scenario.plan.schedule == Schedule::zero_bubble ? here.segments_apart : here.segments;
    if (!segments) {
        segments = {price_segments(state_, {}), {}};
        for (const SegmentPrice& s : segments->prices) segments->times.push_back({s.forward.time(), s.backward.time(), s.recompute.time()});
    }
    return *segments;
}

Seconds PlanPricer::least_step() { return least_step(segments().times, true); }

// Each stage waits until the first micro-batch has come through the first chunks of those before it, does all its own work, and what it
// makes last goes back through their first chunks. Gradients of weights that a zero-bubble schedule leaves for later may be done meanwhile.
Seconds PlanPricer::least_step(const std::vector<BlockTime>& times, bool by_groups) const {
    const Plan& plan = state_.scenario.plan;
    const double m = static_cast<double>(state_.micro_batches);
    const Framework& framework = state_.scenario.framework;
    const double thread = state_.scenario.cluster.node.host.thread_speed.value;
    const Seconds each = framework.micro_batch_overhead.value / thread;
    const auto over = [&](const StageBlocks& blocks, int again, std::size_t groups) {
        BlockTime sum;
        for (std::size_t t = 0; t < blocks.count.size(); ++t) {
            const BlockTime& block = times[groups * blocks.count.size() + t];
            const double n = blocks.count[t];
            sum.ahead += n * block.ahead;
            sum.back += n * block.back;
            if (state_.roles[t] == BlockRole::layer && again > 0) sum.again += n * again / blocks.layers * block.again;
        }
        if (plan.forward_only) sum.back = sum.again = {};
        return sum;
    };
    const bool zero_bubble = plan.schedule == Schedule::zero_bubble;
    Seconds end, before, after, own, ahead, back;
    std::optional<Seconds> update;  // of the first stage, which ends last, or of any
    for (std::size_t s = 0; s < state_.stages.size(); ++s) {
        const std::size_t groups = by_groups ? state_.groups.which[s] : 0;
        if (!order_->as_before[s] || (by_groups && groups != state_.groups.which[s - 1])) {
            const StageBlocks &stage = state_.stages[s], &first = order_->first_chunks[s];
            const BlockTime all = over(stage, stage.recomputed_layers, groups);
            own = m * (all.ahead + all.back + all.again + each);
            const BlockTime chunk = over(first, std::min(first.layers, stage.recomputed_layers), groups);
            ahead = chunk.ahead;
            back = zero_bubble ? Seconds{} : chunk.back + chunk.again;
            if (s == 0 || zero_bubble) update = update ? std::min(*update, update_time(s)) : update_time(s);
        }
        end = max(end, before + own + after);
        before += ahead;
        after += back;
    }
    return end + update.value_or(Seconds{}) + framework.step_overhead.value / thread;
}

Seconds PlanPricer::update_time(std::size_t stage) const {
    const Plan& plan = state_.scenario.plan;
    if (plan.offload != Offload::none && !plan.forward_only) return offloaded_update_time(state_, stage, {});
    return price_optimizer(state_, stage, {});
}

Seconds PlanPricer::least_step_before_play() {
    const StagePrices& prices = stages();
    if (state_.played.empty()) return least_step();
    const bool zero_bubble = state_.scenario.plan.schedule == Schedule::zero_bubble;
    Seconds end, before, after;
    for (std::size_t s = 0; s < prices.size(); ++s) {
        const ChunkTimes& first = prices[s].chunks.front();
        Seconds all;
        for (const ChunkTimes& chunk : prices[s].chunks) all += chunk.ahead + chunk.back + chunk.weights;
        end = max(end, before + static_cast<double>(state_.micro_batches) * all - first.early + after);
        before += first.ahead - first.early;
        if (!zero_bubble) after += first.back - first.early_back - first.late;
    }
    return end;
}

const StagePrices& PlanPricer::stages() {
    if (!stages_) {
        const Segments& here = segments();
        if (state_.played.empty()) state_.played = played_orders(state_.scenario.plan, state_.micro_batches);
        stages_ = price_stages(state_, here.prices, {});
    }
    return *stages_;
}

StepPrice PlanPricer::price() { return price_step(state_, stages(), {}); }

void PlanPricer::swap_shape() {
    if (shape_) std::swap(shape_->templates, state_.templates);
}

void PlanPricer::swap_order() {
    if (!order_) return;
    std::swap(order_->stages, state_.stages);
    std::swap(order_->chunks, state_.chunks);
}

void PlanPricer::swap_layout() {
    if (layout_) std::swap(layout_->groups, state_.groups);
}

}  // namespace sextant
