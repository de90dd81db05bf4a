#include "model/simulate/fluid_network.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace sextant {
namespace {

// Levels closer than this are one level that rounding split. Flows that a symmetric network treats alike so get the very same rate, and
// end at the very same instant.
constexpr double same_level = 1 + 1e-9;

constexpr auto higher = [](const auto& a, const auto& b) { return a.level > b.level; };

}  // namespace

FluidNetwork::FluidNetwork(std::vector<Bandwidth> capacities) {
    links_.resize(capacities.size());
    for (std::size_t l = 0; l < capacities.size(); ++l) {
        assert(capacities[l] > Bandwidth() && std::isfinite(capacities[l].si()));
        links_[l].capacity = capacities[l];
    }
}

FluidNetwork::UseIndex FluidNetwork::take_block(std::size_t use_count) {
    const std::size_t size = std::bit_ceil(use_count);
    std::vector<UseIndex>& free_blocks = free_blocks_[std::countr_zero(size)];
    if (free_blocks.empty()) {
        uses_.resize(uses_.size() + size);
        return static_cast<UseIndex>(uses_.size() - size);
    }
    const UseIndex block = free_blocks.back();
    free_blocks.pop_back();
    return block;
}

FlowIndex FluidNetwork::start(Seconds now, Bytes bytes, std::span<const LinkUse> uses, Bandwidth limit) {
    FlowIndex index = static_cast<FlowIndex>(flows_.size());
    if (free_flows_.empty()) {
        flows_.emplace_back();
    } else {
        index = free_flows_.back();
        free_flows_.pop_back();
    }
    Bandwidth bound = limit;
    for (const LinkUse& use : uses) bound = min(bound, links_[use.link].capacity / use.weight);
    assert(std::isfinite(bound.si()));

    Flow& flow = flows_[index];
    flow.remaining = bytes;
    flow.since = now;
    flow.rate = Bandwidth();
    flow.bound = bound;
    flow.first_use = take_block(uses.size());
    flow.use_count = static_cast<std::uint32_t>(uses.size());
    flow.state = State::starting;
    for (UseIndex u = flow.first_use; const LinkUse& use : uses) {
        Link& link = links_[use.link];
        const double part = use.weight * (bound / link.capacity);
        const Share share = std::min(static_cast<Share>(part * static_cast<double>(whole)), whole);
        uses_[u] = {use.link, index, static_cast<std::uint32_t>(link.uses.size()), use.weight, share};
        link.demand += share;
        link.uses.push_back(u++);
    }
    started_.push_back(index);
    return index;
}

Bytes FluidNetwork::stop(Seconds now, FlowIndex index) {
    Flow& flow = flows_[index];
    assert(flow.state != State::free);
    for (const Use& use : uses_of(flow)) {
        Link& link = links_[use.link];
        if (link.contended() && !link.freed) {
            link.freed = true;
            freed_.push_back(use.link);
        }
        link.demand -= use.share;
        link.uses[use.position] = link.uses.back();
        uses_[link.uses.back()].position = use.position;
        link.uses.pop_back();
    }
    free_blocks_[std::countr_zero(std::bit_ceil(flow.use_count))].push_back(flow.first_use);
    free_flows_.push_back(index);
    flow.state = State::free;
    return max(flow.remaining - flow.rate * (now - flow.since), Bytes());
}

std::span<const FluidNetwork::Finish> FluidNetwork::settle(Seconds now) {
    ++settles_;
    finishes_.clear();
    for (const std::uint32_t l : freed_) {
        links_[l].freed = false;
        for (const UseIndex u : links_[l].uses) refresh(now, uses_[u].flow);
    }
    for (const FlowIndex f : started_)
        if (flows_[f].state != State::free) refresh(now, f);
    freed_.clear();
    started_.clear();
    return finishes_;
}

void FluidNetwork::refresh(Seconds now, FlowIndex f) {
    if (flows_[f].visited == settles_) return;
    collect_component(f);
    if (component_links_.empty())
        set_rate(now, f, flows_[f].bound);
    else
        fill_component(now);
}

