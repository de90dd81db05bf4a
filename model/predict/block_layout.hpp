// A plan's ranks as places in blocks of nodes that look alike. Internal to predict.
//
// Ranks repeat: with tp 8 on nodes of eight, a node is like any other. A block is the least number of nodes after which every group and
// every stage lies as before: each boundary between two dimensions of the plan falls on a boundary of blocks or inside one, at the same
// place in all. One node nearly always; three where three stages of four ranks alternate on nodes of eight; all of them where the ranks
// do not repeat (a last node that is not full, six ranks to a group on nodes of eight).
#pragma once

#include "model/plan/rank_layout.hpp"

#include <vector>

namespace sextant {

class BlockLayout {
public:
    // `unit`: devices that no block may tear apart, a number of nodes.
    BlockLayout(const Plan&, int nodes, int node_devices, int unit);

    [[nodiscard]] const RankLayout& ranks() const { return layout_; }
    [[nodiscard]] int blocks() const { return blocks_; }
    [[nodiscard]] int devices_per_block() const { return devices_; }
    [[nodiscard]] int rank_at(int block, int place) const { return scattered_ ? place * width_ + block : block * width_ + place; }
    // Of a place in the first block; those of block b are b x devices_per_block() further on.
    [[nodiscard]] int device_at(int place) const { return layout_.device_of(rank_at(0, place)); }

    // Where a stage's ranks stand in its blocks, and how many blocks they are behind those of the first stage that stands so.
    struct Stage {
        int place = 0;
        int shift = 0;
    };
    [[nodiscard]] Stage stage(int number) const;
    // Blocks after which stages stand as before.
    [[nodiscard]] int period() const { return stages_.over.count * stages_.over.stride; }
    // Of a rank of one stage to its fellow in another one.
    [[nodiscard]] int places_between(const Stage& from, const Stage& to) const { return (to.place - from.place) * stages_.inside.stride; }

    // All groups of one kind in a stage: each takes, in some blocks, some places.
    struct Groups {
        std::vector<int> first_places, places;  // of each the first place; from there to the others of the same block
        std::vector<int> first_blocks, blocks;  // of each the first block, where stages are not shifted; from there to its others
    };
    [[nodiscard]] Groups groups(const std::vector<RankLayout::Range>&, const Stage&) const;
    // Of group (p, b), first place p and first block b: where one is ahead of the other in the order of ranks, it is called first.
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
    bool scattered_ = false;  // a block's ranks are not consecutive: consecutive ones are in consecutive blocks
    int width_ = 1;           // of what is consecutive: ranks of a block, or blocks
    int blocks_ = 1, places_ = 1, devices_ = 1;
    Split stages_;
};

}  // namespace sextant
