#include "model/calibrate/parameter_range.hpp"
#include "model/plan/partition.hpp"

namespace sextant {
namespace {

using units::GB;
using units::KB;
using units::MB;
using units::ms;
using units::us;

// A run feels it only where the device waits for the host: the search begins where most runs would.
constexpr ParameterRange<Seconds> host_time(Seconds usual) {
    return {.least = 1 * us, .most = 40 * us, .spread = 0.5, .usual = usual, .begin = 4.0 * usual};
}

}  // namespace

std::vector<ProfileParameter> training_parameters(const Scenario& s) {
    using enum ParameterOwner;
    std::vector<ProfileParameter> list;
    const auto add = [&list](auto... arguments) { list.push_back(parameter(arguments...)); };
    add("sustained_clock", device, ParameterRange<double>{.least = 0.3, .most = 1.0, .spread = 0.15, .usual = 0.95},
        in_device(&Device::sustained_clock));
    if (s.plan.devices() <= used_nodes(s))  // one to a node
        add("clock_alone", device, ParameterRange<double>{.least = 1.0, .most = 1.2, .spread = 0.02, .usual = 1.025},
            in_device(&Device::clock_alone));
    add("streaming_efficiency", framework, ParameterRange<double>{.least = 0.2, .most = 1.0, .spread = 0.2, .usual = 0.9},
        in_framework(&Framework::streaming_efficiency));
    add("bytes_in_flight", framework, ParameterRange<Bytes>{.least = 3 * KB, .most = 1 * MB, .spread = in_flight_known, .usual = 20 * KB},
        in_framework(&Framework::bytes_in_flight));
    add("native_build", framework, ParameterRange<double>{.least = 0.3, .most = 1.0, .spread = 0.1, .usual = 0.97},
        in_framework(&Framework::native_build));
    if (!s.framework.dispatch_in_graph) {
        add("dispatch", framework, host_time(9 * us), in_framework(&Framework::dispatch));
        add("backward_dispatch", framework, host_time(7 * us), in_framework(&Framework::backward_dispatch));
        add("step_overhead", framework, ParameterRange<Seconds>{.least = 10 * us, .most = 100 * ms, .spread = unknown, .usual = 3 * ms},
            in_framework(&Framework::step_overhead));
        if (s.plan.micro_batches() > 1)
            add("micro_batch_overhead", framework,
                ParameterRange<Seconds>{.least = 1 * us, .most = 50 * ms, .spread = unknown, .usual = 0.5 * ms},
                in_framework(&Framework::micro_batch_overhead));
    }
    if (s.plan.recompute != Recompute::none)
        add("checkpoint_overhead", framework,
            ParameterRange<Seconds>{.least = 1 * us, .most = 5 * ms, .spread = unknown, .usual = 0.1 * ms, .begin = 0.3 * ms},
            in_framework(&Framework::checkpoint_overhead));
    if (!s.workload.is_transformer())
        add("convolution_efficiency", framework, ParameterRange<double>{.least = 0.05, .most = as_products, .spread = 0.2, .usual = 1.0},
            in_framework(&Framework::convolution_efficiency));
    return list;
}

std::vector<ProfileParameter> memory_parameters(const Scenario& s) {
    using enum ParameterOwner;
    std::vector<ProfileParameter> list;
    const auto add = [&list](auto... arguments) { list.push_back(parameter(arguments...)); };
    add("context", framework, ParameterRange<Bytes>{.least = 0.1 * GB, .most = 4 * GB, .spread = 0.4, .usual = 0.7 * GB},
        in_framework(&Framework::context));
    add("fragmentation", framework, ParameterRange<double>{.least = 0.005, .most = 0.5, .spread = unknown, .usual = 0.1},
        in_framework(&Framework::fragmentation));
    if (s.plan.devices() > 1)
        add("communication_buffers", framework,
            ParameterRange<Bytes>{.least = 0.05 * GB, .most = 16 * GB, .spread = unknown, .usual = 0.6 * GB},
            in_framework(&Framework::communication_buffers));
    return list;
}

}  // namespace sextant
