#include "model/report/explain_rest.hpp"

#include "model/base/grouped_digits.hpp"
#include "model/base/quantity_text.hpp"
#include "model/predict/memory_in_flight.hpp"

namespace sextant {

std::vector<std::string> optimizer_lines(const ExplainedStage& x) {
    const Framework& f = x.job.scenario.framework;
    const StageParameters parameters = parameters_of(x.job, x.stage);
    const Bytes in_buckets = bucket_traffic(x.job, parameters);
    if (updates_on_host(x.job.scenario.plan))
        return {"gradients that go into buckets and out again / streaming bandwidth; the host updates",
                "  of " + grouped_digits(parameters.trained.total()) + " trained parameters " + to_text(in_buckets) + "; streams " +
                    to_text(streaming_bandwidth(x.job.rates))};
    std::vector<std::string> lines = {
        "owned parameters x bytes that an update of one moves / streaming bandwidth + launches x o, or the host's time to launch them",
        "  owns " + grouped_digits(owned_parameters(x.job, x.stage)) + " of the stage's " + grouped_digits(parameters.trained.total()) +
            " trained parameters, in " + grouped_digits(parameters.tensors) + " tensors; " +
            (f.plain_kernels ? "its " + std::to_string(parameters.blocks) + " blocks one by one"
                             : number_text(update_kernels_per_tensor(x.job)) + " launches a tensor")};
    if (const UpdateTime products = orthogonalization_time(x.job, x.stage, {}); products.device > Seconds{})
        lines.push_back("  beside these, Newton-Schulz of the matrices in layers, 15 products each: " + to_text(products.device));
    if (in_buckets > Bytes{}) lines.push_back("  beside these, gradients go into buckets and out again: " + to_text(in_buckets));
    lines.push_back("  streams " + to_text(streaming_bandwidth(x.job.rates)) + ", o " + to_text(x.job.rates.kernel_overhead) +
                    ", a launch takes the host " + to_text(x.job.on_host(f.dispatch)));
    return lines;
}

std::vector<std::string> launch_lines(const ExplainedStage& x) {
    const SegmentPrice& blocks = x.price.blocks();
    return {x.job.scenario.plan.pp == 1
                ? "what the device waits while blocks go by one by one, none before the host has issued it"
                : "what the host takes to issue all micro-batches beyond what they take the device, as far as the pipeline waits",
            "  of a micro-batch: host " + to_text(blocks.forward.host + blocks.backward.host + blocks.recompute.host) + ", device " +
                to_text(x.price.micro_batch()),
            "  a launch takes the host " + to_text(host_time(x.job, Pass::forward).launch) + " in forward, " +
                to_text(host_time(x.job, Pass::backward).launch) + " in backward"};
}

std::vector<std::string> offload_lines(const ExplainedStage& x) {
    const Plan& plan = x.job.scenario.plan;
    std::vector<std::string> lines{"copies over each device's host link, and the update in host memory"};
    const double owned = owned_parameters(x.job, x.stage);
    lines.push_back("  link " + to_text(x.job.host_copy_beside_others()) + " for each device, host memory " +
                    to_text(x.job.nodes.host_memory));
    const bool go_down = offloads_gradients(plan, x.job.scenario.framework);
    if (go_down)
        lines.push_back("  gradients of " + number_text(owned) +
                        " parameters go down behind their reduction: of a step's last micro-batch in " +
                        to_text(gradient_copy_time(x.job, owned, {x.job.micro_batches == 1, true}, {})));
    if (updates_on_host(plan)) {
        std::string update = "  once a step: ";
        if (!go_down) update += "gradients down " + to_text(gradient_bytes(x.job, owned)) + ", ";
        if (plan.offload == Offload::optimizer) update += "weights up " + to_text(weight_bytes(x.job, owned)) + ", ";
        lines.push_back(update + "with the update " + to_text(update_time(x.job, x.stage, {}).host));
    }
    if (plan.offload_activations != OffloadActivations::none) {
        const SegmentPrice& blocks = x.price.blocks();
        lines.push_back("  activations of a micro-batch " + to_text(offloaded_activations(x.job, x.stage)) +
                        " each way; what their copies take longer than the blocks' passes: forward " + to_text(blocks.forward.copies) +
                        ", backward " + to_text(blocks.backward.copies + blocks.recompute.copies));
    }
    return lines;
}

std::vector<std::string> straggler_lines(const ExplainedStage& x) {
    const Scenario& s = x.job.scenario;
    const Seconds busy = busy_time(x.job, x.price, update_time(x.job, x.stage, {}));
    std::vector<std::string> lines;
    if (s.plan.is_asynchronous())
        lines.emplace_back("nobody waits, slow devices do fewer steps: devices / sum of 1 / step of each - step");
    else
        lines.emplace_back(
            "step noise x standard deviations by which the slowest of all devices lags (Blom) x busy time + what a step takes longer "
            "whose slow devices take 1 / speed times as long for their kernels");
    lines.push_back("  busy " + to_text(busy) + ", noise " + percent_text(s.step_noise) + ", the slowest of " +
                    grouped_digits(s.plan.devices()) + " lags by " + number_text(expected_maximum(s.plan.devices())) +
                    " standard deviations");
    if (s.straggler)
        lines.push_back("  " + grouped_digits(s.straggler->devices) + " of them at " + percent_text(s.straggler->speed) + " of the speed");
    return lines;
}

std::vector<std::string> overhead_lines(const ExplainedStage& x) {
    const Framework& f = x.job.scenario.framework;
    return {
        "micro-batches x host time for each + host time for each step",
        "  " + std::to_string(x.job.micro_batches) + " x " + to_text(x.price.overhead) + " + " + to_text(x.job.on_host(f.step_overhead))};
}

}  // namespace sextant
