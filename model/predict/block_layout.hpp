// A plan's ranks as places in blocks of nodes that look alike. Internal to predict.
//
// Ranks repeat: with tp 8 on nodes of eight devices, one node is like any other. A block is the smallest number of nodes after which every
// group and every stage is placed as before: each boundary between two dimensions of the plan falls on a boundary of blocks, or at the same
// place inside all of them. A block is nearly always one node; three where three stages of four ranks alternate on nodes of eight; all
// nodes where the ranks do not repeat (a last node that is not full, six ranks to a group on nodes of eight).
#pragma once

#include "model/plan/rank_layout.hpp"

#include <vector>

namespace sextant {

class BlockLayout {
public:
    // `unit`: the devices of some whole nodes that no block may tear apart.
    BlockLayout(const Plan&, int nodes, int node_devices, int unit);

    [[nodiscard]] const RankLayout& ranks() const { return layout_; }
    [[nodiscard]] int blocks() const { return blocks_; }
    [[nodiscard]] int devices_per_block() const { return devices_; }
    [[nodiscard]] int rank_at(int block, int place) const { return scattered_ ? place * width_ + block : block * width_ + place; }
    // The device of a place in the first block; in block b it is b x devices_per_block() further on.
    [[nodiscard]] int device_at(int place) const { return layout_.device_of(rank_at(0, place)); }

    // Where a stage's ranks stand in its blocks, and by how many blocks these come after those of the first stage that stands so.
    struct Stage {
        int place = 0;
        int shift = 0;
    };
    [[nodiscard]] Stage stage(int number) const;
    // The number of blocks after which stages stand as before.
    [[nodiscard]] int period() const { return stages_.over.count * stages_.over.stride; }
    // From a rank of one stage to the corresponding rank of another.
    [[nodiscard]] int places_between(const Stage& from, const Stage& to) const { return (to.place - from.place) * stages_.inside.stride; }

    // All groups of one kind in a stage: each takes certain places in certain blocks.
    struct Groups {
        std::vector<int> first_places, places;  // the first place of each group; and its places in a block, relative to that
        std::vector<int> first_blocks, blocks;  // the first block of each, before the stage's shift; and its blocks, relative to that
    };
    [[nodiscard]] Groups groups(const std::vector<RankLayout::Range>&, const Stage&) const;
    // Calls visit(p, b) for the group with first place p and first block b, in the order of the groups' first ranks.
    template <class Visit>
    void in_order_of_ranks(const Groups& groups, Visit visit) const {
        const std::size_t places = groups.first_places.size(), blocks = groups.first_blocks.size();
        for (std::size_t i = 0; i < places * blocks; ++i) scattered_ ? visit(i / blocks, i % blocks) : visit(i % places, i / places);
    }

private:
    using Range = RankLayout::Range;
    struct Split {
        Range inside, over;
    };
    [[nodiscard]] bool repeats_after(int ranks) const;
    void choose_block(const Plan&, int nodes, int node_devices, int unit);
    [[nodiscard]] Split split(const Range&) const;

    RankLayout layout_;
    bool scattered_ = false;  // consecutive ranks are in consecutive blocks, not in one
    int width_ = 1;           // the number of ranks in a block; scattered: of blocks
    int blocks_ = 1, places_ = 1, devices_ = 1;
    Split stages_;
};

}  // namespace sextant
