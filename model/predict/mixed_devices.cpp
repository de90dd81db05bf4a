#include "model/predict/mixed_devices.hpp"

#include "model/base/diagnostics.hpp"
#include "model/base/quantity_text.hpp"
#include "model/predict/prepare.hpp"
#include "model/predict/stage_work.hpp"

#include <algorithm>
#include <numeric>

namespace sextant {
namespace {

// On all stages of a pipeline together.
Seconds kernels_of_micro_batch(Prepared::State job, const Device& device, const Network& network) {
    job.scenario.cluster.node.device = device;
    job.rates = device_rates(device, job.scenario.framework, job.scenario.plan);
    job.templates = kernels_of(network, job);
    job.added_gradients = 1;  // whatever ranks share
    job.roles.clear();
    for (const Block& block : network.templates) job.roles.push_back(block.role);
    const std::vector<KernelTimes> times = kernel_times(job, {});
    const auto sum = [](const std::vector<Seconds>& kernels) { return std::accumulate(kernels.begin(), kernels.end(), Seconds{}); };
    Seconds all;
    for (const int block : network.sequence) {
        const KernelTimes& t = times[static_cast<std::size_t>(block)];
        all += sum(t.forward) + (job.scenario.plan.forward_only ? Seconds{} : sum(t.backward));
    }
    return all;
}

void slow_down(Device& d, double speed) {
    scale_compute(d, speed, [](auto& number, double by) { number.value *= by; });
    d.memory_bandwidth.value *= speed;
    for (Sourced<Seconds>* time : {&d.kernel_overhead, &d.graph_kernel_overhead, &d.load_latency}) time->value /= speed;
}

}  // namespace

void apply_mixed_devices(Prepared::State& job, const Network& network) {
    Scenario& s = job.scenario;
    if (!s.straggler || !s.straggler->device) return;
    Straggler& slow = *s.straggler;
    const Device& usual = s.cluster.node.device;
    slow.speed = kernels_of_micro_batch(job, usual, network) / kernels_of_micro_batch(job, *slow.device, network);
    constexpr double rounding = 1e-9;
    if (slow.speed > 1 + rounding)
        throw InputError(Diagnostic{s.file, "/hardware/straggler/device",
                                    slow.device->name + " does this job " + number_text(slow.speed, 3) + " times as fast as " + usual.name,
                                    "the faster one as hardware.device, and the others as straggler"});
    slow.speed = std::min(slow.speed, 1.0);
    if (!slow.has_smaller_batches) return;
    Device mean = usual;
    slow_down(mean, mean_speed(s));
    job.rates = device_rates(mean, s.framework, s.plan, one_to_a_node(s));
}

double mean_speed(const Scenario& s) { return 1 - s.straggler->devices / static_cast<double>(s.plan.devices()) * (1 - s.straggler->speed); }

}  // namespace sextant
