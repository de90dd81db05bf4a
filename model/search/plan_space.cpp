#include "model/search/plan_space.hpp"

#include "model/base/enum_names.hpp"
#include "model/plan/partition.hpp"
#include "model/plan/plan_features.hpp"

#include <algorithm>

namespace sextant {
namespace {

std::vector<std::int64_t> divisors(std::int64_t n) {
    std::vector<std::int64_t> small, large;
    for (std::int64_t d = 1; d * d <= n; ++d) {
        if (n % d != 0) continue;
        small.push_back(d);
        if (d * d < n) large.push_back(n / d);
    }
    small.insert(small.end(), large.rbegin(), large.rend());
    return small;
}

// The divisors of n, or the pinned value where it is one of them.
std::vector<int> degrees(const PlanSpace& space, PlanField field, int pinned, std::int64_t n) {
    if (!space.is_free(field)) return pinned > 0 && n % pinned == 0 ? std::vector<int>{pinned} : std::vector<int>{};
    std::vector<int> all;
    for (const std::int64_t d : divisors(n)) all.push_back(static_cast<int>(d));
    return all;
}

const TransformerSpec* transformer_of(const PlanSpace& space) { return space.job.workload.transformer(); }
const MixtureOfExperts* experts_of(const PlanSpace& space) {
    const TransformerSpec* t = transformer_of(space);
    return t && t->moe ? &*t->moe : nullptr;
}

// The field of a plan whose value needs the feature.
PlanField field_of(PlanFeature feature) {
    switch (feature) {
        case PlanFeature::several_nodes: return PlanField::dp;
        case PlanFeature::tensor: return PlanField::tp;
        case PlanFeature::sequence: return PlanField::sequence_parallel;
        case PlanFeature::context: return PlanField::cp;
        case PlanFeature::experts: return PlanField::ep;
        case PlanFeature::pipeline: return PlanField::pp;
        case PlanFeature::gpipe:
        case PlanFeature::interleaved:
        case PlanFeature::zero_bubble:
        case PlanFeature::dual_pipe: return PlanField::schedule;
        case PlanFeature::zero1:
        case PlanFeature::zero2:
        case PlanFeature::zero3:
        case PlanFeature::sharded_pipeline: return PlanField::data_parallel;
        case PlanFeature::shard_groups: return PlanField::shard_group;
        case PlanFeature::selective_recompute: return PlanField::recompute;
        case PlanFeature::offload:
        case PlanFeature::optimizer_offload:
        case PlanFeature::parameter_offload:
        case PlanFeature::unsharded_offload: break;
    }
    return PlanField::offload;
}

// What the plan's other fields need is judged at their levels.
bool framework_can(const PlanSpace& space, PlanField field, const Plan& plan) {
    return std::ranges::none_of(missing_features(plan, space.job.framework, space.job.cluster),
                                [&](PlanFeature f) { return field_of(f) == field; });
}
// A pin of something other than a degree asks what it would come to.
bool can(const PlanSpace& space, PlanField field, const Plan& plan) { return !space.is_free(field) || framework_can(space, field, plan); }

// Tensor parallelism inside experts is that of the layers, or none.
std::vector<int> expert_tensor_degrees(const PlanSpace& space, int tp) {
    if (!space.is_free(PlanField::expert_tp)) return {space.job.plan.expert_tp};
    return experts_of(space) && tp > 1 ? std::vector<int>{0, 1} : std::vector<int>{0};
}

bool servers_pinned(const PlanSpace& space) { return space.job.plan.has_servers() && !space.is_free(PlanField::data_parallel); }

// Shards over all data-parallel ranks, or over those of one node.
std::vector<std::optional<int>> shard_groups(const PlanSpace& space, const Plan& plan) {
    if (!space.is_free(PlanField::shard_group)) return {space.job.plan.shard_group};
    std::vector<std::optional<int>> groups{std::nullopt};
    int largest = 1;
    const int ranks = plan.dp * plan.cp, in_node = used_devices_per_node(space.job) / plan.tp;
    for (const std::int64_t d : divisors(ranks))
        if (d <= in_node) largest = static_cast<int>(d);
    if (largest > 1 && largest < ranks) groups.emplace_back(largest);
    return groups;
}

std::vector<DataParallel> sharing_kinds(const PlanSpace& space, const Plan& plan) {
    using enum DataParallel;
    if (!space.is_free(PlanField::data_parallel)) return {space.job.plan.data_parallel};
    if (plan.updates_whole_matrices()) return plan.dp * plan.cp == 1 ? std::vector{all_reduce} : std::vector{all_reduce, zero1};
    if (plan.dp * plan.cp == 1)
        return space.job.framework.can(PlanFeature::zero3) ? std::vector{all_reduce, zero3} : std::vector{all_reduce};
    return plan.forward_only ? std::vector{all_reduce, zero3} : std::vector{all_reduce, zero1, zero2, zero3};
}

std::vector<Offload> offloads(const PlanSpace& space) {
    if (!space.is_free(PlanField::offload)) return {space.job.plan.offload};
    if (space.job.plan.updates_whole_matrices()) return {Offload::none};
    if (space.job.plan.forward_only || space.job.plan.without_optimizer) return {Offload::none, Offload::optimizer_and_parameters};
    return {Offload::none, Offload::optimizer, Offload::optimizer_and_parameters};
}

// Parameters in host memory come block by block, as shards. A rank that shares with nobody holds all, as whole or as its only shard:
// what it leaves on the device makes no difference.
bool is_a_way_to_share(const PlanSpace& space, const Plan& plan) {
    const bool offloads = plan.offloads_parameters();
    if (!plan.shards_parameters()) return !offloads;
    const bool choice = space.is_free(PlanField::data_parallel);
    return plan.dp * plan.cp > 1 || !choice || offloads;
}

std::vector<Schedule> schedule_kinds(const PlanSpace& space, const Plan& plan) {
    using enum Schedule;
    if (!space.is_free(PlanField::schedule)) return {space.job.plan.schedule};
    if (plan.pp == 1) return {one_f_one_b};
    if (plan.forward_only) return {one_f_one_b, interleaved};
    return {one_f_one_b, gpipe, interleaved, zero_bubble, zero_bubble_v, dual_pipe_v};
}

// Chunks of a stage that make the largest chunk smaller than one chunk less does. Layers are dealt out evenly, an input and a head beside
// them, or in chunks of their own: 126 layers in 16 stages of 8 (Llama 3 405B).
std::vector<int> chunk_counts(const PlanSpace& space, const Plan& plan) {
    if (!space.is_free(PlanField::vpp)) return {space.job.plan.vpp};
    if (plan.schedule != Schedule::interleaved) return {turns_back(plan.schedule) ? 2 : 1};
    const auto largest = [&](int vpp) { return (space.layers + plan.pp * vpp - 1) / (plan.pp * vpp); };
    std::vector<int> counts;
    for (int vpp = 2; plan.pp * vpp <= space.blocks; ++vpp)
        if (largest(vpp) < largest(vpp - 1)) counts.push_back(vpp);
    return counts;
}

bool can_be(const PlanSpace& space, const Plan& plan) {
    if (plan.pp * plan.vpp > space.blocks) return false;
    switch (plan.schedule) {
        case Schedule::interleaved: return plan.pp > 1 && plan.vpp > 1 && plan.micro_batches() % plan.pp == 0;
        case Schedule::sequential: return plan.vpp == 1 && plan.micro_batches() == 1;
        case Schedule::zero_bubble: return plan.vpp == 1 && !plan.forward_only;
        case Schedule::zero_bubble_v:
        case Schedule::dual_pipe_v: return plan.pp > 1 && plan.vpp == 2 && !plan.forward_only;
        case Schedule::one_f_one_b:
        case Schedule::gpipe: break;
    }
    return plan.vpp == 1;
}

}  // namespace

std::string_view to_text(PlanField field) {
    static constexpr std::string_view names[plan_field_count] = {"dp",          "tp",        "pp",           "cp",
                                                                 "ep",          "expert_tp", "placement",    "data_parallel",
                                                                 "shard_group", "offload",   "micro_batch",  "sequence_parallel",
                                                                 "schedule",    "vpp",       "stage_blocks", "recompute"};
    return names[static_cast<std::size_t>(field)];
}

std::optional<PlanField> plan_field(std::string_view name) { return enumerator_named(name, all_plan_fields); }

PlanSpace plan_space(Scenario job, std::set<PlanField> pinned, int devices) {
    Scenario whole = job;
    whole.plan = {};
    const Network network = cut_network(whole);
    const auto is_layer = [&](int t) { return network.templates[static_cast<std::size_t>(t)].role == BlockRole::layer; };
    const auto layers = std::ranges::count_if(network.sequence, is_layer);
    return {std::move(job), std::move(pinned), devices, static_cast<int>(network.sequence.size()), static_cast<int>(layers)};
}

// Whichever way the model is divided over them.
bool reaches_all(const PlanSpace& space) {
    Plan all = space.job.plan;
    all.tp = all.pp = all.cp = 1;
    all.dp = space.devices;
    return framework_can(space, PlanField::dp, all);
}

std::vector<Plan> cuts(const PlanSpace& space) {
    const Plan& own = space.job.plan;
    if (!reaches_all(space)) return {};
    const bool whole = servers_pinned(space);  // workers of a server hold the whole model
    const bool is_cut = !whole && !std::holds_alternative<GraphSpec>(space.job.workload.spec);
    const MixtureOfExperts* moe = experts_of(space);
    std::vector<Plan> plans;
    for (const int tp : degrees(space, PlanField::tp, own.tp, is_cut ? space.devices : 1))
        for (const int cp : degrees(space, PlanField::cp, own.cp, transformer_of(space) && !whole ? space.devices / tp : 1))
            for (const int ep : degrees(space, PlanField::ep, own.ep, moe && !whole ? moe->experts : 1))
                for (const int expert_tp : expert_tensor_degrees(space, tp)) {
                    Plan plan = own;
                    plan.tp = tp;
                    plan.cp = cp;
                    plan.ep = ep;
                    plan.expert_tp = expert_tp;
                    const auto can_do = [&](PlanField degree) { return framework_can(space, degree, plan); };
                    if (!can_do(PlanField::tp) || !can_do(PlanField::cp) || !can_do(PlanField::ep)) continue;
                    if (expert_tp == 0 || tp % expert_tp == 0) plans.push_back(std::move(plan));
                }
    return plans;
}

std::vector<Plan> layouts(const PlanSpace& space, const Plan& cut) {
    std::vector<Plan> plans;
    const int rest = space.devices / (cut.tp * cut.cp);
    for (const int pp : degrees(space, PlanField::pp, cut.pp, servers_pinned(space) ? 1 : rest)) {
        const int dp = rest / pp;
        const bool splits =
            cut.global_batch % dp == 0 && (std::int64_t{dp} * cut.cp * cut.tp) % (std::int64_t{cut.ep} * cut.expert_tensor()) == 0;
        if (pp > space.blocks || !splits || (!space.is_free(PlanField::dp) && dp != space.job.plan.dp)) continue;
        Plan plan = cut;
        plan.pp = pp;
        plan.dp = dp;
        if (!framework_can(space, PlanField::pp, plan)) continue;
        if (const auto& slow = space.job.straggler; slow && slow->has_smaller_batches && !copies_are_of_one_kind(plan, *slow)) continue;
        for (auto& order : placements(space, plan)) {
            plan.placement = std::move(order);
            plans.push_back(plan);
        }
    }
    return plans;
}

std::vector<Plan> sharings(const PlanSpace& space, const Plan& layout) {
    std::vector<Plan> plans;
    Plan plan = layout;
    for (const DataParallel kind : sharing_kinds(space, layout)) {
        plan.data_parallel = kind;
        if (!can(space, PlanField::data_parallel, plan)) continue;
        for (const std::optional<int> group :
             plan.has_shards() ? shard_groups(space, layout) : std::vector<std::optional<int>>{std::nullopt}) {
            if (group && layout.dp * layout.cp % *group != 0) continue;
            plan.shard_group = group;
            if (!can(space, PlanField::shard_group, plan)) continue;
            for (const Offload offload : offloads(space)) {
                plan.offload = offload;
                if (can(space, PlanField::offload, plan) && is_a_way_to_share(space, plan)) plans.push_back(plan);
            }
        }
    }
    return plans;
}

std::vector<Plan> shapes(const PlanSpace& space, const Plan& layout) {
    const Plan& own = space.job.plan;
    std::vector<bool> sequence{layout.tp > 1 && own.sequence_parallel};
    if (space.is_free(PlanField::sequence_parallel)) {
        sequence = {false};
        if (transformer_of(space) && layout.tp > 1) sequence.push_back(true);
    }
    const std::int64_t samples = layout.global_batch / layout.dp;  // of one pipeline
    std::vector<std::int64_t> sizes = divisors(samples);
    if (!space.is_free(PlanField::micro_batch))
        sizes = samples % own.micro_batch == 0 ? std::vector{own.micro_batch} : std::vector<std::int64_t>{};
    std::vector<Plan> plans;
    Plan plan = layout;
    for (const std::int64_t size : sizes)
        for (const bool parallel : sequence) {
            plan.micro_batch = size;
            plan.sequence_parallel = parallel;
            if (can(space, PlanField::sequence_parallel, plan)) plans.push_back(plan);
        }
    return plans;
}

std::vector<Plan> schedules(const PlanSpace& space, const Plan& shape) {
    std::vector<Plan> plans;
    Plan plan = shape;
    if (space.is_free(PlanField::stage_blocks)) plan.stage_blocks.clear();
    for (const Schedule kind : schedule_kinds(space, shape)) {
        plan.schedule = kind;
        if (!can(space, PlanField::schedule, plan)) continue;
        for (const int vpp : chunk_counts(space, plan)) {
            plan.vpp = vpp;
            if (can_be(space, plan)) plans.push_back(plan);
        }
    }
    return plans;
}

std::vector<Plan> recompute_families(const PlanSpace& space, const Plan& plan) {
    if (!space.is_free(PlanField::recompute)) return {plan};
    Plan family = plan;
    family.recompute = Recompute::none;
    family.recompute_blocks = 0;
    std::vector<Plan> families{family};
    // A fused attention kernel keeps nothing that could be made again, unless the job names more.
    const bool drops = !plan.flash_attention || !plan.recompute_modules.empty();
    if (plan.forward_only || !transformer_of(space) || !drops) return families;
    family.recompute = Recompute::selective;
    if (can(space, PlanField::recompute, family)) families.push_back(family);
    return families;
}

std::vector<std::vector<PlanDimension>> placements(const PlanSpace& space, const Plan& plan) {
    using enum PlanDimension;
    const std::vector<PlanDimension>& own = space.job.plan.placement;
    if (!space.is_free(PlanField::placement)) return {own};
    std::vector<std::vector<PlanDimension>> orders{{tensor, context, data, pipeline}};
    if (plan.pp > 1 && plan.dp > 1) orders.push_back({tensor, context, pipeline, data});
    if (std::ranges::find(orders, own) == orders.end()) orders.push_back(own);
    return orders;
}

bool has_plans(const PlanSpace& space) {
    const auto divides = [&](const Plan& shape) {
        try {
            Scenario job = space.job;
            job.plan = shape;
            cut_network(job);
            return true;
        } catch (const InputError&) {
            return false;
        }
    };
    for (const Plan& cut : cuts(space))
        for (const Plan& layout : layouts(space, cut))
            for (const Plan& shape : shapes(space, layout))
                if (!sharings(space, layout).empty() && !schedules(space, shape).empty() && divides(shape)) return true;
    return false;
}

std::optional<RecomputeSetting> recompute_setting(const PlanSpace& space, const Plan& family, int blocks, int layers) {
    if (!space.is_free(PlanField::recompute) || family.recompute != Recompute::none || family.forward_only) return {};
    if (blocks == layers) return RecomputeSetting{Recompute::full, 0};
    return RecomputeSetting{Recompute::blocks, blocks};
}

}  // namespace sextant
