// The groups in which the ranks of each stage communicate, of each kind, as they stand on the nodes. Internal to groups.cpp.
#pragma once

#include "model/hardware/group_traffic.hpp"
#include "model/plan/scenario.hpp"
#include "model/predict/block_layout.hpp"

#include <map>
#include <utility>
#include <vector>

namespace sextant {

// All groups that communicate at once: of one kind in one stage, or over one boundary.
struct ConcurrentGroups {
    BlockLayout::Groups where;
    std::vector<Formation> formations;         // by first place
    std::vector<std::size_t> representatives;  // of these, one of each shape: groups that lie alike over their nodes are equally fast
    std::vector<int> near;                     // nodes of a block on which they stand

    [[nodiscard]] SpreadGroup at(std::size_t place, std::size_t block, int shift) const {
        return {&formations[place], where.first_blocks[block] + shift, where.blocks};
    }
    [[nodiscard]] std::size_t ranks() const {
        return formations.size() * formations.front().devices * where.first_blocks.size() * where.blocks.size();
    }
};

// Finds the groups of every stage, each kind once for all stages at the same place of their blocks.
class GroupFinder {
public:
    // Both references outlive it.
    GroupFinder(const Scenario&, const Topology&);

    [[nodiscard]] const BlockLayout& layout() const { return layout_; }
    [[nodiscard]] GroupTraffic& traffic() { return traffic_; }
    [[nodiscard]] const std::vector<BlockLayout::Stage>& stages() const { return stages_; }

    // The stages at one place of their blocks: their devices and nodes within a block.
    struct Standing {
        BlockLayout::Groups where;  // each rank by itself
        std::vector<DeviceIndex> devices;
        std::vector<int> nodes;
    };
    [[nodiscard]] const Standing& standing(std::size_t stage) const { return standing_.at(stages_[stage].place); }

    // Stages at one place of their blocks have the same groups, shifted.
    const ConcurrentGroups& of(ParallelGroup, std::size_t stage);
    // Groups of different kinds may consist of the same ranks: those of data and of shards, where nothing is replicated.
    [[nodiscard]] ParallelGroup first_alike(ParallelGroup) const;
    // The first groups of each shape, by their numbers.
    [[nodiscard]] std::vector<std::size_t> one_of_each_shape(const std::vector<std::vector<DeviceIndex>>& groups) const;

private:
    [[nodiscard]] Standing stand(BlockLayout::Groups) const;
    [[nodiscard]] ConcurrentGroups find(ParallelGroup, const BlockLayout::Stage&);
    [[nodiscard]] std::vector<std::size_t> representatives(ParallelGroup, const ConcurrentGroups&) const;
    [[nodiscard]] std::vector<int> shape(const std::vector<DeviceIndex>& group) const;
    [[nodiscard]] int node_of(DeviceIndex d) const { return d / topology_.devices_per_node(); }

    const Topology& topology_;
    BlockLayout layout_;
    GroupTraffic traffic_;
    std::vector<BlockLayout::Stage> stages_;
    std::map<int, Standing> standing_;                                 // by place of the stage
    std::map<std::pair<ParallelGroup, int>, ConcurrentGroups> found_;  // by place of the stage
};

}  // namespace sextant
