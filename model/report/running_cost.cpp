#include "model/report/running_cost.hpp"

#include <cmath>

namespace sextant {

double utilization(const Terms& terms, const Plan& plan) {
    Seconds idle;
    for (const Term t : {Term::bubble, Term::launch, Term::input, Term::offload, Term::overhead, Term::straggler}) idle += terms[t];
    if (plan.has_servers()) idle += terms[Term::data_communication];  // copies to host memory and work of hosts
    return 1 - idle / terms.total();
}

std::optional<MoneyRate> device_rent(const Scenario& s) {
    const NodeSpec& node = s.cluster.node;
    if (s.run.device_price) return s.run.device_price;
    if (node.device.price) return node.device.price->value;
    if (node.price) return node.price->value / node.devices;
    return {};
}

Watts power_drawn(const Scenario& s, double utilization, int reserved) {
    const NodeSpec& node = s.cluster.node;
    const double nodes = std::ceil(static_cast<double>(reserved) / node.devices);
    const Watts busy = node.device.power.value, idle = node.device.idle_power.value;
    const Watts devices = s.plan.devices() * (idle + utilization * (busy - idle)) + (reserved - s.plan.devices()) * idle;
    return devices + nodes * node.base_power.value;
}

}  // namespace sextant
