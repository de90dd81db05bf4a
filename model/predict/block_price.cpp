#include "model/predict/phase_walk.hpp"

#include "model/plan/framework_defaults.hpp"
#include "model/predict/block_memory.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sextant {
namespace {

// The fraction of a token's copies that is sent where a token goes only once to each place that has experts of its: on the network a place
// is a node, which hands the token on to its ranks meanwhile, else a rank. If each of p places is equally likely for each of c copies, they
// reach p (1 - (1 - 1/p)^c) different places.
double deduplicated_part(const ExchangeCall& e, const Group& group) {
    const double places = std::max(1.0, e.reach * (group.crosses_network ? group.nodes : group.ranks));
    return places * (1 - std::pow(1 - 1 / places, e.copies)) / e.copies;
}

// Exchanges that still go on behind kernels. Exchanges of one group share its links fairly.
class HiddenExchanges {
public:
    // Kernels, or an exchange that is waited for, take this long.
    void pass(Seconds t) {
        if (!(next_ > Seconds{}) && flows_.empty()) return;
        if (fixed_ > t) {
            drain(t);
            fixed_ -= t;
            return;
        }
        drain(fixed_);
        t -= fixed_;
        fixed_ = {};
        begin_next();
        drain(t);
    }
    // An exchange that is waited for begins, and occupies links for `flow` when alone. By how much the hidden ones prolong it.
    Seconds meet(Seconds flow) {
        Seconds longer;
        for (Seconds& f : flows_) {
            const Seconds both = f < flow ? f : flow;
            longer += both;
            f -= both;
        }
        drop_ended();
        return longer;
    }
    // One more goes on behind kernels: a time that uses no link, then one on links.
    void add(Seconds fixed, Seconds flow) {
        begin_next();
        fixed_ = fixed;
        next_ = flow;
    }

private:
    void begin_next() {
        if (next_ > Seconds{}) flows_.push_back(next_);
        next_ = {};
    }
    // Until this time is over, or nothing is left: the exchange with the least left ends first, with all others that far.
    void drain(Seconds t) {
        while (t > Seconds{} && !flows_.empty()) {
            const double n = static_cast<double>(flows_.size());
            const Seconds least = *std::ranges::min_element(flows_), each = n * least < t ? least : t / n;
            for (Seconds& f : flows_) f -= each;
            t -= n * each;
            drop_ended();
        }
    }
    void drop_ended() {
        std::erase_if(flows_, [](Seconds f) { return !(f > Seconds{}); });
    }

    Seconds fixed_, next_;        // of the one that was added last: what is left of its fixed time, and the flow that follows it
    std::vector<Seconds> flows_;  // what is left of those on links, each alone
};

// What the pieces of one phase of a block are priced with.
struct Pricing {
    HostTime host;
    const Prepared::State& job;
    const JobGroups& groups;
    const Resources& resources;
};

PhasePrice price_phase(const BlockPhase& phase, const Pricing& by, HiddenExchanges& behind) {
    PhasePrice price;
    int launches = 0;
    const auto on_kernel = [&](const Kernel& kernel, Seconds time) {
        price.device += time;
        behind.pass(time);
        launches += kernel.launches;
    };
    const auto on_exchange = [&](const ExchangeCall& call, const Group& group, const CollectivePrice& one, double hidden) {
        ++launches;
        const InLayer kind = in_layer(call.group);
        const Seconds t = time_alone(one, group), flow = t - one.fixed;
        price.exchange[kind] += (1 - hidden) * t;
        price.flowing[kind] += (1 - hidden) * flow;
        if (!(hidden > 0)) return;
        price.hidden[kind] += hidden * t;
        price.hidden_flowing[kind] += hidden * flow;
        behind.pass((1 - hidden) * one.fixed);
        price.meeting[kind] += behind.meet((1 - hidden) * flow);
        behind.add(hidden * one.fixed, hidden * flow);
    };
    walk(phase, by.job, by.groups, by.resources, on_kernel, on_exchange);
    if (launches > 0) price.host = (launches * by.host.launch + by.host.block) / by.resources.host;
    if (by.host.waits) price.device += std::exchange(price.host, {});
    return price;
}

PhasePrice price_phase(const BlockPhase& phase, const Pricing& by) {
    HiddenExchanges behind;
    const PhasePrice first = price_phase(phase, by, behind);
    // Where exchanges go on past the end of the block, those of an equal block before it go on into it.
    return first.behind_kernels() > Seconds{} ? price_phase(phase, by, behind) : first;
}

}  // namespace

