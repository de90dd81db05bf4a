// The work of one training step as a graph: what simulate plays and what a backend executes. It knows no price.
//
// Two levels keep it small and executable. A *segment* is one piece of work at one place in one stream of one rank (forward of stage 3
// for micro-batch 7, the all-reduce of a bucket, an optimizer step) with the segments that it waits for. What a segment does is its
// *work*, shared by all segments that do the same: a run of blocks whose operators the network lists, a collective, a transfer.
//
// A rank of the graph may stand for many ranks of the job that do the same at the same time (fold in model/lower/lower.hpp).
#pragma once

#include "model/base/data_type.hpp"
#include "model/base/enum_array.hpp"
#include "model/base/quantity.hpp"
#include "model/workload/network.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace sextant {

// Segments of one stream of a rank run one after another, in the order in which they stand in the graph. Streams run side by side.
enum class Stream : std::uint8_t {
    compute,        // kernels, and communication that they wait for
    communication,  // data-parallel collectives behind the kernels
    send_next,      // transfers to the stage after
    send_previous,  // transfers to the stage before
    copy,           // between device and host memory
    server,         // of a parameter server: segments start in the order in which they become ready
    loader,         // workers that read and decode samples, all that feed the rank together
};
inline constexpr int stream_count = static_cast<int>(Stream::loader) + 1;
std::string_view to_text(Stream);

enum class Phase : std::uint8_t {
    forward,
    backward,         // gradients of inputs and weights
    backward_input,   // of inputs alone, and
    backward_weight,  // of weights alone: zero-bubble schedules
};
std::string_view to_text(Phase);

// Blocks first .. first + count - 1 of the network's sequence in order, backward from the last to the first. Exchanges inside the
// blocks are part of it. Blocks that the graph marks as recomputed run forward again just before their backward.
struct ComputeWork {
    Phase phase = Phase::forward;
    int first_block = 0, count = 1;
    friend bool operator==(const ComputeWork&, const ComputeWork&) = default;
};

// What a collective or a transfer carries.
enum class Payload : std::uint8_t { gradients, weights, activations, activation_gradients };
std::string_view to_text(Payload);

// An exchange by all ranks of a communicator: each rank's n-th collective on it is the same call.
// `elements` are counted as in Exchange (model/workload/operator.hpp).
struct CollectiveWork {
    ExchangeKind kind = ExchangeKind::all_reduce;
    ParallelGroup group = ParallelGroup::data;
    Payload payload = Payload::gradients;
    double elements = 0;
    DataType type = DataType::fp32;
    int calls = 1;                   // so many calls in turn, each with its part of the elements: buckets that become ready together
    int first_block = 0, count = 0;  // whose gradients or weights
    friend bool operator==(const CollectiveWork&, const CollectiveWork&) = default;
};

// From the first member of a communicator to the second; what waits for it there is a segment of the receiving rank. With a parameter
// server, which is the second, gradients go there and weights come back.
struct TransferWork {
    Payload payload = Payload::activations;
    double elements = 0;
    DataType type = DataType::bf16;
    friend bool operator==(const TransferWork&, const TransferWork&) = default;
};

// The optimizer's step over what the rank owns of its stage.
struct UpdateWork {
    int stage = 0;
    friend bool operator==(const UpdateWork&, const UpdateWork&) = default;
};

// Between device and host memory, and what the host does there (offload).
enum class Offloaded { update, weights, gradients };
struct OffloadWork {
    Offloaded what = Offloaded::update;
    int stage = 0;
    // Of weights and gradients: so many elements, of each this much over the device's link, and read and written by the host. Of none: the
    // stage's update.
    double elements = 0;
    Bytes over_link{}, in_host_memory{};
    int block = 0;  // whose weights
    friend bool operator==(const OffloadWork&, const OffloadWork&) = default;
};

// What a framework does once for each micro-batch or once for each step.
struct OverheadWork {
    bool of_step = false;
    friend bool operator==(const OverheadWork&, const OverheadWork&) = default;
};

// A parameter server adds a worker's gradients to what it holds, or updates the weights with them.
struct ServeWork {
    double elements = 0;
    bool update = false;
    friend bool operator==(const ServeWork&, const ServeWork&) = default;
};

// How samples come to a rank: workers read and decode those of a micro-batch, a device with memory of its own copies them, and training
// takes them, which makes room for others.
struct LoadWork {
    double samples = 0;
    friend bool operator==(const LoadWork&, const LoadWork&) = default;
};
struct CopyWork {
    double samples = 0;
    friend bool operator==(const CopyWork&, const CopyWork&) = default;
};
struct TakeWork {
    friend bool operator==(const TakeWork&, const TakeWork&) = default;
};

