// Runs the segments of one rank, step after step. The compute stream runs here, all communication in an ExchangeLoop on another thread.
//
// rank_runner.cpp walks through the graph, rank_calls.cpp says what its exchanges call, rank_samples.cpp has the data, rank_passes.cpp
// runs blocks, rank_update.cpp ends the step.
#pragma once

#include "backend/exec/block_exchanges.hpp"
#include "backend/exec/dataset_feed.hpp"
#include "backend/exec/generated_task.hpp"
#include "backend/exec/job.hpp"
#include "backend/exec/loss_scale.hpp"
#include "backend/exec/rank_activity.hpp"
#include "backend/exec/rank_memory.hpp"
#include "backend/exec/rank_plan.hpp"
#include "backend/exec/recording_device.hpp"
#include "backend/exec/server_traffic.hpp"
#include "backend/exec/step_record.hpp"
#include "backend/exec/tensor_parts.hpp"
#include "model/plan/rank_layout.hpp"

namespace sextant {

class RankRunner {
public:
    // `host`: see RankMemory. `feed`: the dataset to read; null: samples are generated.
    RankRunner(const Job&, GraphRank, ComputeDevice&, ComputeDevice* host, Transport&, RankActivity&, DatasetFeed* feed,
               bool times_operators);

    ExchangeLoop& exchanges() { return loop_; }
    StepRecord step(int number);  // walks through the graph; steps count from 0
    // Makes the weights whole after the last step: gathers them from the ranks or pulls them from the servers. All ranks call it.
    void gather_weights();
    [[nodiscard]] RankMemory& memory() { return memory_; }
    [[nodiscard]] const std::optional<LossScale>& loss_scale() const { return loss_scale_; }
    [[nodiscard]] UpdateChecksum pushed() const { return servers_ ? servers_->pushed() : UpdateChecksum{}; }

private:
    using Arrays = std::vector<Array>;
    struct Operands {  // of one call of a collective
        Array from, to;
    };
    struct BlockPass {
        int block;
        std::uint32_t micro_batch;
        friend auto operator<=>(const BlockPass&, const BlockPass&) = default;
    };
    struct MadeLosses {
        BlockPass at;
        const BlockProgram& program;
        Arrays outputs;
    };

    [[nodiscard]] std::vector<RankPlace> peers_of_feed() const;
    void make_data();
    void await_samples(SegmentIndex, std::uint32_t micro_batch);
    [[nodiscard]] bool lacks_samples(const ComputeWork&, std::uint32_t micro_batch);
    [[nodiscard]] bool is_awaited(const Segment&) const;
    [[nodiscard]] bool reads_data(int block);
    void prepare_step(int number);
    void run_segment(SegmentIndex);
    void post_receives(std::optional<SegmentIndex> behind);
    void exchange(SegmentIndex, const std::vector<Call>&);
    void keep_losses(BlockPass, const BlockProgram&, Arrays& values);
    void take_losses();
    void count_rows(int block, const Routing&);
    void settle(const SegmentPlan&);
    void await(SegmentIndex);
    void run(SegmentIndex, const ComputeWork&);
    void run(SegmentIndex, const UpdateWork&);
    void run(SegmentIndex, const OffloadWork&);
    void run(SegmentIndex, const OverheadWork&);
    void run(SegmentIndex, const TakeWork&);
    void run(SegmentIndex, const CopyWork&);
    template <class Exchanged>
    void run(SegmentIndex, const Exchanged&);
    void forward(const Segment&, const ComputeWork&, const SegmentPlan&);
    void backward(const Segment&, const ComputeWork&, const SegmentPlan&);
    void finish_backward(const Segment&, const ComputeWork&, const SegmentPlan&);
    void complete(int block, const BlockContext&);
    void update(SegmentIndex, SpanKind);
    void sum_tied_gradients(SharedMatrix);
    void add_tied_exchange(std::vector<Call>&, SharedMatrix, int stage, const Array& mine, const Array& theirs);
    [[nodiscard]] int rank_of_shard(int stage, int shard) const;
    void move_biases();
    void update_in_proportion();
    void sum_over_ranks(const Array&, ComputeDevice& of);
    [[nodiscard]] Counted counted_here() const;
    [[nodiscard]] double norm_of_gradients();
    [[nodiscard]] std::optional<double> factor_of_gradients();

    [[nodiscard]] int tag_of(SegmentIndex transfer, std::size_t part) const;
    [[nodiscard]] Arrays room_for(SegmentIndex reader);
    [[nodiscard]] TensorCut cut_of_boundaries() const;
    [[nodiscard]] Arrays& passing(Payload, const Segment&);
    [[nodiscard]] BlockContext enter(int block, const Segment&, const SegmentPlan&);
    [[nodiscard]] int round_of(std::uint32_t micro_batch) const;
    [[nodiscard]] StepPosition position(std::uint32_t micro_batch) const;
    [[nodiscard]] double share_of_loss() const;
    [[nodiscard]] const SegmentPlan& plan_of(SegmentIndex) const;

    // What the segments that communicate call. Either thread may ask.
    std::vector<Call> calls_of(SegmentIndex);
    std::vector<Call> calls(SegmentIndex, const Segment&, const CollectiveWork&);
    std::vector<Call> calls(SegmentIndex, const Segment&, const TransferWork&);
    template <class Other>
    std::vector<Call> calls(SegmentIndex, const Segment&, const Other&) {
        return {};
    }
    std::vector<Operands> arrived_parts(SegmentIndex);
    std::vector<Operands> operands_of_runs(SegmentIndex, const Segment&, const CollectiveWork&);
    std::vector<Operands> whole_gradients(const CollectiveWork&, ParameterRun HeldBlock::*of);
    std::vector<Operands> weights_for_use(SegmentIndex gather, const HeldBlock&, ParameterRun HeldBlock::*of);
    static Operands sharded_gradients(const ParameterRun&, ParallelGroup, ExchangeKind);

    const Job& job_;
    GraphRank rank_;
    RankLayout layout_;
    RankPlace place_;
    GradientFlow flow_;
    RankPlan plan_;
    RankActivity& activity_;
    Recorder recorder_;
    std::optional<OperatorTimes> operators_;
    RecordingDevice device_;
    ExchangeLoop loop_;
    BlockExchanges block_exchanges_;
    RankMemory memory_;
    std::optional<ServerLink> servers_;
    GeneratedTask task_;
    DatasetFeed* feed_;
    std::vector<RankPlace> peers_;  // of the same samples: the ranks that get them from this one, or the one that this rank gets them from
    int step_ = 0;
    int updates_ = 0;  // without the steps that did not count
    std::optional<LossScale> loss_scale_;
    std::vector<double> losses_, mtp_losses_;
    std::vector<MadeLosses> made_losses_;                   // of this step, still on the device
    std::vector<double> expert_rows_;                       // of this step
    std::map<SharedMatrix, std::vector<int>> stages_with_;  // the stages of a pipeline that train it
    std::vector<SegmentIndex> first_of_rank_;
    std::vector<Settlement> unsettled_;
    std::map<BlockPass, Arrays> data_;
    std::map<BlockPass, BlockProgram::Kept> kept_;
    std::map<BlockPass, std::vector<DeferredOperator>> deferred_;
    std::vector<Arrays> arriving_;  // by segment: the arrays that a transfer, or a gather behind it, fills
    std::vector<Arrays> passing_;   // by direction, chunk and micro-batch: the arrays between two segments
    std::vector<Array> gathered_;   // by segment: weights
    GatheredWeights fetched_;       // from the host, of the block whose weights are gathered next
};

}  // namespace sextant
