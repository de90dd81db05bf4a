// The closed form: a scenario is prepared once, then estimated as often as a search or a sensitivity needs it.
//
//     const Prepared job = prepare(scenario);       // looks up, cuts the network, lays groups on the topology: milliseconds
//     const Estimate e = estimate(job);             // microseconds
//     const Estimate faster = estimate(job, {.compute = 2});
#pragma once

#include "model/base/enum_array.hpp"
#include "model/base/quantity.hpp"
#include "model/plan/scenario.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// Each instant of the rank that finishes last belongs to exactly one term, so the terms sum to the step time.
enum class Term {
    forward,
    backward,
    recompute,
    optimizer,
    tensor_communication,
    context_communication,
    expert_communication,
    pipeline_communication,
    data_communication,
    bubble,
    input,
    launch,     // the device waits for the host
    offload,    // copies to and from host memory
    straggler,  // waiting for slower ranks
    overhead,   // what the framework does once a step or micro-batch
};
inline constexpr int term_count = static_cast<int>(Term::overhead) + 1;
inline constexpr auto all_terms = enumerators<Term, term_count>();
std::string_view to_text(Term);

struct Terms : EnumArray<Term, Seconds, term_count> {
    [[nodiscard]] Seconds total() const;
};

// Peak memory of one rank of a stage, by kind.
enum class MemoryKind { weights, gradients, optimizer, activations, logits, gathered_weights, communication, context, fragmentation };
inline constexpr int memory_kind_count = static_cast<int>(MemoryKind::fragmentation) + 1;
inline constexpr auto all_memory_kinds = enumerators<MemoryKind, memory_kind_count>();
std::string_view to_text(MemoryKind);

struct StageMemory : EnumArray<MemoryKind, Bytes, memory_kind_count> {
    [[nodiscard]] Bytes total() const;
    // What a framework's allocator hands out, which is what torch.cuda.max_memory_allocated() says: neither what driver and
    // communicators hold, nor what the allocator reserves and does not use.
    [[nodiscard]] Bytes allocated() const;
};

// What a plan moves to the host memory of a node, and how much of it there is. All ranks of the node are taken to be of the stage that
// moves most. Whatever else a host holds is not counted (docs/model/memory.md).
struct HostMemory {
    Bytes states, activations, there;
    [[nodiscard]] Bytes total() const { return states + activations; }
    [[nodiscard]] bool fits() const { return total() <= there; }
};

// What-if multipliers: 2 makes a resource twice as good. Bandwidths and rates are multiplied, latencies and overheads divided.
struct Resources {
    double compute = 1;           // matrix and vector rates
    double memory_bandwidth = 1;  // of the device
    double node_bandwidth = 1;    // of the links between devices of a node
    double host_link = 1;         // copies between device and host memory
    double network_bandwidth = 1;
    double latency = 1;  // of communication steps, everywhere
    double host = 1;     // dispatch and framework overheads
    double kernel_overhead = 1;
    double storage = 1;             // bandwidth
    double storage_operations = 1;  // latencies too
    double loader_workers = 1;
    double loader_cores = 1;  // the speed of each
    double overlap = 1;       // divides the slowdown of kernels beside communication

    friend bool operator==(const Resources&, const Resources&) = default;
};

struct Estimate {
    Seconds step;
    Terms terms;
    Terms overlapped;                 // time hidden behind the terms, not part of them
    std::vector<StageMemory> memory;  // by pipeline stage
    Bytes peak_memory;                // over stages
    Bytes device_memory;
    HostMemory host;
    Flops model_flops;      // a step of the whole job: what the mathematics needs, without recompute
    Flops hardware_flops;   // what is executed, recompute included
    int slowest_stage = 0;  // the stage that the others wait for,
    Terms slowest;          // and the same step on one of its ranks
    int last_stage = 0;     // the stage whose rank finishes last
    Seconds taking;         // from the first micro-batch that the first stage takes to the last, where nobody waits for samples

    [[nodiscard]] std::size_t fullest_stage() const;  // that with the peak memory; of several the first
    [[nodiscard]] Bytes peak_allocated() const;       // over stages
    [[nodiscard]] bool fits_device() const { return peak_memory <= device_memory; }
    [[nodiscard]] bool fits() const { return fits_device() && host.fits(); }
};

class Topology;

class Prepared {
public:
    Prepared(Prepared&&) noexcept;
    Prepared& operator=(Prepared&&) noexcept;
    ~Prepared();
    [[nodiscard]] const Scenario& scenario() const;
    // The nodes that its ranks fill.
    [[nodiscard]] const std::shared_ptr<const Topology>& topology() const;

    struct State;
    [[nodiscard]] const State& state() const { return *state_; }

private:
    friend Prepared prepare(const Scenario&, const Prepared*);
    explicit Prepared(std::unique_ptr<State>);
    std::unique_ptr<State> state_;
};

// `same_cluster`: a job on the same cluster, whose topology this one shares where it fills as many nodes; null for one of its own. Throws
// InputError with every problem of the plan.
Prepared prepare(const Scenario&, const Prepared* same_cluster = nullptr);
Estimate estimate(const Prepared&, const Resources& = {});

}  // namespace sextant
