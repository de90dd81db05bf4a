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
    std::optional<Bytes> up_to;                      // the largest message that may use the protocol
    bool needs_order = false;                        // flags stand among the data: only over links that deliver bytes in order
    Bytes channel_bytes;                             // a message opens one channel for each so many bytes of a rank's part
    Sourced<Bandwidth> channel_bandwidth;            // of one channel, for messages too short to open more
    std::optional<Sourced<Seconds>> channel_start;   // beyond the base, for each channel of a long message
    // Chunks of medium size fill a tree badly: the fraction of its bandwidth that messages of 64 B, 128 B ... reach. The last entry holds
    // for all larger ones.
    std::vector<double> tree_fill;
};

// How a broadcast travels, and when.
enum class BroadcastAlgorithm { binomial, split_binary, chain };
struct BroadcastRule {
    BroadcastAlgorithm algorithm = BroadcastAlgorithm::binomial;
    std::optional<Bytes> below;  // for messages smaller than this
    // For groups of fewer ranks than `fewer_than` + `ranks_per_byte` times the size of the message.
    std::optional<double> fewer_than;
    double ranks_per_byte = 0;
    Bytes segment;  // so much is sent at once; binomial: the whole message
};

// A library whose collectives are messages, each sent by one process and received by another: an MPI. Rates are those of one core, and hold
// as long as the memory of the host is fast enough for all cores.
struct MessagePassing {
    // Where this is stated, the rates are those of a host whose memory has this bandwidth; on another host they are in proportion.
    std::optional<Bandwidth> of_host;
    Sourced<Seconds> inside, across;  // latency of a small message between buffers in host memory, in a node and over the network
    Sourced<Seconds> wire_in_across;  // the part of `across` that the topology counts as the wire; a slower wire adds the difference
    Sourced<Bandwidth> combine;       // the rate at which a process receives, adds and passes on
    Sourced<Seconds> post;            // the time to post the send or the receive of a segment ...
    Sourced<Bandwidth> copy;          // ... and the rate at which it is copied
    // Reductions of device buffers run on the host: the start-up of the two copies together, and their bytes per second.
    Sourced<Seconds> staging_call;
    Sourced<Bandwidth> staging;
    Sourced<Seconds> device_eager;         // start-up of a short message from device memory ...
    Sourced<Bandwidth> device_reads;       // ... whose bytes the processor reads over the bus at this rate
    Bytes device_eager_up_to;              // the receiver fetches longer messages itself,
    Sourced<Seconds> device_rendezvous;    // with this start-up
    Bytes doubling_below;                  // smaller all-reduces exchange whole buffers by recursive doubling, others go around a ring
    std::vector<BroadcastRule> broadcast;  // the first rule that fits counts
};

// NCCL, RCCL, Gloo, an MPI: what a collective call costs beyond the wire.
struct CommunicationLibrary {
    std::string name;  // "nccl"
    std::vector<std::string> aliases;
    std::vector<Protocol> protocols;
    bool tree = false;  // double binary trees for all-reduce
    Sourced<double> tree_bandwidth_fraction;
    bool tree_of_two_nodes = true;                 // a tree over two nodes passes a buffer between them only once
    Bandwidth channel_rate;                        // a long message has a channel for each so much of the group's bandwidth
    bool in_switch_reduction = false;              // NVLS on NVSwitch of Hopper and later, when the hardware has it
    Sourced<double> in_switch_bandwidth_fraction;  // of the port's bandwidth, for the reduced bytes
    Sourced<Seconds> in_switch_step;
    // Reductions run on the host: bytes that one process adds per second, its copies included. Absent: on the device.
    std::optional<Sourced<Bandwidth>> host_reduction;
    // Device buffers are copied to the host for that and back: bytes per second of one process. Absent: they are not.
    std::optional<Sourced<Bandwidth>> host_staging;
    // Inside a node without peer access: the fraction of the rate of copies through host memory that its kernels reach. Absent: all of it.
    std::optional<Sourced<double>> staged_fraction;
    bool in_switch_tree = false;  // the switch of each node adds, a tree joins the nodes (NVLSTree)
    // Broadcasts and reductions that follow one another overlap as long as all channels have the same order of ranks: inside a node, and
    // where a message has only one channel. As many are then on their way as a connection has slots.
    bool chains_follow = false;
    // The part of a step over the network that is the wire of the networks on which it was measured. A slower wire adds the difference.
    std::optional<Sourced<Seconds>> wire_in_step;
    // The time to start one call on one device. A process that drives several devices starts them one after another. Absent: each device
    // has a process of its own.
    std::optional<Sourced<Seconds>> launch;
    std::optional<MessagePassing> messages;
    bool sockets_only = false;  // ignores RDMA: uses the Ethernet interface even where a faster fabric exists
    std::string notes;
};

}  // namespace sextant