ComputeScale compute_scale(const Resources& r) { return {r.compute, r.memory_bandwidth, r.kernel_overhead}; }

PhasePrice& PhasePrice::operator+=(const PhasePrice& o) {
    device += o.device;
    host += o.host;
    exchange += o.exchange;
    flowing += o.flowing;
    hidden += o.hidden;
    hidden_flowing += o.hidden_flowing;
    meeting += o.meeting;
    copies += o.copies;
    return *this;
}

PhasePrice operator*(double n, const PhasePrice& p) {
    PhasePrice out = p;
    out.device *= n;
    out.host *= n;
    out.exchange *= n;
    out.flowing *= n;
    out.hidden *= n;
    out.hidden_flowing *= n;
    out.meeting *= n;
    out.copies *= n;
    return out;
}

PhasePrice PhasePrice::stretched(const ByInLayer<double>& times) const {
    PhasePrice out = *this;
    for (const InLayer kind : all_in_layer) {
        out.exchange[kind] += (times[kind] - 1) * flowing[kind];
        out.flowing[kind] *= times[kind];
    }
    return out;
}

Collective collective_of(ExchangeKind kind) {
    switch (kind) {
        case ExchangeKind::all_reduce: return Collective::all_reduce;
        case ExchangeKind::all_gather: return Collective::all_gather;
        case ExchangeKind::reduce_scatter: return Collective::reduce_scatter;
        case ExchangeKind::all_to_all:
        case ExchangeKind::none: break;
    }
    return Collective::all_to_all;
}

// Passes that fill and drain the pipeline have no other beside them: for a stage in the middle, those of half as many micro-batches as
// there are stages.
double passes_beside_another(const Prepared::State& job) {
    const Plan& plan = job.scenario.plan;
    if (!overlaps_experts(plan, job.scenario.framework, job.scenario.workload)) return 0;
    return std::max(0.0, 1 - 0.5 * (plan.pp + 1) / static_cast<double>(job.micro_batches));
}

HiddenParts hidden_parts(const BlockPhase& phase, const Prepared::State& job, const JobGroups& groups, const Resources& r) {
    const Plan& plan = job.scenario.plan;
    const Framework& f = job.scenario.framework;
    HiddenParts parts;
    if (overlaps_tensor(plan, f)) parts.tensor = f.tensor_overlap_fraction.value;
    const double beside_another = passes_beside_another(job);
    if (beside_another == 0) return parts;
    Seconds of_kernels, of_experts;
    for (std::size_t i = 0; i < phase.kernels.size(); ++i)
        if (belongs(phase.kernels[i], phase.part)) of_kernels += phase.times[i];
    for (const ExchangeCall& call : phase.exchanges)
        if (call.group == ParallelGroup::expert && belongs(call, phase.part)) of_experts += exchange_time(call, job, groups, r);
    if (of_experts > Seconds{}) parts.expert = beside_another * std::min(f.expert_overlap_fraction.value, of_kernels / of_experts);
    return parts;
}

Bytes sent_bytes(const ExchangeCall& e, const Group& group, const Prepared::State& job) {
    const bool once = e.copies > 1 && deduplicates_tokens(job.scenario.plan, job.scenario.framework);
    return once ? deduplicated_part(e, group) * e.bytes : e.bytes;
}

CollectivePrice exchange_price(const ExchangeCall& e, const Group& group, const Prepared::State& job, const Resources& r) {
    return group_price(collective_of(e.kind), sent_bytes(e, group, job), group, job, r);
}

Seconds exchange_time(const ExchangeCall& e, const Prepared::State& job, const JobGroups& groups, const Resources& r) {
    const Group& group = groups[e.group];
    return group_time(collective_of(e.kind), sent_bytes(e, group, job), group, job, r);
}

CollectivePrice group_price(Collective what, Bytes bytes, const Group& group, const Prepared::State& job, const Resources& r) {
    return collective_price(what, bytes, group, job.scenario.library, {r.node_bandwidth, r.network_bandwidth, r.latency});
}

