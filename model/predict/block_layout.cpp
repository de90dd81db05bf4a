#include "model/predict/block_layout.hpp"

#include <algorithm>

namespace sextant {
namespace {

using Range = RankLayout::Range;

void sort_by_stride(std::vector<Range>& ranges) { std::ranges::sort(ranges, {}, &Range::stride); }

// All sums of one step of each range, ascending: a range with a larger stride begins where the ones before it end, or later.
std::vector<int> sums(std::vector<Range> ranges, int begin = 0) {
    sort_by_stride(ranges);
    std::vector<int> sums{begin};
    for (const Range& r : ranges) {
        const std::size_t before = sums.size();
        for (int i = 1; i < r.count; ++i)
            for (std::size_t j = 0; j < before; ++j) sums.push_back(sums[j] + i * r.stride);
    }
    return sums;
}

// Those of `count` numbers that are at step `place` of one range and at the beginning of all others.
std::vector<int> beginnings(int count, const Range& at, int place, std::vector<Range> ranges) {
    ranges.push_back(at);
    sort_by_stride(ranges);
    std::vector<Range> between;
    int end = 1;
    for (const Range& r : ranges) {
        if (r.count < 2) continue;
        between.push_back({r.stride / end, end});
        end = r.stride * r.count;
    }
    between.push_back({count / end, end});
    return sums(std::move(between), place * at.stride);
}

}  // namespace

BlockLayout::BlockLayout(const Plan& plan, int nodes, int node_devices, int unit) : layout_(plan, nodes, node_devices) {
    choose_block(plan, nodes, node_devices, unit);
    const auto& stages = layout_.ranges(ParallelGroup::pipeline);
    if (!stages.empty()) stages_ = split(stages.front());
}

bool BlockLayout::repeats_after(int ranks) const {
    const auto fits = [&](int boundary) { return boundary < ranks ? ranks % boundary == 0 : boundary % ranks == 0; };
    if (!fits(layout_.ranks())) return false;
    for (const ParallelGroup group : all_parallel_groups)
        for (const Range& r : layout_.ranges(group))
            if (!fits(r.stride) || !fits(r.stride * r.count)) return false;
    return true;
}

void BlockLayout::choose_block(const Plan& plan, int nodes, int node_devices, int unit) {
    const int ranks = layout_.ranks();
    width_ = places_ = ranks;  // one block of all, unless a smaller one repeats
    devices_ = nodes * node_devices;
    if (!plan.node_ranks.empty()) return;
    if (plan.scattered) {
        if (unit != node_devices || !repeats_after(nodes)) return;
        scattered_ = true;
        width_ = nodes;
        blocks_ = std::min(nodes, ranks);
        places_ = ranks / blocks_;
        devices_ = node_devices;
        return;
    }
    const int per_node = std::min(plan.devices_per_node.value_or(node_devices), node_devices);
    for (int of_block = 1; of_block * per_node < ranks; ++of_block) {
        const int places = of_block * per_node;
        if (of_block * node_devices % unit != 0 || !repeats_after(places)) continue;
        width_ = places_ = places;
        blocks_ = ranks / places;
        devices_ = of_block * node_devices;
        return;
    }
}

BlockLayout::Split BlockLayout::split(const Range& r) const {
    const int end = r.count * r.stride;
    const Range low = r.stride < width_ ? Range{std::min(end, width_) / r.stride, r.stride} : Range{};
    const Range high = end > width_ ? Range{end / std::max(r.stride, width_), std::max(r.stride / width_, 1)} : Range{};
    return scattered_ ? Split{high, low} : Split{low, high};
}

BlockLayout::Stage BlockLayout::stage(int number) const {
    const int low = scattered_ ? stages_.over.count : stages_.inside.count;
    const int block = scattered_ ? number % low : number / low;
    return {scattered_ ? number / low : number % low, block * stages_.over.stride};
}

BlockLayout::Groups BlockLayout::groups(const std::vector<Range>& ranges, const Stage& stage) const {
    std::vector<Range> inside, over;
    for (const Range& r : ranges) {
        const Split parts = split(r);
        inside.push_back(parts.inside);
        over.push_back(parts.over);
    }
    return {beginnings(places_, stages_.inside, stage.place, inside), sums(inside), beginnings(blocks_, stages_.over, 0, over), sums(over)};
}

}  // namespace sextant
