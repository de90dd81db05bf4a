// What groups put on the links of a topology, for callers that lay many groups of which most lie alike.
//
// A group is described by a formation (its devices in one block of nodes) and by the blocks in which it has that formation. It does the
// same in each of its blocks. So the links inside nodes are counted in its first two blocks only: a ring enters its first block last and
// the others first, and sums may round differently there. The links of the fabric, which blocks see differently, are all counted. The
// answers are those of Topology for the same devices, to the bit.
#pragma once

#include "model/hardware/topology.hpp"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sextant {

class LinkLoads;    // topology_graph.hpp
struct RingBundle;  // ring_packing.hpp

struct Formation {
    // Where a ring enters and leaves a part: at this place of its order, through this NIC.
    struct Gate {
        std::size_t place = 0;
        int nic = 0;
    };
    // What a device sends through a NIC of its own.
    struct Way {
        DeviceIndex device = 0;
        int node = 0;
        int nic = 0;
        double share = 1;
    };
    // Inside one unit: a node, or all nodes on one peer switch.
    struct Part {
        std::vector<DeviceIndex> devices;    // ascending
        std::vector<DeviceIndex> order;      // of a ring
        std::vector<Gate> gates;             // a NIC that serves the devices, each once, with the first device that it serves
        std::vector<Way> ways;               // out of the unit, of each device
        bool on_switch = false;              // several devices on one peer switch
        const RingBundle* bundle = nullptr;  // over direct links, where they close a ring
        // Whether a ring of its own needs no host: it runs over direct links or a peer switch, or there is only one device.
        [[nodiscard]] bool closed() const { return devices.size() == 1 || on_switch || bundle != nullptr; }
    };
    std::vector<Part> parts;
    std::vector<int> nodes;  // ascending
    std::size_t devices = 0;
    std::size_t rings = 0;  // between units: as many as the part with the fewest NICs has
};

// The formation in each of the blocks first + shifts[0], first + shifts[1] ...; the shifts ascend from 0.
struct SpreadGroup {
    const Formation* formation = nullptr;
    int first = 0;
    std::span<const int> shifts;

    [[nodiscard]] std::size_t size() const { return formation->devices * shifts.size(); }
};

class GroupTraffic {
public:
    // The topology outlives it. Device d of block b is b x `block_devices` + d; a block consists of whole units.
    GroupTraffic(const Topology&, int block_devices);
    explicit GroupTraffic(const Topology&);  // for groups anywhere: the whole machine is one block
    ~GroupTraffic();

    // One or several distinct devices in any order, counted from where a block begins. A group of a single block may also reach beyond it.
    // The result is valid for as long as this object.
    Formation form(std::vector<DeviceIndex> devices);

    // As of Topology, for a group beside all others that communicate at the same time. The ring's order and hops are those of its first two
    // blocks.
    RingLayout ring(const SpreadGroup&, std::span<const SpreadGroup> others);
    Bandwidth all_to_all_bandwidth(const SpreadGroup&, std::span<const SpreadGroup> others);
    // The loads on the links of the fabric and of the nodes of one block.
    std::vector<LinkLoad> ring_loads(const SpreadGroup&, int block);
    std::vector<LinkLoad> all_to_all_loads(const SpreadGroup&, int block);
    // The same of a group anywhere, on all links: for each byte that one member passes to its successor, over all rings of the bundle, or
    // sends to all others together.
    std::vector<LinkLoad> ring_loads(std::span<const DeviceIndex> members);
    std::vector<LinkLoad> all_to_all_loads(std::span<const DeviceIndex> members);

    // Whether the two groups may cross a link that both use. They do not where they stand on other nodes of other leaves.
    [[nodiscard]] bool may_meet(const SpreadGroup&, const SpreadGroup&) const;

    // The place of a block in its leaf. Groups that are moved by whole leaves cross the same links, moved with them. Blocks of a period
    // that lies within one leaf all have the same place.
    [[nodiscard]] int place_in_leaf(int block, int period) const;

private:
    void count_on(int block);
    void count_first_blocks_of(const SpreadGroup&);
    const RingBundle* bundle_of(std::span<const DeviceIndex> unit);

    const Topology::Graph& graph_;
    int block_devices_;
    std::unique_ptr<LinkLoads> loads_;
    std::map<std::vector<int>, std::optional<RingBundle>> bundles_;  // by devices of a node: nodes are alike
};

}  // namespace sextant
