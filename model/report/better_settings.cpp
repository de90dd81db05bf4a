#include "model/report/better_settings.hpp"

#include "model/cost/compute.hpp"
#include "model/plan/framework_defaults.hpp"
#include "model/plan/partition.hpp"
#include "model/plan/plan_features.hpp"
#include "model/workload/padding.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace sextant {
namespace {

constexpr double worth_a_change = 0.01;  // gain of the time of a sample

class Trials {
public:
    Trials(const Prepared& job, bool fits) : prepared_(job), job_(job.scenario()), lacks_(lacks(job_)), now_(estimate(job)), fits_(fits) {}

    // A kind of change has a name; of several of one kind the best stays.
    void kind(std::string name) { kind_ = std::move(name); }

    // On the same cluster.
    void try_job(Scenario changed) {
        if (lacks(changed) > lacks_ || !check_plan(changed).empty()) return;
        try {
            const Estimate then = estimate(prepare(changed, &prepared_));
            const double samples = static_cast<double>(changed.plan.global_batch) / static_cast<double>(job_.plan.global_batch);
            const double gain = 1 - then.step / now_.step / samples;
            if (then.fits() && (!fits_ || gain >= worth_a_change))
                keep({std::move(changed), then.step, then.peak_memory, gain, samples != 1});
        } catch (const InputError&) {  // the network does not divide so
        }
    }
    void try_plan(const Plan& plan) {
        Scenario changed = job_;
        changed.plan = plan;
        if (loads_frozen_weights_narrow(plan, changed.framework, changed.workload)) changed.plan.autocast = false;
        try_job(std::move(changed));
    }
    // One field at another value.
    template <class T>
    void value(T Plan::*field, const std::type_identity_t<T>& value) {
        if (job_.plan.*field == value) return;
        Plan plan = job_.plan;
        plan.*field = value;
        try_plan(plan);
    }

    [[nodiscard]] const Scenario& job() const { return job_; }
    [[nodiscard]] const Plan& plan() const { return job_.plan; }
    [[nodiscard]] bool fits() const { return fits_; }

    std::vector<PricedSetting> take() {
        std::vector<PricedSetting> list;
        for (auto& [name, setting] : best_) list.push_back(std::move(setting));
        const auto before = [](const PricedSetting& s) { return std::pair(s.per_sample, -s.gain); };
        std::ranges::stable_sort(list, {}, before);
        return list;
    }

private:
    static std::size_t lacks(const Scenario& s) { return missing_features(s.plan, s.framework, s.cluster).size(); }

    void keep(PricedSetting priced) {
        const auto known = std::ranges::find(best_, kind_, &std::pair<std::string, PricedSetting>::first);
        if (known == best_.end())
            best_.emplace_back(kind_, std::move(priced));
        else if (priced.gain > known->second.gain)
            known->second = std::move(priced);
    }

