// Kinds of link, and the libraries that move data over them. Data only.
#pragma once

#include "model/base/provenance.hpp"
#include "model/base/quantity.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant {

enum class LinkCategory {
    pcie,        // device to switch, switch to socket
    socket,      // between CPU sockets: QPI, UPI, xGMI
    nvlink,      // device to device or device to NVSwitch, any vendor's equivalent
    infiniband,  // RDMA networks: InfiniBand, RoCE, Omni-Path, Slingshot, EFA
    ethernet,    // kernel TCP sockets
    memory,      // through host memory
};

struct LinkType {
    std::string name;  // "InfiniBand HDR 4x"
    LinkCategory category = LinkCategory::pcie;
    Sourced<Bandwidth> bandwidth;               // per direction, as signalled and encoded
    Sourced<double> achievable;                 // fraction of `bandwidth` that large transfers reach
    Sourced<Seconds> latency;                   // of the wire and the hardware, one way, small message
    bool ordered = true;                        // bytes arrive in the order in which they were sent
    std::optional<Sourced<Bytes>> eager_limit;  // longer messages are sent when the receiver has asked for them
    std::string notes;
};

// How a communication library behaves on one class of link.
enum class Hop { nvlink, pcie, network };

struct Protocol {
    std::string name;                                // "Simple", "LL", "LL128", "eager", "rendezvous"
    Sourced<double> bandwidth_fraction;              // of what the link achieves
    std::optional<Sourced<double>> inside_fraction;  // of what the links inside a node achieve, where that is less. Absent: as above
    Sourced<Seconds> ring_step[3];                   // time per ring step beyond the bytes, by Hop
    Sourced<Seconds> tree_step[3];                   // time per level of a tree, by Hop
    Sourced<Seconds> base;                           // per call
    std::optional<Bytes> up_to;                      // largest message that may use it
    bool needs_order = false;                        // flags stand among the data: only over links that deliver bytes in order
    Bytes channel_bytes;                             // a message opens one channel for each of a rank's part
    Sourced<Bandwidth> channel_bandwidth;            // that one moves until it does
    std::optional<Sourced<Seconds>> channel_start;   // beyond the base, for each channel of a long message
    // Chunks of a tree fill it badly at medium sizes: of its bandwidth, for messages of 64 B, 128 B ...; larger ones: the last.
    std::vector<double> tree_fill;
};

// How a broadcast travels, and when.
enum class BroadcastWay { binomial, split_binary, chain };
struct BroadcastRule {
    BroadcastWay way = BroadcastWay::binomial;
    std::optional<Bytes> below;  // for messages smaller than this
    // For groups of fewer ranks than this and, for each byte of the message, that.
    std::optional<double> fewer_than;
    double ranks_per_byte = 0;
    Bytes segment;  // that is sent at once; binomial: the whole message
};

// A library whose collectives are messages between processes, each sent by one and received by another: an MPI. Rates are those of one
// core, as long as the memory of the host is fast enough for all of them.
struct MessagePassing {
    std::optional<Bandwidth> of_host;  // of servers: rates are those of a host whose memory moves this, another's are in proportion
    Sourced<Seconds> inside, across;   // of a small message between buffers in host memory, in a node and over the network
    Sourced<Seconds> wire_in_across;   // as the topology counts it; a slower one adds what it is slower
    Sourced<Bandwidth> combine;        // that a process receives, adds and passes on
    Sourced<Seconds> post;             // a segment: to post its send or its receive...
    Sourced<Bandwidth> copy;           // ... and to copy it
    // Reductions of device buffers run on the host: what the two copies cost together, and their bytes per second.
    Sourced<Seconds> staging_call;
    Sourced<Bandwidth> staging;
    Sourced<Seconds> device_eager;    // a short message from device memory: beyond its bytes ...
    Sourced<Bandwidth> device_reads;  // ... which the processor reads over the bus at this rate
    Bytes device_eager_up_to;         // longer ones are fetched by the receiver:
    Sourced<Seconds> device_rendezvous;
    Bytes doubling_below;                  // smaller all-reduces exchange whole buffers by recursive doubling, others go around a ring
    std::vector<BroadcastRule> broadcast;  // the first that fits
};

// NCCL, RCCL, Gloo, an MPI: what a collective call costs beyond the wire.
struct CommunicationLibrary {
    std::string name;  // "nccl"
    std::vector<std::string> aliases;
    std::vector<Protocol> protocols;
    bool tree = false;  // double binary trees for all-reduce
    Sourced<double> tree_bandwidth_fraction;
    bool tree_of_two_nodes = true;                 // knows that a tree over two nodes passes a buffer once between them
    Bandwidth channel_rate;                        // channels of a long message: one for so much of the group's bandwidth
    bool in_switch_reduction = false;              // NVLS on NVSwitch of Hopper and later, when the hardware has it
    Sourced<double> in_switch_bandwidth_fraction;  // of the port's bandwidth, for the reduced bytes
    Sourced<Seconds> in_switch_step;
    // Reductions run on the host: bytes that one process adds per second, its copies included. Absent: on the device.
    std::optional<Sourced<Bandwidth>> host_reduction;
    // Device buffers are copied to the host for that and back: bytes per second of one process. Absent: they are not.
    std::optional<Sourced<Bandwidth>> host_staging;
    // Inside a node without peer access: what its kernels reach of copies through host memory. Absent: all.
    std::optional<Sourced<double>> staged_fraction;
    bool in_switch_tree = false;  // the switch of each node adds, a tree joins the nodes (NVLSTree)
    // Broadcasts and reductions that follow one another overlap as long as all channels have one order of ranks, as inside a node and where
    // a message has but one channel: as many then as a connection has slots are on their way at once.
    bool chains_follow = false;
    // Of a step over the network, the part that is the wire of the networks where it was measured; a slower wire adds what it is slower.
    std::optional<Sourced<Seconds>> wire_in_step;
    // Of one call on one device: a process that drives several starts one after the other. Absent: each has its process.
    std::optional<Sourced<Seconds>> launch;
    std::optional<MessagePassing> messages;
    bool sockets_only = false;  // ignores RDMA: uses the Ethernet interface even where a faster fabric exists
    std::string notes;
};

}  // namespace sextant
