// What groups put on the links of a topology, for who lays many groups of which most lie alike.
//
// A group is said as a formation, its devices in one block of nodes, and the blocks in which it has that formation. What it does in one
// of its blocks it does in all: so the links inside nodes are counted in its first two blocks alone (a ring enters its first block last
// and the others first, and sums may round otherwise there), and those of the fabric, which blocks see differently, all. The answers are
// those of Topology for the same devices, to the bit.
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
        // A ring of its own runs over direct links or a peer switch, or there is but one device.
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
    // Both outlive it. Device d of block b is b x `block_devices` + d; a block is a number of units.
    GroupTraffic(const Topology&, int block_devices);
    ~GroupTraffic();

    // One or several distinct devices in any order, counted from where a block begins: outside the block too, where a group has but one of
    // it. Valid for as long as this object.
    Formation form(std::vector<DeviceIndex> devices);

    // As Topology says, for a group beside all others that communicate at the same time. Of the ring's order and hops: as far as its
    // first two blocks show them.
    RingLayout ring(const SpreadGroup&, std::span<const SpreadGroup> others);
    Bandwidth all_to_all_bandwidth(const SpreadGroup&, std::span<const SpreadGroup> others);
    // On the links of the fabric and of the nodes of one block.
    std::vector<LinkLoad> ring_loads(const SpreadGroup&, int block);
    std::vector<LinkLoad> all_to_all_loads(const SpreadGroup&, int block);

    // Whether one of them may cross a link that the other crosses: not where they stand on other nodes of other leaves.
    [[nodiscard]] bool may_meet(const SpreadGroup&, const SpreadGroup&) const;

    // Where in its leaf a block is: groups that are moved by whole leaves cross the same links, moved as they are. Nothing tells blocks
    // apart that stand in a period of blocks that no leaf tears apart.
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
