#include "model/report/running_cost.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {

double utilization(const Terms& terms, const Plan& plan) {
    Seconds idle;
    for (const Term t : {Term::bubble, Term::launch, Term::input, Term::offload, Term::overhead, Term::straggler}) idle += terms[t];
    if (plan.has_servers()) idle += terms[Term::data_communication];  // copies to host memory and work of hosts
    return 1 - idle / terms.total();
}

namespace {

// Those of the job that are of another kind. They compute while the others wait, unless their batches are smaller.
struct OtherKind {
    const Device* device = nullptr;
    int count = 0;
    double speed = 1;
};

OtherKind other_kind(const Scenario& s) {
    if (!s.straggler || !s.straggler->device) return {};
    const Straggler& slow = *s.straggler;
    return {&*slow.device, std::min(slow.devices, s.plan.devices()), slow.has_smaller_batches ? 1 : slow.speed};
}

Watts drawn_by(const Device& d, double utilization) {
    const Watts idle = d.idle_power.value;
    return idle + utilization * (d.power.value - idle);
}

}  // namespace

std::optional<MoneyRate> device_rent(const Scenario& s) {
    const NodeSpec& node = s.cluster.node;
    if (s.run.device_price) return s.run.device_price;
    if (node.device.price) {
        const OtherKind other = other_kind(s);
        const MoneyRate usual = node.device.price->value;
        if (!other.device || !other.device->price) return usual;
        return usual + static_cast<double>(other.count) / s.plan.devices() * (other.device->price->value - usual);
    }
    if (node.price) return node.price->value / node.devices;
    return {};
}

Watts power_drawn(const Scenario& s, double utilization, int reserved) {
    const NodeSpec& node = s.cluster.node;
    const double nodes = std::ceil(static_cast<double>(reserved) / node.devices);
    const OtherKind other = other_kind(s);
    Watts devices = (s.plan.devices() - other.count) * drawn_by(node.device, utilization) +
                    (reserved - s.plan.devices()) * node.device.idle_power.value;
    if (other.device) devices += other.count * drawn_by(*other.device, std::min(1.0, utilization / other.speed));
    return devices + nodes * node.base_power.value;
}

}  // namespace sextant
