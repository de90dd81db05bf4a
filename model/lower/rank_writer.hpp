// Writes the segments of one rank, one after another. Internal to lower.
#pragma once

#include "model/graph/task_graph.hpp"
#include "model/lower/lower.hpp"
#include "model/plan/data_exchanges.hpp"
#include "model/plan/framework_defaults.hpp"
#include "model/plan/offload.hpp"
#include "model/plan/partition.hpp"
#include "model/plan/rank_layout.hpp"
#include "model/plan/virtual_stages.hpp"
#include "model/schedule/schedule.hpp"

#include <optional>
#include <vector>

namespace sextant {

// A worker's gradients to the parameter servers, or weights from them.
struct ServedTransfer {
    GraphRank worker = 0;
    int round = 0;  // the worker's step
    SegmentIndex segment = 0;
    double elements = 0;  // on each server, of all workers that this one stands for
};

// How samples come to the first stage.
struct InputPipeline {
    int ahead = 0;        // micro-batches that wait where training takes them; none: they are read when they are asked for
    bool copies = false;  // to a device with memory of its own ...
    bool beside = false;  // ... beside its work
    bool behind = false;  // ... and loaded while the one before it was copied: one more waits to be copied
};
std::optional<InputPipeline> input_pipeline(const Scenario&);

// What lowering works out of a scenario once, for all ranks.
struct LoweredJob {
    LoweredJob(const Scenario&, Fold, const Network&);

    const Scenario& scenario;
    const Plan& plan;
    const Framework& framework;
    Fold fold;
    Precision precision;
    RankLayout layout;
    int micro_batches = 1;
    std::vector<std::vector<WorkItem>> orders;  // by stage
    VirtualStages where;                        // the virtual stages are
    std::vector<ComputeWork> virtual_stages;    // the blocks of each
    std::vector<TransferWork> boundaries;       // what leaves each virtual stage forward
    std::vector<BlockParameters> parameters;    // by block
    BucketRule bucket_rule;
    TaskGraphBuilder builder;  // has the network
    // By rank of the graph: transfers to the neighbouring stages, and to and from the parameter servers.
    std::vector<std::optional<CommunicatorIndex>> to_next, to_previous, to_server;
    std::vector<ServedTransfer> pushes, pulls;
    std::optional<InputPipeline> input;  // none where samples are always there
    // By rank of the graph, in the order of the micro-batches: what it loads and copies to its device, and when it takes them.
    std::vector<std::vector<SegmentIndex>> loads, copies, takes;

    // The rank of the graph that stands for the rank of the job at this stage, in the same pipeline as `neighbour`.
    [[nodiscard]] GraphRank at_stage(int stage, GraphRank neighbour) const;

    [[nodiscard]] std::size_t virtual_stage(int chunk, int stage) const {
        return where.at(static_cast<std::size_t>(stage), static_cast<std::size_t>(chunk));
    }
    // Place in Crossings.
    [[nodiscard]] std::size_t crossing(int chunk, int micro_batch) const {
        return static_cast<std::size_t>(chunk) * static_cast<std::size_t>(micro_batches) + static_cast<std::size_t>(micro_batch);
    }
};

// ranks.cpp: adds the ranks, the communicators of their groups, and those between stages.
void add_ranks(LoweredJob&);

// servers.cpp: adds the servers and the workers' ways to them; what the servers do, once all workers are written.
void add_servers(LoweredJob&);
void serve(LoweredJob&);

// input.cpp: adds who reads for whom; what waits for whose samples, once all ranks are written.
void add_feeds(LoweredJob&);
void connect_feeds(LoweredJob&);

// First and last segment of a stretch of one rank's work.
struct Stretch {
    SegmentIndex first = 0, last = 0;
};

// Where micro-batches enter and leave the virtual stages of a rank, by chunk x micro-batches + micro-batch: transfers connect these.
struct Crossings {
    std::vector<Stretch> forward, backward;
};

class RankWriter {
public:
    RankWriter(LoweredJob&, GraphRank);
    Crossings write();

private:
    // pipeline.cpp
    void forward();
    void backward();
    std::optional<SegmentIndex> receive();
    SegmentIndex send(bool to_previous, TransferWork, SegmentIndex after);
    [[nodiscard]] const ComputeWork& blocks() const;            // of the virtual stage at hand
    [[nodiscard]] bool makes_gradients(const WorkItem&) const;  // of the weights of the chunk at hand
    [[nodiscard]] bool ends_gradients() const;                  // is the item at hand the last backward of its chunk?
    [[nodiscard]] StepEnds step_ends() const;                   // of gradients that the item at hand makes, when they are reduced

    // replicated.cpp: each rank holds all weights of its stage; ZeRO 1 and 2 share out what belongs to them
    struct Gathered {
        Bucket bucket;
        std::optional<SegmentIndex> by;
    };
    Stretch backward_with_reduction(const ComputeWork&);
    void reduce(const Bucket&, Stream, StepEnds, std::optional<SegmentIndex> after);
    void gather_for_forward();
    Stretch forward_behind_gathers(const ComputeWork&);
    void finish_step();
    void gather_updated_weights();

    // sharded.cpp: ZeRO 3 gathers weights block by block, just before they are needed
    Stretch sharded_pass(const ComputeWork&);
    [[nodiscard]] Stream shard_stream() const;  // of gathers and scatters
    std::optional<SegmentIndex> gather_block(int block);
    void scatter_until(std::size_t use);
    void wait_for_scatters();

    // input.cpp
    void take_samples();
    [[nodiscard]] bool reads() const;  // for all ranks that see the same samples

    // servers.cpp
    void push(const Bucket&, Stream, std::optional<SegmentIndex> after);
    void pull();

    // The last of the exchanges that this takes, where any is needed.
    std::optional<SegmentIndex> gather_weights(Stream, const Bucket&, std::optional<SegmentIndex> after = {});
    // To the host, too, where they go down behind it.
    std::optional<SegmentIndex> reduce_gradients(Stream, const Bucket&, StepEnds, std::optional<SegmentIndex> after = {});
    // In that stream, behind what is there and `after`.
    SegmentIndex host_copy(Stream, const OffloadWork&, std::optional<SegmentIndex> after);
    [[nodiscard]] CollectiveWork exchange_of(const DataExchange&, Payload, const Bucket&) const;

    SegmentIndex put(Stream, const Work&, std::optional<CommunicatorIndex> = {});
    // Nothing where the rank is alone in the group or there is nothing to exchange.
    std::optional<SegmentIndex> collective(Stream, const CollectiveWork&, std::optional<SegmentIndex> after = {});

    LoweredJob& job_;
    GraphRank rank_;
    int stage_;
    const std::vector<WorkItem>& order_;
    std::size_t at_ = 0;  // place in the order
    int round_ = 0;       // step, where the graph has several
    Crossings crossings_;
    std::optional<SegmentIndex> last_compute_;     // in the compute stream
    std::optional<SegmentIndex> last_collective_;  // in the communication stream
    std::vector<Bucket> unreduced_;                // gradients whose reduction nothing hides: at the end of the step
    std::vector<std::vector<Gathered>> gathered_;  // by chunk: weights of ZeRO 1 and 2 that arrive behind the first forward

    struct Use {  // of one block's gathered weights
        SegmentIndex compute = 0;
        int block = 0;
        bool ends_gradients = false;
        StepEnds step_ends;
        std::optional<SegmentIndex> scatter{};
    };
    std::vector<Use> uses_;
    std::size_t scattered_ = 0;  // of them, how many are done with their gradients
};

}  // namespace sextant
