// What loaders share, as links beside those of the topology: storage once or once for each node, and the cores of every node's host. What
// they read over the network crosses the node's NICs, where the topology has those. Internal to simulate.
#pragma once

#include "model/cost/cost_table.hpp"
#include "model/hardware/topology.hpp"

#include <span>
#include <string>
#include <vector>

namespace sextant {

struct LoaderLink {
    std::string name;
    Bandwidth capacity;  // what there is of it a second, whatever it is
};

class LoaderLinks {
public:
    // `prices`: none where nothing is loaded. They must outlive it.
    LoaderLinks(const LoaderPrices* prices, const Topology&);

    [[nodiscard]] std::span<const LoaderLink> links() const { return links_; }  // numbered behind those of the topology
    // For each byte that a rank's workers on this node load.
    [[nodiscard]] std::vector<LinkLoad> loads_of_samples(int node) const;
    // For each byte of a rank's kernels, which make kernel_pace of it. No load is as slow: what is shared fairly goes to kernels first.
    static constexpr Bandwidth kernel_pace = 1 * units::B / units::s;
    [[nodiscard]] std::vector<LinkLoad> loads_of_kernels(int node) const;

private:
    [[nodiscard]] std::vector<LinkLoad> loads(std::size_t share, int node, double weight) const;

    const LoaderPrices* prices_;
    std::size_t topology_links_;
    std::vector<LoaderLink> links_;
    std::vector<std::size_t> first_;           // by share, into links_
    std::vector<std::vector<LinkLoad>> nics_;  // by node: towards it, each with its part of a byte; empty where loads do not use them
};

}  // namespace sextant
