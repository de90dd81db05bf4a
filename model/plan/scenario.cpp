#include "model/plan/scenario.hpp"

#include <algorithm>

namespace sextant {

bool uses_sockets(const Scenario& s) { return s.use_ethernet || s.library.sockets_only; }

const LinkType& network_link(const Scenario& s) {
    const NodeSpec& node = s.cluster.node;
    return uses_sockets(s) && node.ethernet ? *node.ethernet : node.nic_link;
}

std::optional<double> samples_of_run(const Scenario& s) {
    if (s.run.samples) return s.run.samples;
    if (s.run.tokens) return *s.run.tokens / static_cast<double>(std::max<std::int64_t>(1, s.workload.tokens_per_sample()));
    if (s.run.epochs && s.run.dataset_samples) return *s.run.epochs * static_cast<double>(*s.run.dataset_samples);
    return std::nullopt;
}

bool copies_are_of_one_kind(const Plan& p, const Straggler& slow) { return p.pp == 1 && slow.devices % (p.tp * p.cp) == 0; }

}  // namespace sextant