using Work =
    std::variant<ComputeWork, CollectiveWork, TransferWork, UpdateWork, OffloadWork, OverheadWork, ServeWork, LoadWork, CopyWork, TakeWork>;

// Whether it is loaders' or copies' work, which a real run leaves to a loader of its own.
bool brings_samples(const Work&);

using WorkIndex = std::uint32_t;
using SegmentIndex = std::uint32_t;
using GraphRank = std::uint32_t;          // index into TaskGraph::ranks
using CommunicatorIndex = std::uint32_t;  // index into TaskGraph::communicators

struct Segment {
    WorkIndex work = 0;
    GraphRank rank = 0;
    CommunicatorIndex communicator = 0;  // of collectives and transfers
    std::uint32_t micro_batch = 0;       // from 0; of the step's own work: 0; of what a server does: the worker's step
    std::uint16_t chunk = 0;             // virtual stage of the rank
    Stream stream = Stream::compute;
    GraphRank worker = 0;  // whose gradients a server has at hand
};

// Ranks that communicate. Where ranks are folded, `members` are those that stand for others, and `sets` all the groups that do so at once.
struct Communicator {
    ParallelGroup group = ParallelGroup::data;
    std::vector<GraphRank> members;
    std::vector<std::vector<int>> sets;  // ranks of the job; one set where nothing is folded
    bool with_server = false;            // the second of each set is the number of a parameter server
};

struct RankInfo {
    int rank = 0;          // of the job; the lowest that it stands for
    int stage = 0;         // of the pipeline
    int multiplicity = 1;  // ranks of the job that it stands for
    bool server = false;   // a parameter server: its number is `rank`
    // None where it is alone in its group.
    EnumArray<ParallelGroup, std::optional<CommunicatorIndex>, parallel_group_count> communicators;
    // Where samples are read: the ranks of its stage that see the same samples as it. The first of each set reads for all of them.
    std::optional<CommunicatorIndex> feed{};
};

struct BlockInstance {
    int block_template = 0;   // into Network::templates
    bool recomputed = false;  // its forward runs again before its backward
};

class TaskGraph {
public:
    [[nodiscard]] const Network& network() const { return network_; }
    [[nodiscard]] std::span<const BlockInstance> blocks() const { return blocks_; }  // the network's sequence
    [[nodiscard]] std::span<const RankInfo> ranks() const { return ranks_; }
    [[nodiscard]] std::span<const Communicator> communicators() const { return communicators_; }
    [[nodiscard]] std::span<const Work> works() const { return works_; }
    [[nodiscard]] std::span<const Segment> segments() const { return segments_; }  // of each stream in the order in which they run
    // The segments that one waits for, beside the one before it in its stream.
    [[nodiscard]] std::span<const SegmentIndex> waits_for(SegmentIndex s) const {
        return std::span(dependencies_).subspan(first_dependency_[s], first_dependency_[s + 1] - first_dependency_[s]);
    }
    [[nodiscard]] std::size_t dependency_count() const { return dependencies_.size(); }
    // Training steps that the graph covers: one, but where workers go on without each other.
    [[nodiscard]] int steps() const { return steps_; }

private:
    friend class TaskGraphBuilder;
    Network network_;
    std::vector<BlockInstance> blocks_;
    std::vector<RankInfo> ranks_;
    std::vector<Communicator> communicators_;
    std::vector<Work> works_;
    std::vector<Segment> segments_;
    std::vector<std::uint32_t> first_dependency_;
    std::vector<SegmentIndex> dependencies_;
    int steps_ = 1;
};

// Segments may be told to wait for segments that are added later.
class TaskGraphBuilder {
public:
    TaskGraphBuilder(Network, std::vector<BlockInstance>);

    GraphRank add(const RankInfo&);
    CommunicatorIndex add(Communicator);
    // Until build(): ranks and communicators learn of each other as lowering goes on.
    RankInfo& rank(GraphRank r) { return graph_.ranks_[r]; }
    Communicator& communicator(CommunicatorIndex c) { return graph_.communicators_[c]; }
    WorkIndex work(const Work&);  // the same index for equal work
    SegmentIndex add(const Segment&);
    void wait(SegmentIndex segment, SegmentIndex for_this);
    [[nodiscard]] const TaskGraph& so_far() const { return graph_; }
    [[nodiscard]] SegmentIndex next() const { return static_cast<SegmentIndex>(graph_.segments_.size()); }  // that add() will give

    int steps = 1;

    // Aborts when segments wait for each other in a circle: lowering never makes such a graph.
    TaskGraph build() &&;

private:
    TaskGraph graph_;
    std::unordered_multimap<std::size_t, WorkIndex> known_works_;
    std::vector<std::pair<SegmentIndex, SegmentIndex>> waits_;
};

// "forward of blocks 3-5", "all_reduce of gradients".
std::string describe(const Work&);

}  // namespace sextant
