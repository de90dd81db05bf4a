// What loaders share, as links beside those of the topology: storage, for all nodes or for each, and the cores of every node's host. What
// they read over the network also crosses the node's NICs, where the topology has them. Internal to simulate.
#pragma once

#include "model/cost/cost_table.hpp"
#include "model/hardware/topology.hpp"

#include <span>
#include <string>
#include <vector>

namespace sextant {

struct LoaderLink {
    std::string name;
    Bandwidth capacity;  // a second, in whatever the resource is counted in
};

class LoaderLinks {
public:
    // `prices`: null where nothing is loaded. They must outlive this object.
    LoaderLinks(const LoaderPrices* prices, const Topology&);

    [[nodiscard]] std::span<const LoaderLink> links() const { return links_; }  // numbered after those of the topology
    // For each byte that a rank's workers on this node load.
    [[nodiscard]] std::vector<LinkLoad> loads_of_samples(int node) const;
    // For each byte of a rank's kernels, which are modelled as a flow of kernel_pace. No load is as slow,
    // so fair sharing serves kernels first.
    static constexpr Bandwidth kernel_pace = 1 * units::B / units::s;
    [[nodiscard]] std::vector<LinkLoad> loads_of_kernels(int node) const;

private:
    [[nodiscard]] std::vector<LinkLoad> loads(std::size_t share, int node, double weight) const;

    const LoaderPrices* prices_;
    std::size_t topology_links_;
    std::vector<LoaderLink> links_;
    std::vector<std::size_t> first_;  // by share, into links_
    std::vector<std::vector<LinkLoad>>
        nics_;  // by node: links into it, each with its fraction of a byte; empty where loads do not use them
};

}  // namespace sextant