Seconds group_time(Collective what, Bytes bytes, const Group& group, const Prepared::State& job, const Resources& r) {
    if (group.ranks < 2 || !(bytes > Bytes{})) return {};
    return job.nodes.turn + time_alone(group_price(what, bytes, group, job, r), group);
}

bool computes_on_cores(const Prepared::State& job) { return job.scenario.cluster.node.device.kind == DeviceKind::cpu; }

HostTime host_time(const Prepared::State& job, Pass pass) {
    const Framework& f = job.scenario.framework;
    const Plan& plan = job.scenario.plan;
    if (computes_on_cores(job)) return {};
    if (plan.cuda_graph && !f.dispatch_in_graph) return {};
    const Seconds launch = job.on_host(pass == Pass::backward ? f.backward_dispatch : f.dispatch);
    return {launch, pass == Pass::recompute ? job.on_host(f.checkpoint_overhead) : Seconds{}, plan.launch_blocking || f.launch_blocking};
}

Kernel as_run(const Kernel& kernel, const Prepared::State& job) {
    Kernel run = kernel;
    if (kernel.adds_gradients) run.bytes = job.added_gradients * kernel.bytes;
    return run;
}

KernelTimes kernel_times(const BlockKernels& k, const Prepared::State& job, const Resources& r) {
    const auto times = [&](const std::vector<Kernel>& kernels) {
        std::vector<Seconds> list;
        list.reserve(kernels.size());
        for (const Kernel& kernel : kernels)
            list.push_back(kernel_time(kernel.adds_gradients ? as_run(kernel, job) : kernel, job.rates, compute_scale(r)));
        return list;
    };
    return {times(k.forward), times(k.backward), times(k.recompute)};
}

namespace {

// Activations that wait in host memory are copied there behind forward and back behind backward: those of a block while the next one works,
// which usually takes as long. Where a copy takes longer, the rest is waited for. A recomputed block keeps only its input.
void add_copies(SegmentPrice& price, const BlockKernels& k, const Prepared::State& job, const Resources& r) {
    const Bandwidth link = job.host_copy_beside_others() * r.host_link;
    const auto longer = [&](double recomputed, const PhasePrice& pass) {
        return max(Seconds{}, offloaded_activations(k, job, recomputed) / link - pass.time());
    };
    const PhasePrice forward = price.forward, backward = price.backward, all_backward = price.recompute + price.backward;
    price.forward.copies = longer(0, forward);
    price.backward.copies = longer(0, backward);
    price.checkpoint.copies = longer(1, forward) - price.forward.copies;
    price.recompute.copies = longer(1, all_backward) - price.backward.copies;
}

}  // namespace

SegmentPrice price_block(const BlockKernels& k, const KernelTimes& times, const Prepared::State& job, const JobGroups& groups,
                         const Resources& r) {
    const Pricing ahead{host_time(job, Pass::forward), job, groups, r}, back{host_time(job, Pass::backward), job, groups, r};
    const Pricing recompute{host_time(job, Pass::recompute), job, groups, r};
    SegmentPrice price;
    price.forward = price_phase({k.forward, times.forward, k.forward_exchanges}, ahead);
    if (job.scenario.plan.forward_only) return price;
    const auto backward = [&](BackwardPart part) { return price_phase({k.backward, times.backward, k.backward_exchanges, part}, back); };
    // Where inputs and weights are separate passes, each hides its exchanges behind its own kernels.
    const WeightsApart apart = weights_apart(job.scenario.plan.schedule);
    if (apart != WeightsApart::in_none) price.weights = backward(BackwardPart::weights);
    price.backward = apart == WeightsApart::in_all ? backward(BackwardPart::inputs) + price.weights : backward(BackwardPart::whole);
    price.recompute = price_phase({k.recompute, times.recompute, k.recompute_exchanges}, recompute);
    (recompute.host.waits ? price.checkpoint.device : price.checkpoint.host) = recompute.host.block / r.host;
    if (job.scenario.plan.offload_activations != OffloadActivations::none) add_copies(price, k, job, r);
    return price;
}

}  // namespace sextant
