#include "model/report/headings.hpp"

namespace sextant {

std::string workload_line(const Workload& w) {
    const std::string name = w.title.empty() ? w.name : w.title;
    const auto* transformer = w.transformer();
    if (transformer == nullptr || !transformer->adapters) return name;
    return name + ", adapters of rank " + std::to_string(transformer->adapters->rank);
}

std::string hardware_line(const Cluster& c) {
    return c.title + ": " + std::to_string(c.node.devices) + " x " + c.node.device.name + " a node";
}

}  // namespace sextant