// All flows joined to `f` by contended links, these links, and what may fix the first rate.
void FluidNetwork::collect_component(FlowIndex f) {
    component_.clear();
    component_links_.clear();
    candidates_.clear();
    reach(f);
    for (std::size_t i = 0; i < component_.size(); ++i) {
        const Flow& flow = flows_[component_[i]];
        bool link_comes_first = false;  // one that the flow could fill alone: it is full before the flow reaches its bound, or as it does
        for (const Use& use : uses_of(flow)) {
            if (!links_[use.link].contended()) continue;
            link_comes_first |= use.share == whole;
            reach_along(use.link);
        }
        if (!link_comes_first) candidates_.push_back({flow.bound, component_[i], false});
    }
}

void FluidNetwork::reach(FlowIndex f) {
    if (flows_[f].visited == settles_) return;
    flows_[f].visited = settles_;
    flows_[f].fixed = false;
    component_.push_back(f);
}

void FluidNetwork::reach_along(std::uint32_t l) {
    Link& link = links_[l];
    if (link.visited == settles_) return;
    link.visited = settles_;
    link.left = link.capacity;
    link.weight = 0;
    link.open = static_cast<std::uint32_t>(link.uses.size());
    for (const UseIndex u : link.uses) {
        link.weight += uses_[u].weight;
        reach(uses_[u].flow);
    }
    component_links_.push_back(l);
    candidates_.push_back({link.left / link.weight, l, true});
}

// Progressive filling: the rates of all flows rise together. Where a link is full, those on it stay at that level; so does a flow at its
// bound. What stays frees others to rise further, so the level at which a link fills up only grows: a candidate's level may be out of
// date, and is brought up to date when it comes out of the heap.
void FluidNetwork::fill_component(Seconds now) {
    std::ranges::make_heap(candidates_, higher);
    Bandwidth level;
    for (std::size_t open = component_.size(); open > 0;) {
        std::ranges::pop_heap(candidates_, higher);
        const Candidate next = candidates_.back();
        candidates_.pop_back();
        if (!next.is_link) {
            open -= fix(now, next.index, next.level);
            continue;
        }
        const Link& link = links_[next.index];
        if (link.open == 0) continue;
        const Bandwidth full = link.left / link.weight;
        if (!candidates_.empty() && full > candidates_.front().level * same_level) {
            candidates_.push_back({full, next.index, true});
            std::ranges::push_heap(candidates_, higher);
            continue;
        }
        if (full > level * same_level) level = full;
        for (const UseIndex u : link.uses) open -= fix(now, uses_[u].flow, min(level, flows_[uses_[u].flow].bound));
    }
}

// Returns how many flows that fixed: 1, or 0 for one that had a rate already.
std::size_t FluidNetwork::fix(Seconds now, FlowIndex f, Bandwidth rate) {
    Flow& flow = flows_[f];
    if (flow.fixed) return 0;
    flow.fixed = true;
    for (const Use& use : uses_of(flow)) {
        Link& link = links_[use.link];
        if (!link.contended()) continue;
        link.left = max(link.left - use.weight * rate, Bandwidth());
        link.weight -= use.weight;
        --link.open;
    }
    set_rate(now, f, rate);
    return 1;
}

void FluidNetwork::set_rate(Seconds now, FlowIndex f, Bandwidth rate) {
    Flow& flow = flows_[f];
    if (flow.state == State::moving && rate == flow.rate) return;
    flow.remaining = max(flow.remaining - flow.rate * (now - flow.since), Bytes());
    flow.since = now;
    flow.rate = rate;
    flow.state = State::moving;
    finishes_.push_back({f, flow.remaining > Bytes() ? now + flow.remaining / rate : now});
}

Bandwidth FluidNetwork::used(std::uint32_t l) const {
    Bandwidth sum;
    for (const UseIndex u : links_[l].uses) sum += uses_[u].weight * flows_[uses_[u].flow].rate;
    return sum;
}

}  // namespace sextant
