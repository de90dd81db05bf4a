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
    Sourced<Bandwidth> bandwidth;  // per direction, as signalled and encoded
    Sourced<double> achievable;    // fraction of `bandwidth` that large transfers reach
    Sourced<Seconds> latency;      // of the wire and the hardware, one way, small message
    std::string notes;
};

// How a communication library behaves on one class of link.
enum class Hop { nvlink, pcie, network };

struct Protocol {
    std::string name;                    // "Simple", "LL", "LL128", "eager", "rendezvous"
    Sourced<double> bandwidth_fraction;  // of what the link achieves
    Sourced<Seconds> ring_step[3];       // time per ring step beyond the bytes, by Hop
    Sourced<Seconds> tree_step[3];       // time per level of a tree, by Hop
    Sourced<Seconds> base;               // per call
    std::optional<Bytes> up_to;          // largest message that may use it
};

// NCCL, RCCL, Gloo, an MPI: what a collective call costs beyond the wire.
struct CommunicationLibrary {
    std::string name;  // "nccl"
    std::vector<std::string> aliases;
    std::vector<Protocol> protocols;
    bool tree = false;  // double binary trees for all-reduce
    Sourced<double> tree_bandwidth_fraction;
    bool in_switch_reduction = false;              // NVLS on NVSwitch of Hopper and later, SHARP on InfiniBand, when the hardware has it
    Sourced<double> in_switch_bandwidth_fraction;  // of the port's bandwidth, for the reduced bytes
    Sourced<Seconds> in_switch_step;
    // Reductions run on the host: bytes that one process adds per second, its copies included. Absent: on the device.
    std::optional<Sourced<Bandwidth>> host_reduction;
    // Device buffers are copied to the host for that and back: bytes per second of one process. Absent: they are not.
    std::optional<Sourced<Bandwidth>> host_staging;
    bool sockets_only = false;  // ignores RDMA: uses the Ethernet interface even where a faster fabric exists
    std::string notes;
};

}  // namespace sextant
