// Nodes and the fabric between them: what a profile under hardware_profiles/clusters says. Data only; see topology.hpp for the graph.
#pragma once

#include "model/hardware/calibration_stamp.hpp"
#include "model/hardware/device.hpp"
#include "model/hardware/link.hpp"
#include "model/hardware/sample_speeds.hpp"
#include "model/hardware/storage.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sextant {

// How the devices of one node reach each other without the host.
enum class PeerLayout {
    none,        // only over PCIe and sockets
    crossbar,    // every device on a switch with its full bandwidth: NVSwitch, NVLink Switch
    all_to_all,  // a fixed number of links between every pair
    matrix,      // a link count for every pair: hybrid cube mesh, MI250X
    pairs,       // bridges between devices 0-1, 2-3, ...
};

struct PeerFabric {
    PeerLayout layout = PeerLayout::none;
    LinkType link;                             // one link; crossbar: the whole port of a device
    int links = 1;                             // crossbar: ports per device; all_to_all, pairs: links between a pair
    std::vector<std::vector<int>> link_count;  // matrix: symmetric, zero diagonal
    bool in_switch_reduction = false;          // crossbar: the switch can add (NVLS)
    int domain = 0;                            // crossbar: devices that share the switch; larger than a node for NVL72. 0: the node
};

// About a slice of Linux's scheduler.
inline constexpr Seconds usual_turn = 3 * units::ms;

struct HostSpec {
    std::string cpu;  // name, for people
    int sockets = 2;
    int cores = 0;  // of the whole node
    Sourced<Bytes> memory;
    Sourced<Bandwidth> memory_bandwidth;
    // Speed of one thread of this host against a 3.0 GHz server core of 2020 (1.0): divides every host-side time.
    Sourced<double> thread_speed;
    LinkType socket_link;
    SampleSpeeds samples;                  // of one thread
    std::optional<Sourced<Seconds>> turn;  // that a rank waits for, to communicate, when another has its core; absent: the usual

    // What its cores stream: as it was measured, or 0.8 of what its channels could. STREAM reaches 0.70 (Skylake) to 0.84 (Rome, Milan) of
    // them (hardware_profiles/devices, `stream_fraction` of CPUs).
    [[nodiscard]] Bandwidth streamed() const { return (memory_bandwidth.kind == SourceKind::measured ? 1 : 0.8) * *memory_bandwidth; }
};

struct NodeSpec {
    Device device;
    int devices = 1;
    int ranks_per_device = 1;  // so many of `devices` are one device's cores, which their ranks share: oversubscribed
    PeerFabric peers;
    LinkType host_link;          // PCIe of one device (and of a PCIe switch upwards)
    int devices_per_switch = 1;  // devices that share one uplink to their socket; 1: none share
    bool peer_access = true;     // devices may copy to each other over PCIe; false: through host memory
    HostSpec host;
    int nics = 0;  // compute NICs; 0: a single-node machine
    LinkType nic_link;
    bool gpu_direct = true;                                  // NICs read device memory
    std::optional<Sourced<Bandwidth>> gpu_direct_bandwidth;  // what one NIC moves of it, where that is less than its link
    std::optional<LinkType> ethernet;                        // the slow interface that sockets use where another fabric carries the rest
    std::optional<StorageClass> local_storage;
    Sourced<Watts> base_power;                // of a node without its devices
    std::optional<Sourced<MoneyRate>> price;  // rent of one node

    // The devices that there really are, where ranks share them.
    [[nodiscard]] double unshared_devices() const { return static_cast<double>(devices) / ranks_per_device; }
};

enum class FabricKind { none, single_switch, leaf_spine, rail_leaf_spine, dragonfly };

struct FabricSpec {
    FabricKind kind = FabricKind::none;
    int nodes_per_leaf = 0;            // nodes whose NICs (or whose rail's NIC) meet at one leaf
    double oversubscription = 1;       // down-links over up-links at a leaf
    Sourced<Seconds> switch_latency;   // per hop
    bool in_switch_reduction = false;  // SHARP: a fact that no cost counts yet
};

// What the scheduler calls it, as its users tell it. Empty: not known.
struct SchedulerNames {
    std::string partition;              // that these nodes are
    std::string local_disk_constraint;  // which gives nodes with a local disk only
};

struct Cluster {
    std::string name;   // "selene"
    std::string title;  // "NVIDIA Selene: DGX A100 SuperPOD"
    std::vector<std::string> aliases;
    int nodes = 1;                  // that exist
    std::vector<int> node_numbers;  // of those that a job was given, ascending from 0: where they hang in the fabric; empty: the first
    NodeSpec node;
    FabricSpec fabric;
    std::vector<StorageClass> shared_storage;
    std::map<std::string, StorageClass, std::less<>> file_systems;  // as its users know them: "home", "scratch", "tmp"
    std::optional<int> local_storage_nodes;                         // nodes that have node.local_storage; absent: all
    SchedulerNames slurm;
    std::optional<CommunicationLibrary> library;  // as it was measured here, for scenarios that use the library of this name
    std::optional<CalibrationStamp> calibration;
    // What is not known and was assumed, in words; a report repeats them.
    std::vector<std::string> assumptions;
    std::string notes;
};

}  // namespace sextant
