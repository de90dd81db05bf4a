// What a collective call costs, by algorithm and protocol: the library is assumed to choose the fastest, as NCCL's tuner does.
//
// A call is its start, the steps of its algorithm one after another, and its bytes over what the protocol reaches of the links that they
// cross. Sizes are of the buffer; of an all-gather that of its result, of a reduce-scatter of its input, of an all-to-all what one rank
// sends. Formulas, protocols and sources: docs/model/collectives.md. Rings: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms
// for clusters of workstations" (2009); double binary trees: Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth broadcast,
// reduction and scan" (2009). A library that reduces on the host adds (n-1)/n S over the rate at which one process adds, and copies device
// buffers there and back. Neglected: start-up skew between ranks, congestion by other jobs, and chunking beyond the per-step latency.
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

// What a group's machine brings to it beside the topology.
struct GroupMachine {
    bool in_switch_reduction = false;  // the switches between the devices of a node can add
    bool ordered_network = true;       // bytes leave the network as they entered it
    Bandwidth host_memory;             // of a node
    std::optional<Bytes> eager_limit;  // longer messages wait until the receiver, across the network, has asked for them
    friend bool operator==(const GroupMachine&, const GroupMachine&) = default;
};
GroupMachine group_machine(const Cluster&);

// A communicator: what the topology gives a group of ranks that communicate at once with their sister groups.
struct Group {
    int ranks = 1;
    int nodes = 1;         // that the group spans
    Bandwidth ring;        // per rank, over all its rings
    Bandwidth all_to_all;  // per rank
    // Of the ring's part in a node; infinite where it has none.
    Bandwidth inside = Bandwidth::from_si(std::numeric_limits<double>::infinity());
    Bandwidth across = inside;  // of the ring's part on the network, likewise
    Seconds wire_latency;       // of the slowest hop
    Hop hop = Hop::nvlink;      // class of the hops inside a node
    bool crosses_network = false;
    bool in_switch = false;       // the switch that joins all its ranks can reduce
    bool in_node_switch = false;  // ... that joins its ranks of a node; it has ranks on several
    bool through_host = false;
    bool staged_inside = false;  // hops inside a node are among those that go through host memory
    bool host_buffers = false;   // the ranks are CPU ranks
    GroupMachine machine;
    friend bool operator==(const Group&, const Group&) = default;
};

// Lays `members` on the topology; `groups` are all that communicate at the same time, members among them.
Group make_group(const Topology&, std::span<const DeviceIndex> members, std::span<const std::vector<DeviceIndex>> groups,
                 const GroupMachine&);
// The same from what is known of its ring and its all-to-all.
Group make_group(const Topology&, int ranks, int nodes, const RingLayout&, Bandwidth all_to_all, const GroupMachine&);

// What is scaled in a what-if: how many times as wide links are inside a node and over the network, and how many times as quick to answer.
struct LinkScale {
    double inside = 1;
    double across = 1;
    double latency = 1;
};

// How many times as fast its ring becomes: it is no faster than its parts in nodes and on the network.
double ring_gain(const Group&, LinkScale);

// How the bytes of a collective travel: from each rank to its successor around the ring, from each to all others, or from one to one.
enum class Pattern : std::uint8_t { ring, all_to_all, path };

// One call, taken apart: `fixed` passes without using a link (protocol steps, reductions on the host), then every rank sends `bytes` by the
// pattern at `efficiency` of what the links give it.
struct CollectivePrice {
    Seconds fixed;
    Bytes bytes;
    Pattern pattern = Pattern::ring;
    double efficiency = 1;
};

// The cheapest algorithm and protocol for this group when nothing else uses its links.
CollectivePrice collective_price(Collective, Bytes size, const Group&, const CommunicationLibrary&, LinkScale = {});

// A call that has the group's links to itself (and to the sister groups that the group was laid beside).
Seconds time_alone(const CollectivePrice&, const Group&);

// Time of one call, its price played on the group's own links. One rank communicates for free.
Seconds collective_time(Collective, Bytes size, const Group&, const CommunicationLibrary&, LinkScale = {});

}  // namespace sextant
