// Prices plan after plan of one job on a given number of devices. What plans share is worked out once: each step below
// fixes some fields of the plan, as the nested loops of a search do, outermost first, and keeps what the steps before it
// have fixed. The prices are those of estimate().
//
//     PlanPricer pricer(job, topology, orders);
//     pricer.lay_out(plan);                               // tp, cp, ep, expert_tp, pp, dp, placement
//     if (!pricer.shape(plan)) ...                        // micro_batch, sequence_parallel, recompute: the network may not divide so
//     pricer.schedule(plan);                              // schedule, vpp, stage_blocks
//     pricer.share(data_parallel, shard_group, offload);
//     pricer.recompute(recompute, blocks);
//     if (pricer.least_step() ...) pricer.defer(pricer.memory());
//     pricer.price_deferred(...);                         // all plans of one schedule together: they are played side by side
//
// plan_pricer.cpp fixes the fields, plan_bounds.cpp has the bounds, deferred_plans.cpp prices what was deferred. Internal to predict and
// search.
#pragma once

#include "model/hardware/topology.hpp"
#include "model/plan/gradient_accumulation.hpp"
#include "model/predict/stage_memory.hpp"
#include "model/predict/step_price.hpp"

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace sextant {

// What orders of work have that no price changes, worked out once for all threads of a search.
struct KnownOrders {
    PlayedSchedules played;
    KnownMoments moments;
};

class PlanPricer {
public:
    // `topology`: of the nodes that all these plans use; it and `orders` must outlive the pricer. Fields of the plan that are not listed
    // above are those of the job's own plan.
    PlanPricer(const Scenario& job, const Topology& topology, KnownOrders& orders);

    void lay_out(const Plan&);
    [[nodiscard]] bool shape(const Plan&);
    void schedule(const Plan&);
    void share(DataParallel, std::optional<int> shard_group, Offload);
    void recompute(Recompute, int blocks);

    // The plan as far as it is fixed.
    [[nodiscard]] const Scenario& scenario() const { return state_.scenario; }
    // What the kernels of each block take in forward and backward together; blocks in the order of forward.
    [[nodiscard]] std::vector<Seconds> block_times();
    [[nodiscard]] std::vector<int> blocks_of_virtual_stages() const { return blocks_per_virtual_stage(*network_, state_.scenario.plan); }
    // The layers of the stage that has most.
    [[nodiscard]] int layers() const { return split_->layers; }

    [[nodiscard]] Bytes memory();  // of the fullest stage
    [[nodiscard]] Bytes held();    // the most that a stage holds whatever is recomputed: from beginning to end, and in the update
    [[nodiscard]] Bytes device_memory() const { return sextant::device_memory(state_); }
    [[nodiscard]] bool fits_host();  // whether host memory holds what is offloaded
    // Lower bounds of a step, each tighter and dearer to compute than the one before: the kernels, whoever shares what; with the update;
    // and with the exchanges inside layers, for which ranks have to be placed on the topology. docs/model/search.md proves them.
    [[nodiscard]] Seconds least_passes_of_kernels() { return least_step(Known::kernels); }
    [[nodiscard]] Seconds least_step_of_kernels() { return least_step(Known::update); }
    [[nodiscard]] Seconds least_step() {
        layout(GroupScope::in_layers);
        return least_step(Known::groups);
    }
    // Keeps the plan at hand, whose memory is known, to be priced together with others of its schedule.
    void defer(Bytes memory);
    // Prices the deferred plans, in that order; each plan is the one at hand when `Take` is called for it. `worth`, if given, says whether
    // a plan whose schedule has to be played is worth playing, given a lower bound of its step.
    using Take = std::function<void(const StepPrice&, Bytes memory)>;
    using Worth = std::function<bool(Seconds least, Bytes memory)>;
    void price_deferred(const Take&, const Worth&);

private:
    // micro_batch, sequence_parallel, selective recompute, accumulation
    using ShapeKey = std::tuple<std::int64_t, bool, bool, bool>;
    struct BlockTime {
        Seconds forward, backward, recompute;
    };
    // By template, exchanges inside layers included.
    struct Blocks {
        std::vector<SegmentPrice> segments;
        std::vector<BlockTime> times;
    };
    struct Shape {
        std::vector<BlockKernels> templates;
        // The times of kernels in each template, by the fraction of the gradients that a rank adds up. A list is made when it is first
        // needed: most shapes have no plan that fits.
        std::map<double, std::vector<KernelTimes>> kernels;
        std::map<double, std::vector<BlockTime>> times;  // without exchanges
        // By the passes that run gradients of weights apart, the fraction of the gradients that a rank adds up, the fraction of passes
        // beside another micro-batch, and the stages where each offloads some layers (else 0); then by groups in layers.
        std::map<std::tuple<WeightsApart, double, double, int>, std::vector<std::optional<Blocks>>> blocks;
        bool divides = true;
        // Of a job on two kinds of devices: how slow the slower kind is, and the rates that follow.
        double slow_speed = 1;
        DeviceRates rates;
    };
    // What stages do for the weights that their ranks hold.
    struct Share {
        using Key = std::tuple<DataParallel, std::optional<int>, Offload, GradientAccumulation>;
        Key key;
        std::vector<HeldBytes> held;
        std::vector<Bytes> on_host;
        std::vector<UpdateTime> updates;
    };
    // By the number of recomputed blocks; then as Split::candidates.
    using InFlight = std::vector<std::vector<InFlightBytes>>;
    // How blocks are split into stages and their chunks.
    struct Split {
        std::vector<StageBlocks> stages;
        std::vector<std::vector<ChunkBlocks>> chunks;
        std::vector<bool> as_before;  // by stage: it holds the same as the one before it, in the same order
        // The stages that may be the fullest. Of a row of stages that hold the same blocks, the first has the most micro-batches in flight,
        // unless gradients of weights come late.
        std::vector<std::size_t> candidates;
        int layers = 0;  // of the stage that has most
        std::vector<Share> shares;
        std::map<std::pair<Schedule, ShapeKey>, InFlight> in_flight;
    };
    // The stages of a split where the layout puts them.
    struct PlacedStages {
        std::vector<bool> as_before;
        std::vector<std::size_t> kind_of;  // by stage: those that hold the same in the same surroundings are of one kind
        std::array<std::vector<std::optional<StageExchanges>>, 3> exchanges;  // by shared_out(), then by stage
    };
    // Blocks in order of forward, whether the input is among them, groups, and how other stages slow exchanges in layers and of data.
    using StageKey = std::tuple<std::vector<int>, bool, std::size_t, ByInLayer<double>, double>;
    // What a kind of stage does; and what ZeRO-3 adds, by what is offloaded and how other stages slow its exchanges.
    struct Work {
        StageWork of_blocks;
        std::map<std::pair<Offload, double>, std::optional<DataParallelPrice>> sharded;
    };
    struct Layout {
        GroupScope laid = GroupScope::all;  // bounds need less than all, and most layouts have no plan that is priced
        StageGroups groups;
        std::vector<std::size_t> in_layers;  // by kind of groups: index into in_layers_ of the cut
        std::map<const Split*, PlacedStages> placed_stages;
        std::map<StageKey, std::size_t> kinds;
        // For the shape at hand.
        std::optional<SendTimes> sends;
        // What stages do. The first index is twice the schedule's WeightsApart, plus one where a rank adds up only its shard of the
        // gradients; then come the kind of stage and how many of its layers are recomputed.
        std::array<std::vector<std::vector<std::unique_ptr<Work>>>, 6> works;
    };
    // What plans of one layout have in common: the ranks that weights or states are sharded over; all of them where it is not stated. Ranks
    // that share nothing exchange in the same groups as those.
    using LayoutKey = std::optional<int>;
    static LayoutKey layout_key(const Plan& plan) { return plan.has_shards() ? plan.shard_group : std::nullopt; }
    // What ranks share out: nothing, their states, or their weights too.
    static std::size_t shared_out(const Plan& plan) { return plan.shards_parameters() ? 2 : plan.shards_states() ? 1 : 0; }
    // What distinguishes plans of one schedule.
    struct Choice {
        DataParallel data_parallel;
        std::optional<int> shard_group;
        Offload offload;
        Recompute recompute;
        int recompute_blocks;
        friend bool operator==(const Choice&, const Choice&) = default;
    };
    struct Deferred {
        Choice choice;
        Bytes memory;
        std::size_t passes = 0;
    };
    // What stages do until the update. An offloaded optimizer changes no more than the update, where gradients go to the host with it.
    struct Passes {
        Choice choice;
        StagePrices stages;
        std::vector<Seconds> ends;
    };

    [[nodiscard]] bool may_divide() const;
    Shape make_shape();
    Split make_split() const;
    Layout& layout(GroupScope = GroupScope::all);
    [[nodiscard]] Layout make_layout(GroupScope);
    [[nodiscard]] const std::vector<KernelTimes>& kernels();
    [[nodiscard]] const std::vector<BlockTime>& times_of_kernels(double added_gradients);
    [[nodiscard]] const Blocks& blocks(std::size_t stage);
    [[nodiscard]] const SendTimes& sends();
    PlacedStages& placed_stages();
    [[nodiscard]] Work& work(std::size_t stage);
    [[nodiscard]] const StageExchanges& exchanges(std::size_t stage);
    [[nodiscard]] const Share& share();
    [[nodiscard]] const std::vector<InFlightBytes>& in_flight();  // of the plan at hand, as Split::candidates
    [[nodiscard]] Share make_share(const Share::Key&) const;
    enum class Known { kernels, update, groups };  // each with those before it
    [[nodiscard]] Seconds least_step(Known);
    [[nodiscard]] Seconds least_step_before_play(const StagePrices&) const;
    void choose(const Choice&);
    std::size_t find_passes(Choice, std::size_t& count);
    void find_ends();
    void apply_shape_to_devices();
    // The state borrows these parts: each call swaps the part at hand with the state's own, the next one swaps them back.
    void swap_shape();
    void swap_split();
    void swap_layout();

    const Topology& topology_;
    KnownOrders& orders_;
    Prepared::State state_;
    // These hold for as long as tp, cp, ep and expert_tp stay.
    std::optional<Network> network_;
    std::map<ShapeKey, Shape> shapes_;
    ShapeKey shape_key_;                // of the shape at hand
    std::vector<JobGroups> in_layers_;  // each differs from the others in its exchanges inside layers
    // These hold for as long as pp and dp stay, too, wherever ranks are placed.
    std::map<std::tuple<WeightsApart, int, std::vector<int>>, Split> splits_;  // by vpp and stage_blocks, too
    // These hold for as long as the placement stays, too.
    std::map<LayoutKey, Layout> layouts_;
    // The plans of the schedule at hand that are to be priced.
    std::vector<Deferred> deferred_;
    std::vector<Passes> passes_;   // of those; entries of an earlier schedule are kept to reuse their memory
    std::vector<Passes*> wanted_;  // those whose ends are still to be found
    std::vector<PlayedPipeline> pipelines_;
    PipelinePlayer player_;
    // The parts at hand, which the state borrows.
    Shape* shape_ = nullptr;
    Split* split_ = nullptr;
    InFlight* in_flight_ = nullptr;  // of the split, under the schedule at hand
    Layout* layout_ = nullptr;
    // Looked up when they are first needed for the parts at hand.
    PlacedStages* placed_stages_ = nullptr;
    const Share* share_ = nullptr;
};

}  // namespace sextant
