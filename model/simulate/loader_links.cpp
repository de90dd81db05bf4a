#include "model/simulate/loader_links.hpp"

#include <cmath>

namespace sextant {

namespace {

// Towards each node, each NIC with its part of a byte; none where they do not add up to `way`: a node's way to storage may be another than
// that of its collectives.
std::vector<std::vector<LinkLoad>> nics_by_node(const Topology& topology, double way) {
    std::vector<std::vector<LinkLoad>> nics(static_cast<std::size_t>(topology.nodes()));
    std::vector<double> bandwidth(nics.size());
    for (std::size_t l = 0; l < topology.links().size(); ++l) {
        const TopologyLink& link = topology.links()[l];
        const TopologyVertex &from = topology.vertices()[static_cast<std::size_t>(link.from)],
                             &to = topology.vertices()[static_cast<std::size_t>(link.to)];
        if (to.kind != VertexKind::nic || from.node == to.node) continue;
        const auto node = static_cast<std::size_t>(*to.node);
        nics[node].push_back({static_cast<int>(l), link.bandwidth.si()});
        bandwidth[node] += link.bandwidth.si();
    }
    if (!(std::fabs(bandwidth.front() - way) < 1e-6 * way)) return {};
    for (std::size_t n = 0; n < nics.size(); ++n)
        for (LinkLoad& nic : nics[n]) nic.weight /= bandwidth[n];
    return nics;
}

}  // namespace

LoaderLinks::LoaderLinks(const LoaderPrices* prices, const Topology& topology) : prices_(prices), topology_links_(topology.links().size()) {
    if (!prices_) return;
    for (const LoaderShare& share : prices_->shares) {
        first_.push_back(links_.size());
        if (share.shared_by == LoaderShare::SharedBy::network) nics_ = nics_by_node(topology, share.per_second);
        const int count = share.shared_by == LoaderShare::SharedBy::all_nodes ? 1 : topology.nodes();
        for (int n = 0; n < count; ++n)
            links_.push_back(
                {share.shared_by == LoaderShare::SharedBy::all_nodes ? share.name : "n" + std::to_string(n) + ": " + share.name,
                 Bandwidth::from_si(share.per_second)});
    }
}

std::vector<LinkLoad> LoaderLinks::loads(std::size_t share, int node, double weight) const {
    const LoaderShare::SharedBy shared_by = prices_->shares[share].shared_by;
    if (!(weight > 0)) return {};
    if (shared_by == LoaderShare::SharedBy::network && !nics_.empty()) {
        std::vector<LinkLoad> nics = nics_[static_cast<std::size_t>(node)];
        for (LinkLoad& nic : nics) nic.weight *= weight;
        return nics;
    }
    const std::size_t link = first_[share] + static_cast<std::size_t>(shared_by == LoaderShare::SharedBy::all_nodes ? 0 : node);
    return {{static_cast<int>(topology_links_ + link), weight}};
}

std::vector<LinkLoad> LoaderLinks::loads_of_samples(int node) const {
    std::vector<LinkLoad> all;
    for (std::size_t s = 0; s < prices_->shares.size(); ++s)
        for (const LinkLoad& load : loads(s, node, prices_->shares[s].of_byte)) all.push_back(load);
    return all;
}

std::vector<LinkLoad> LoaderLinks::loads_of_kernels(int node) const {
    return loads(prices_->shares.size() - 1, node, prices_->kernel_cores / kernel_pace.si());
}

}  // namespace sextant
