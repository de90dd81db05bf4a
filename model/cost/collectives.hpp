// What a collective call costs, by algorithm and protocol: the library is assumed to choose the fastest, as NCCL's tuner does.
//
// A call takes its start, the steps of its algorithm one after another, and its bytes over the bandwidth that the protocol reaches on
// the links they cross. A size is that of the buffer: for an all-gather of the result, for a reduce-scatter of the input, for an
// all-to-all what one rank sends. Formulas, protocols and sources: docs/model/collectives.md. Rings: Patarasuk and Yuan, "Bandwidth
// optimal all-reduce algorithms for clusters of workstations" (2009); double binary trees: Sanders, Speck, Träff, "Two-tree
// algorithms for full bandwidth broadcast, reduction and scan" (2009). A library that reduces on the host adds (n-1)/n S over the
// rate at which one process adds, and copies device buffers there and back. Neglected: start-up skew between ranks, congestion by
// other jobs, and chunking beyond the per-step latency.
#pragma once

#include "model/base/quantity.hpp"
#include "model/hardware/link.hpp"
#include "model/hardware/topology.hpp"

#include <limits>
#include <optional>
#include <string_view>

namespace sextant {

enum class Collective { all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, send };
std::string_view to_text(Collective);
std::optional<Collective> find_collective(std::string_view name);

// What matters of the group's machine beside the topology.
struct GroupMachine {
    bool in_switch_reduction = false;  // the switches between the devices of a node can add
    bool ordered_network = true;       // bytes arrive in the order in which they were sent
    Bandwidth host_memory;             // of a node
    std::optional<Bytes> eager_limit;  // longer messages wait until the receiver, across the network, has asked for them
    double call_start = 1;             // how long its devices take to start a call, and for a step inside a node, relative to what the
    double call_step = 1;              // library's profile says
    friend bool operator==(const GroupMachine&, const GroupMachine&) = default;
};
GroupMachine group_machine(const Cluster&);

// A communicator: what the topology gives a group of ranks while its concurrent groups communicate too.
struct Group {
    int ranks = 1;
    int nodes = 1;         // that the group spans
    Bandwidth ring;        // per rank, over all its rings
    Bandwidth all_to_all;  // per rank
    // Per rank, of the part of the ring inside nodes; infinite where it has none.
    Bandwidth inside = Bandwidth::from_si(std::numeric_limits<double>::infinity());
    Bandwidth across = inside;  // the same of the part on the network
    Seconds wire_latency;       // of the slowest hop
    Hop hop = Hop::nvlink;      // the class of the hops inside a node
    bool crosses_network = false;
    bool in_switch = false;       // the switch that joins all its ranks can reduce
    bool in_node_switch = false;  // the switch of each node can reduce, for a group on several nodes
    bool through_host = false;
    bool staged_inside = false;  // hops inside a node are among those that go through host memory
    bool host_buffers = false;   // the ranks are CPU ranks
    GroupMachine machine;
    friend bool operator==(const Group&, const Group&) = default;
};

// Places `members` on the topology. `groups`: all that communicate at the same time, the members' own among them.
Group make_group(const Topology&, std::span<const DeviceIndex> members, std::span<const std::vector<DeviceIndex>> groups,
                 const GroupMachine&);
// The same from what is known of its ring and its all-to-all.
Group make_group(const Topology&, int ranks, int nodes, const RingLayout&, Bandwidth all_to_all, const GroupMachine&);

// Of ranks that make one call while nobody else communicates, as in nccl-tests. In its sendrecv each sends to the next of `members`, the
// last to the first, all at once: a ring that cannot choose its order, and is no faster than its slowest hop.
Group group_of_call(Collective, const Topology&, std::span<const DeviceIndex> members, const GroupMachine&);

// Multipliers of a what-if: of the bandwidth inside nodes and on the network, and the factor by which latencies are divided.
struct LinkScale {
    double inside = 1;
    double across = 1;
    double latency = 1;
};

// How many times as fast the group's ring becomes. It is as fast as the slower of its parts in nodes and on the network.
double ring_gain(const Group&, LinkScale);

// How the bytes of a collective travel: from each rank to its successor around the ring, from each to all others, or from one to one.
enum class Pattern : std::uint8_t { ring, all_to_all, path };

// The parts of one call. `fixed` passes without using a link (protocol steps, reductions on the host); then every rank sends `bytes` in the
// pattern, at `efficiency` times the bandwidth that the links give it.
struct CollectivePrice {
    Seconds fixed;
    Bytes bytes;
    Pattern pattern = Pattern::ring;
    double efficiency = 1;
};

// The cheapest algorithm and protocol for this group when nothing else uses its links.
CollectivePrice collective_price(Collective, Bytes size, const Group&, const CommunicationLibrary&, LinkScale = {});

// The time of a call that shares the group's links only with the concurrent groups it was placed beside.
Seconds time_alone(const CollectivePrice&, const Group&);

// Both in one: the time of a call, alone on the group's links. Zero for a single rank.
Seconds collective_time(Collective, Bytes size, const Group&, const CommunicationLibrary&, LinkScale = {});

}  // namespace sextant