    const Prepared& prepared_;
    const Scenario& job_;
    std::size_t lacks_;  // features that the plan needs already
    Estimate now_;
    bool fits_;
    std::string kind_;
    std::vector<std::pair<std::string, PricedSetting>> best_;
};

void try_shards(Trials& t) {
    using enum DataParallel;
    const Plan& p = t.plan();
    if (p.dp * p.cp == 1 || p.has_servers()) return;
    t.kind("shards");
    for (const DataParallel way : {all_reduce, zero1, zero2, zero3})
        if (!p.shard_group) t.value(&Plan::data_parallel, way);
    if (!p.has_shards()) return;
    t.kind("shard group");
    const int node = used_devices_per_node(t.job());
    if (node < p.dp * p.cp) t.value(&Plan::shard_group, node);
    if (p.shard_group) t.value(&Plan::shard_group, std::nullopt);
}

// More servers share the traffic; or no server has all of it.
void try_servers(Trials& t) {
    const Plan& p = t.plan();
    if (!p.has_servers()) return;
    t.kind("servers");
    const int servers = parameter_server_count(t.job());
    for (const int times : {2, 4}) t.value(&Plan::parameter_servers, times * servers);
    t.kind("servers on workers");
    t.value(&Plan::servers_on_workers, true);
    t.kind("all-reduce");
    Plan plan = p;
    plan.data_parallel = DataParallel::all_reduce;
    plan.parameter_servers = 1;
    plan.servers_on_workers = false;
    t.try_plan(plan);
}

// Fewer workers that are equally fast: with the same batch, or with as much for each of them as before.
void try_without_slow_devices(Trials& t) {
    const Plan& p = t.plan();
    if (!t.job().has_slow_devices()) return;
    t.kind("slow devices");
    Scenario rest = t.job();
    rest.straggler.reset();
    const int copies = (p.devices() - t.job().straggler->devices) / (p.tp * p.pp * p.cp);
    if (copies < 1) return;
    rest.plan.dp = copies;
    while (p.global_batch % (p.micro_batch * rest.plan.dp) != 0) --rest.plan.dp;
    t.try_job(rest);
    rest.plan.dp = copies;
    rest.plan.global_batch = p.micro_batch * p.micro_batches() * copies;
    t.try_job(std::move(rest));
}

void try_recompute(Trials& t) {
    if (t.plan().forward_only) return;
    t.kind("recompute");
    for (const Recompute way : {Recompute::none, Recompute::selective, Recompute::full})
        if (t.plan().recompute_modules.empty()) t.value(&Plan::recompute, way);
}

void try_offload(Trials& t) {
    if (t.plan().forward_only) return;
    t.kind("offload");
    t.value(&Plan::offload, Offload::none);
    if (!t.plan().without_optimizer) {
        t.value(&Plan::offload, Offload::optimizer);
        t.value(&Plan::offload, Offload::optimizer_and_parameters);
    }
    t.kind("offload activations");
    t.value(&Plan::offload_activations, OffloadActivations::none);
    if (!t.fits()) t.value(&Plan::offload_activations, OffloadActivations::all);
}

// Where the logits of a large vocabulary are what is too large.
void try_head(Trials& t) {
    t.kind("head");
    if (t.job().workload.is_transformer() && !t.fits() && t.plan().head_chunks < enough_head_chunks)
        t.value(&Plan::head_chunks, enough_head_chunks);
}

void try_batch(Trials& t) {
    const Plan& p = t.plan();
    const auto batches = [&](std::int64_t micro, std::int64_t global) {
        Plan plan = p;
        plan.micro_batch = micro;
        plan.global_batch = global;
        t.try_plan(plan);
    };
    t.kind("micro-batch");
    batches(2 * p.micro_batch, p.global_batch);
    if (p.micro_batch % 2 == 0) batches(p.micro_batch / 2, p.global_batch);
    if (!t.fits()) return;  // no larger batch would
    t.kind("batch");
    batches(p.micro_batch, 2 * p.global_batch);
    batches(2 * p.micro_batch, 2 * p.global_batch);
}

// A pipeline where one stage works at a time: micro-batches, so that all do.
void try_micro_batches(Trials& t) {
    Plan plan = t.plan();
    plan.schedule = Schedule::one_f_one_b;
    while (plan.micro_batch % 2 == 0) {
        plan.micro_batch /= 2;
        t.try_plan(plan);
    }
}

void try_schedule(Trials& t) {
    const Plan& p = t.plan();
    if (p.pp == 1 || !p.stage_blocks.empty()) return;
    t.kind("schedule");
    const auto schedule = [&](Schedule s, int vpp) {
        Plan plan = p;
        plan.schedule = s;
        plan.vpp = vpp;
        if (s != p.schedule || vpp != p.vpp) t.try_plan(plan);
    };
    if (p.schedule == Schedule::sequential) return try_micro_batches(t);
    schedule(Schedule::one_f_one_b, 1);
    schedule(Schedule::interleaved, p.schedule == Schedule::interleaved ? 2 * p.vpp : 2);
    schedule(Schedule::zero_bubble, 1);
    schedule(Schedule::zero_bubble_v, 2);
    schedule(Schedule::dual_pipe_v, 2);
}

// Devices of a model that become those of its copies, or the other way.
void try_degrees(Trials& t) {
    const Plan& p = t.plan();
    const auto degrees = [&](int Plan::*degree, bool more) {
        Plan plan = p;
        int &from = more ? plan.dp : plan.*degree, &to = more ? plan.*degree : plan.dp;
        if (from % 2 != 0) return;
        from /= 2;
        to *= 2;
        t.try_plan(plan);
    };
    if (p.has_servers()) return;
    t.kind("tensor");
    degrees(&Plan::tp, false);
    if (t.job().workload.is_transformer()) degrees(&Plan::tp, true);
    t.kind("pipeline");
    if (!p.stage_blocks.empty()) return;
    degrees(&Plan::pp, false);
    degrees(&Plan::pp, true);
}

void try_precision(Trials& t) {
    const Plan& p = t.plan();
    const auto is_native = [&](DataType type) { return matrix_path(t.job().cluster.node.device, type, true).native; };
    // The first that the device multiplies itself; where what is too large is to fit, any.
    const auto first_of = [&](std::initializer_list<DataType> types) {
        const auto* const native = std::ranges::find_if(types, is_native);
        const auto* const type = native == types.end() && !t.fits() ? types.end() - 1 : native;
        if (type == types.end()) return;
        Plan plan = p;
        plan.precision = precision_policy(*type);
        t.try_plan(plan);
    };
    t.kind("precision");
    if (p.precision.compute == DataType::fp32) {
        first_of({DataType::tf32});
        first_of({DataType::bf16, DataType::fp16});
    } else if (!is_native(p.precision.compute)) {
        first_of({DataType::bf16, DataType::fp16, DataType::fp32});
    } else if (p.precision.compute == DataType::bf16 || p.precision.compute == DataType::fp16) {
        first_of({DataType::fp8});
    }
}

void try_reduction(Trials& t) {
    const Plan& p = t.plan();
    if (p.forward_only || p.dp * p.cp == 1 || size_of(p.precision.compute) != size_of(DataType::bf16)) return;
    t.kind("reduction");
    Plan plan = p;
    plan.precision = precision_policy(p.precision.compute);
    plan.precision.reduction = p.precision.compute;
    t.try_plan(plan);
}

void try_switches(Trials& t) {
    const Plan& p = t.plan();
    const Framework& f = t.job().framework;
    const auto turn = [&](auto Plan::*field, bool to, std::string name) {
        t.kind(std::move(name));
        t.value(field, to);
    };
    if (p.tp > 1) turn(&Plan::sequence_parallel, true, "sequence_parallel");
    if (t.job().workload.is_transformer()) turn(&Plan::flash_attention, true, "flash_attention");
    if (t.job().cluster.node.device.kind != DeviceKind::cpu && !f.dispatch_in_graph) turn(&Plan::cuda_graph, true, "cuda_graph");
    if (!t.job().workload.is_transformer() && !p.channels_last.value_or(f.channels_last)) turn(&Plan::channels_last, true, "channels_last");
    turn(&Plan::launch_blocking, false, "launch_blocking");
    turn(&Plan::scattered, false, "scattered");
    if (!overlaps_gradients(p, f)) turn(&Plan::gradient_overlap, true, "gradient_overlap");
    if (!overlaps_gathers(p, f)) turn(&Plan::gather_overlap, true, "gather_overlap");
}

// Rows that are no multiple of the widest load are multiplied by slower kernels: more to compute may take less time.
void try_padding(Trials& t) {
    t.kind("padding");
    constexpr std::int64_t whole_tiles = 64;
    for (const std::int64_t multiple : {elements_of_a_load(t.plan().precision.compute), whole_tiles}) {
        Scenario larger = t.job();
        const std::optional<Workload> workload = padded(larger.workload, multiple * t.plan().tp);
        if (!workload) continue;
        larger.workload = *workload;
        t.try_job(std::move(larger));
    }
}

// Libraries of a device's maker are built for it; what runs on cores may be built for any.
void try_native_build(Trials& t) {
    t.kind("native build");
    Scenario native = t.job();
    constexpr double portable = 0.9;  // below: more than what is lost anyhow
    if (native.cluster.node.device.kind != DeviceKind::cpu || native.framework.native_build.value > portable) return;
    native.framework.native_build.value = 1;
    t.try_job(std::move(native));
}

}  // namespace

std::vector<PricedSetting> better_settings(const Prepared& job, bool fits) {
    Trials t(job, fits);
    for (const auto trial : {try_shards, try_servers, try_without_slow_devices, try_padding, try_native_build, try_recompute, try_offload,
                             try_head, try_batch, try_schedule, try_degrees, try_precision, try_reduction, try_switches})
        trial(t);
    return t.take();
}

}  // namespace sextant
