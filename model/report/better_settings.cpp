#include "model/report/better_settings.hpp"

#include "model/plan/framework_defaults.hpp"
#include "model/plan/partition.hpp"
#include "model/plan/plan_features.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace sextant {
namespace {

constexpr double worth_a_change = 0.01;  // gain of the time of a sample

class Trials {
public:
    Trials(const Prepared& job, bool fits)
        : job_(job.scenario()), lacks_(missing_features(job_.plan, job_.framework, job_.cluster).size()), now_(estimate(job)), fits_(fits) {}

    // A kind of change has a name; of several of one kind the best stays.
    void kind(std::string name) { kind_ = std::move(name); }

    void try_plan(const Plan& plan, std::vector<std::string> set) {
        Scenario changed = job_;
        changed.plan = plan;
        if (missing_features(plan, job_.framework, job_.cluster).size() > lacks_ || !check_plan(changed).empty()) return;
        try {
            const Estimate then = estimate(prepare(changed));
            const double samples = static_cast<double>(plan.global_batch) / static_cast<double>(job_.plan.global_batch);
            const PricedSetting priced{std::move(set), then.step, then.peak_memory, 1 - then.step / now_.step / samples, samples != 1};
            if (then.fits() && (!fits_ || priced.gain >= worth_a_change)) keep(priced);
        } catch (const InputError&) {  // the network does not divide so
        }
    }
    // One field at another value.
    template <class T>
    void value(T Plan::*field, const std::type_identity_t<T>& value, std::string_view set) {
        if (job_.plan.*field == value) return;
        Plan plan = job_.plan;
        plan.*field = value;
        try_plan(plan, {std::string(set)});
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
    void keep(const PricedSetting& priced) {
        const auto known = std::ranges::find(best_, kind_, &std::pair<std::string, PricedSetting>::first);
        if (known == best_.end())
            best_.emplace_back(kind_, priced);
        else if (priced.gain > known->second.gain)
            known->second = priced;
    }

    const Scenario& job_;
    std::size_t lacks_;  // features that the plan needs already
    Estimate now_;
    bool fits_;
    std::string kind_;
    std::vector<std::pair<std::string, PricedSetting>> best_;
};

std::string number(std::int64_t n) { return std::to_string(n); }

// Where a file leaves the global batch to follow, other numbers would change it; where it says how many micro-batches there are,
// contradict.
std::vector<std::string> with_batch(std::vector<std::string> set, const Plan& p) {
    set.push_back("plan.global_batch=" + number(p.global_batch));
    if (p.states_grad_accum) set.emplace_back("plan.grad_accum=null");
    return set;
}

void try_shards(Trials& t) {
    using enum DataParallel;
    const Plan& p = t.plan();
    if (p.dp * p.cp == 1 || p.has_servers()) return;
    t.kind("shards");
    const std::pair<DataParallel, std::string_view> ways[] = {
        {all_reduce, "all_reduce"}, {zero1, "zero1"}, {zero2, "zero2"}, {zero3, "zero3"}};
    for (const auto& [way, word] : ways)
        if (!p.shard_group) t.value(&Plan::data_parallel, way, "plan.data_parallel=" + std::string(word));
    if (!p.has_shards()) return;
    t.kind("shard group");
    const int node = used_devices_per_node(t.job());
    if (node < p.dp * p.cp) t.value(&Plan::shard_group, std::optional(node), "plan.shard_group=" + number(node));
    if (p.shard_group) t.value(&Plan::shard_group, std::optional<int>(), "plan.shard_group=null");
}

void try_recompute(Trials& t) {
    if (t.plan().forward_only) return;
    t.kind("recompute");
    const std::pair<Recompute, std::string_view> ways[] = {
        {Recompute::none, "none"}, {Recompute::selective, "selective"}, {Recompute::full, "full"}};
    for (const auto& [way, word] : ways)
        if (t.plan().recompute_modules.empty()) t.value(&Plan::recompute, way, "plan.recompute=" + std::string(word));
}

void try_offload(Trials& t) {
    if (t.plan().forward_only) return;
    t.kind("offload");
    t.value(&Plan::offload, Offload::none, "plan.offload=none");
    if (!t.plan().without_optimizer) {
        t.value(&Plan::offload, Offload::optimizer, "plan.offload=optimizer");
        t.value(&Plan::offload, Offload::optimizer_and_parameters, "plan.offload=optimizer_and_parameters");
    }
    t.kind("offload activations");
    t.value(&Plan::offload_activations, OffloadActivations::none, "plan.offload_activations=none");
    if (!t.fits()) t.value(&Plan::offload_activations, OffloadActivations::all, "plan.offload_activations=all");
}

// Where the logits of a large vocabulary are what is too large.
void try_head(Trials& t) {
    t.kind("head");
    if (t.job().workload.is_transformer() && !t.fits() && t.plan().head_chunks < enough_head_chunks)
        t.value(&Plan::head_chunks, enough_head_chunks, "plan.head_chunks=" + number(enough_head_chunks));
}

void try_batch(Trials& t) {
    const Plan& p = t.plan();
    const auto batches = [&](std::int64_t micro, std::int64_t global) {
        Plan plan = p;
        plan.micro_batch = micro;
        plan.global_batch = global;
        t.try_plan(plan, with_batch({"plan.micro_batch=" + number(micro)}, plan));
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
        t.try_plan(plan, with_batch({"plan.schedule=1f1b", "plan.micro_batch=" + number(plan.micro_batch)}, plan));
    }
}

void try_schedule(Trials& t) {
    const Plan& p = t.plan();
    if (p.pp == 1 || !p.stage_blocks.empty()) return;
    t.kind("schedule");
    const auto schedule = [&](Schedule s, std::string_view word, int vpp) {
        Plan plan = p;
        plan.schedule = s;
        plan.vpp = vpp;
        if (s != p.schedule || vpp != p.vpp) t.try_plan(plan, {"plan.schedule=" + std::string(word), "plan.vpp=" + number(vpp)});
    };
    if (p.schedule == Schedule::sequential) return try_micro_batches(t);
    schedule(Schedule::one_f_one_b, "1f1b", 1);
    schedule(Schedule::interleaved, "interleaved", p.schedule == Schedule::interleaved ? 2 * p.vpp : 2);
    schedule(Schedule::zero_bubble, "zero_bubble", 1);
    schedule(Schedule::zero_bubble_v, "zero_bubble_v", 2);
    schedule(Schedule::dual_pipe_v, "dual_pipe_v", 2);
}

// Devices of a model that become those of its copies, or the other way.
void try_degrees(Trials& t) {
    const Plan& p = t.plan();
    const auto degrees = [&](int Plan::*degree, std::string_view path, bool more) {
        Plan plan = p;
        int &from = more ? plan.dp : plan.*degree, &to = more ? plan.*degree : plan.dp;
        if (from % 2 != 0) return;
        from /= 2;
        to *= 2;
        t.try_plan(plan, with_batch({std::string(path) + number(plan.*degree), "plan.dp=" + number(plan.dp)}, plan));
    };
    if (p.has_servers()) return;
    t.kind("tensor");
    degrees(&Plan::tp, "plan.tp=", false);
    if (t.job().workload.is_transformer()) degrees(&Plan::tp, "plan.tp=", true);
    t.kind("pipeline");
    if (!p.stage_blocks.empty()) return;
    degrees(&Plan::pp, "plan.pp=", false);
    degrees(&Plan::pp, "plan.pp=", true);
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
        t.try_plan(plan, {"plan.precision=" + std::string(to_text(*type))});
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
    const std::string type(to_text(p.precision.compute));
    t.try_plan(plan, {R"(plan.precision={"base": ")" + type + R"(", "reduction": ")" + type + R"("})"});
}

void try_switches(Trials& t) {
    const Plan& p = t.plan();
    const Framework& f = t.job().framework;
    const auto turn = [&](auto Plan::*field, bool to, std::string_view name) {
        t.kind(std::string(name));
        t.value(field, to, "plan." + std::string(name) + (to ? "=true" : "=false"));
    };
    if (p.tp > 1) turn(&Plan::sequence_parallel, true, "sequence_parallel");
    if (t.job().workload.is_transformer()) turn(&Plan::flash_attention, true, "flash_attention");
    if (t.job().cluster.node.device.kind != DeviceKind::cpu && !f.dispatch_in_graph) turn(&Plan::cuda_graph, true, "cuda_graph");
    turn(&Plan::launch_blocking, false, "launch_blocking");
    turn(&Plan::scattered, false, "scattered");
    if (!overlaps_gradients(p, f)) turn(&Plan::gradient_overlap, true, "gradient_overlap");
    if (!overlaps_gathers(p, f)) turn(&Plan::gather_overlap, true, "gather_overlap");
}

}  // namespace

std::vector<PricedSetting> better_settings(const Prepared& job, bool fits) {
    Trials t(job, fits);
    for (const auto trial : {try_shards, try_recompute, try_offload, try_head, try_batch, try_schedule, try_degrees, try_precision,
                             try_reduction, try_switches})
        trial(t);
    return t.take();
}

}  // namespace sextant
