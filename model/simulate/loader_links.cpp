#include "model/simulate/loader_links.hpp"

#include <cmath>

namespace sextant {

LoaderLinks::LoaderLinks(const LoaderPrices* prices, const Topology& topology) : prices_(prices), topology_(topology) {
    if (!prices_) return;
    double of_nics = 0;
    for (const LinkLoad& nic : nics_of(0)) of_nics += topology_.links()[static_cast<std::size_t>(nic.link)].bandwidth.si();
    for (const LoaderShare& share : prices_->shares) {
        first_.push_back(links_.size());
        // A node's way to storage may be another than that of its collectives.
        if (share.of == LoaderShare::Of::network) uses_nics_ = std::fabs(of_nics - share.per_second) < 1e-6 * share.per_second;
        const int count = share.of == LoaderShare::Of::all_nodes ? 1 : topology_.nodes();
        for (int n = 0; n < count; ++n)
            links_.push_back({share.of == LoaderShare::Of::all_nodes ? share.name : "n" + std::to_string(n) + ": " + share.name,
                              Bandwidth::from_si(share.per_second)});
    }
}

std::vector<LinkLoad> LoaderLinks::nics_of(int node) const {
    std::vector<LinkLoad> nics;
    Bandwidth all;
    for (std::size_t l = 0; l < topology_.links().size(); ++l) {
        const TopologyLink& link = topology_.links()[l];
        const TopologyVertex &from = topology_.vertices()[static_cast<std::size_t>(link.from)],
                             &to = topology_.vertices()[static_cast<std::size_t>(link.to)];
        if (to.kind != VertexKind::nic || to.node != node || from.node == node) continue;
        nics.push_back({static_cast<int>(l), link.bandwidth.si()});
        all += link.bandwidth;
    }
    for (LinkLoad& nic : nics) nic.weight /= all.si();
    return nics;
}

std::vector<LinkLoad> LoaderLinks::loads(std::size_t share, int node, double weight) const {
    const LoaderShare& of = prices_->shares[share];
    if (!(weight > 0)) return {};
    if (of.of == LoaderShare::Of::network && uses_nics_) {
        std::vector<LinkLoad> nics = nics_of(node);
        for (LinkLoad& nic : nics) nic.weight *= weight;
        return nics;
    }
    const std::size_t link = first_[share] + static_cast<std::size_t>(of.of == LoaderShare::Of::all_nodes ? 0 : node);
    return {{static_cast<int>(topology_.links().size() + link), weight}};
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
