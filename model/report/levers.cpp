#include "model/report/levers.hpp"

#include "model/base/quantity_text.hpp"
#include "model/predict/state.hpp"

namespace sextant {
namespace {

std::string share_text(const Estimate& e, std::initializer_list<Term> terms) {
    Seconds sum;
    for (const Term t : terms) sum += e.slowest[t];
    return percent_text(sum / e.step, 2) + " of the step";
}
std::string kernels_share(const Estimate& e) { return share_text(e, {Term::forward, Term::backward, Term::recompute, Term::optimizer}); }
std::string communication_share(const Estimate& e) {
    return share_text(e, {Term::tensor_communication, Term::context_communication, Term::expert_communication, Term::pipeline_communication,
                          Term::data_communication});
}

// ---- why it is the limit

std::string why_compute(const Prepared&, const Estimate& e) {
    return "kernels take " + kernels_share(e) + ", most of it matrix products that the arithmetic units limit";
}
std::string why_memory(const Prepared&, const Estimate& e) {
    return "kernels take " + kernels_share(e) +
           " and wait for device memory: normalization, elementwise operators, small products, optimizer";
}
std::string why_bandwidth(const Prepared&, const Estimate& e) {
    return "communication that nothing hides takes " + communication_share(e) + ", limited by bandwidth";
}
std::string why_latency(const Prepared&, const Estimate& e) {
    return "communication that nothing hides takes " + communication_share(e) + ", in many small steps";
}
std::string why_copies(const Prepared&, const Estimate& e) {
    return "copies between device and host memory that nothing hides take " + share_text(e, {Term::offload, Term::input});
}
std::string why_host(const Prepared&, const Estimate& e) {
    return "the device waits for the host " + share_text(e, {Term::launch, Term::overhead}) + ": many small kernels, dispatched one by one";
}
std::string why_start(const Prepared&, const Estimate&) { return "kernels are so small that starting them costs more than running them"; }
std::string why_input(const Prepared& job, const Estimate& e) {
    const StepWithoutInput rest = without_input(e);
    const InputEstimate input = estimate_input(*job.state().input, rest, {});
    return "loaders bring the samples of a step in " + to_text(input.later_loading) + ", training alone would take " + to_text(rest.time) +
           ": the limit is " + std::string(to_text(input.later.limit)) + "; a worker waits " + to_text(input.later.reading) +
           " for a sample and works on it for " + to_text(input.later.work);
}

// ---- so many times of what there is

std::string value_compute(const Scenario& s, const Lever&, double x) {
    const MatrixPath path = matrix_path(s.cluster.node.device, s.plan.precision.compute, s.plan.precision.tf32);
    return to_text(path.peak->rate.value * x) + " per device";
}
std::string value_memory(const Scenario& s, const Lever&, double x) {
    return to_text(s.cluster.node.device.memory_bandwidth.value * x) + " of device memory";
}
std::string value_node(const Scenario& s, const Lever&, double x) {
    const NodeSpec& node = s.cluster.node;
    const LinkType& link = node.peers.layout == PeerLayout::none ? node.host_link : node.peers.link;
    return to_text(link.bandwidth.value * x) + " per link in the node";
}
std::string value_host_link(const Scenario& s, const Lever&, double x) {
    return to_text(s.cluster.node.host_link.bandwidth.value * x) + " between device and host";
}
std::string value_network(const Scenario& s, const Lever&, double x) { return to_text(network_link(s).bandwidth.value * x) + " per NIC"; }
std::string value_input(const Scenario&, const Lever& l, double x) { return number_text(x) + " times the " + std::string(l.resource); }
std::string value_other(const Scenario&, const Lever& l, double x) { return number_text(x) + " times better " + std::string(l.resource); }

constexpr std::string_view better_storage = "packed file formats, a copy on local disk, a file system that is made for such reads";

using enum BottleneckKind;
constexpr Lever levers[] = {
    {"compute rate", compute, &Resources::compute, false, why_compute, value_compute, "a faster device, or more devices"},
    {"memory bandwidth", memory_bandwidth, &Resources::memory_bandwidth, false, why_memory, value_memory,
     "a device with faster memory, a compiler that fuses elementwise operators"},
    {"bandwidth inside the node", communication_bandwidth, &Resources::node_bandwidth, false, why_bandwidth, value_node,
     "faster links between the devices of a node"},
    {"bandwidth of the host link", communication_bandwidth, &Resources::host_link, false, why_copies, value_host_link,
     "a faster link between device and host"},
    {"network bandwidth", communication_bandwidth, &Resources::network_bandwidth, false, why_bandwidth, value_network, "a faster network"},
    {"communication latency", communication_latency, &Resources::latency, true, why_latency, value_other,
     "fewer and larger messages: larger buckets, fewer ranks per group; a network of lower latency"},
    {"host speed", host_latency, &Resources::host, false, why_host, value_other,
     "fewer and larger kernels: a compiler, a larger batch; a faster host thread"},
    {"kernel start-up time", host_latency, &Resources::kernel_overhead, true, why_start, value_other,
     "fewer and larger kernels: a compiler, a larger batch"},
    {"storage bandwidth", io, &Resources::storage, false, why_input, value_input, better_storage},
    {"storage operations per second", io, &Resources::storage_operations, false, why_input, value_input, better_storage},
    {"number of loader workers", io, &Resources::loader_workers, false, why_input, value_input,
     "more loader workers, samples decoded and scaled once beforehand"},
    {"speed of decoding", io, &Resources::loader_cores, false, why_input, value_input,
     "samples decoded and scaled once beforehand, more or faster cores, a faster decoder"},
};

}  // namespace

std::span<const Lever> all_levers() { return levers; }

}  // namespace sextant
