// Prices plan after plan of one job on so many devices. What plans share is worked out once: each step below fixes some fields of the plan,
// as the loops of a search do, outermost first, and keeps what the steps before it have fixed. The prices are those of estimate().
//
//     PlanPricer pricer(job, topology);
//     pricer.lay_out(plan);                 // tp, cp, ep, expert_tp, pp, dp, placement
//     if (!pricer.shape(plan)) ...          // micro_batch, sequence_parallel, recompute: the network may not divide so
//     pricer.order(plan);                   // schedule, vpp, stage_blocks
//     pricer.share(plan);                   // data_parallel, shard_group, offload
//     pricer.run_again(plan);               // recompute, recompute_blocks
//     pricer.memory(), pricer.least_step(), pricer.price();
//
// Internal to predict and search.
#pragma once

#include "model/hardware/topology.hpp"
#include "model/predict/step_price.hpp"

#include <map>
#include <optional>
#include <tuple>

namespace sextant {

class PlanPricer {
public:
    // `topology`: of the nodes that all these plans use; it must outlive the pricer. What the job's plan says beside the fields above
    // counts.
    PlanPricer(const Scenario& job, const Topology& topology);

    void lay_out(const Plan&);
    [[nodiscard]] bool shape(const Plan&);
    void order(const Plan&);
    void share(const Plan&);
    void run_again(const Plan&);

    // The plan as far as it is fixed.
    [[nodiscard]] const Scenario& scenario() const { return state_.scenario; }
    // What kernels of each block take in forward and backward, in the order of forward.
    [[nodiscard]] std::vector<Seconds> block_times() const;
    [[nodiscard]] std::vector<int> blocks_of_stages() const;
    // Layers of the stage that has most.
    [[nodiscard]] int layers() const;

    [[nodiscard]] Bytes memory() const { return peak_memory(state_); }
    [[nodiscard]] Bytes device_memory() const { return sextant::device_memory(state_); }
    // No step is shorter than what kernels take; and than that with the exchanges inside layers, for which ranks are laid on the topology.
    // docs/model/search.md proves it.
    [[nodiscard]] Seconds least_step_of_kernels() const { return least_step(shape_->times, false); }
    [[nodiscard]] Seconds least_step();
    // The same of all that stages do, where their schedule has to be played to tell how they wait for each other; else least_step().
    [[nodiscard]] Seconds least_step_before_play();
    [[nodiscard]] StepPrice price();

private:
    struct BlockTime {
        Seconds ahead, back, again;
    };
    struct Shape {
        std::vector<BlockKernels> templates;
        std::vector<BlockTime> times;  // by template: of kernels
        bool divides = true;
    };
    struct Order {
        std::vector<StageBlocks> stages, first_chunks;
        std::vector<std::vector<ChunkBlocks>> chunks;
        std::vector<char> as_before;  // by stage: not 0 where it holds what the one before it does
    };
    struct Segments {
        std::vector<SegmentPrice> prices;
        std::vector<BlockTime> times;  // by unlike groups, by template: with exchanges
    };
    struct Layout {
        StageGroups groups;
        std::optional<Segments> segments, segments_apart;  // of the shape at hand; where gradients of weights come apart
    };

    Shape make_shape();
    Order make_order() const;
    Layout& layout();
    Segments& segments();
    [[nodiscard]] Seconds least_step(const std::vector<BlockTime>&, bool by_groups) const;
    [[nodiscard]] Seconds update_time(std::size_t stage) const;
    const StagePrices& stages();
    // The state borrows these parts: they change places with its own, and back.
    void swap_shape();
    void swap_order();
    void swap_layout();

    const Topology& topology_;
    Prepared::State state_;
    // Of the cut at hand.
    std::optional<Network> network_;
    using ShapeKey = std::tuple<std::int64_t, bool, bool, bool>;  // micro_batch, sequence_parallel, selective recompute, accumulation
    std::map<ShapeKey, Shape> shapes_;
    // Of the degrees and the placement at hand.
    std::map<std::pair<bool, std::optional<int>>, Layout> layouts_;  // by whether there are shards, and over how many ranks
    std::map<std::pair<int, std::vector<int>>, Order> orders_;       // by vpp, stage_blocks
    std::optional<StagePrices> stages_;                              // of the plan at hand
    // Borrowed.
    Shape* shape_ = nullptr;
    Order* order_ = nullptr;
    Layout* layout_ = nullptr;
};

}  // namespace sextant
