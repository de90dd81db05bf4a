// A prepared job put together by hand: ten equal layers of 100 million parameters on each stage of the round machine.
#pragma once

#include "model/predict/state.hpp"
#include "tests/cost/round_machine.hpp"

namespace sextant {

inline Prepared::State ten_layers(int stages = 1) {
    Prepared::State job;
    job.scenario.cluster = round_machine::cluster();
    job.scenario.framework = round_machine::framework();
    job.scenario.library = round_machine::library();
    job.scenario.plan.pp = stages;
    job.rates = device_rates(job.scenario.cluster.node.device, job.scenario.framework, job.scenario.plan);
    BlockKernels layer;
    layer.parameters = 100e6;
    layer.parameter_tensors = 1;
    job.templates = {layer};
    job.roles = {BlockRole::layer};
    job.stages.assign(static_cast<std::size_t>(stages), StageBlocks{.count = {10}, .layers = 10});
    job.host_copy = 20 * units::GB / units::s;
    job.host_memory = 200 * units::GB / units::s;
    job.network = 10 * units::GB / units::s;
    job.devices_per_node = 4;
    return job;
}

}  // namespace sextant
