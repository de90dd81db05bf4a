#include "model/io/search/plan_answer_words.hpp"

#include "model/base/grouped_digits.hpp"
#include "model/base/quantity_text.hpp"
#include "model/io/format/text_table.hpp"
#include "model/io/scenario/plan_writer.hpp"
#include "model/plan/plan_features.hpp"
#include "model/search/plan_fields.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace sextant {
namespace {

// Time for a sample, against the best plan's.
double longer(const PlanAnswer& a, Frequency samples_per_s) { return a.best.front().choice.samples_per_s / samples_per_s - 1; }

std::string too_much(const Estimate& e) {
    if (!e.fits_device()) return "does not fit: " + to_text(e.peak_memory - e.device_memory) + " too much";
    return "does not fit: " + to_text(e.host.total() - e.host.there) + " too much in host memory";
}

// ": of those evaluated the smallest step_time is 212 ms": how near to the conditions plans come.
std::string nearest_text(const PlanAnswer& a) {
    const std::vector<NamedQuantity> quantities = searched_quantities(a.request.job);
    std::string text;
    for (std::size_t i = 0; i < a.nearest.size(); ++i) {
        const Condition& c = a.request.where[i];
        const NamedQuantity* q = quantity_of(c, quantities);
        if (!q || !a.nearest[i]) continue;
        text += (text.empty() ? ": of those evaluated the " : ", the ") + std::string(asks_for_less(c) ? "smallest " : "largest ") +
                q->name + " is " + (q->table ? format_quantity(*a.nearest[i], *q->table) : number_text(*a.nearest[i]));
    }
    return text;
}

// The first field, level by level, because of which a search has not looked at a plan; none where the reason is what is recomputed or how
// blocks are dealt out.
std::optional<PlanField> left_out(const PlanSpace& space, const Plan& plan) {
    using enum PlanField;
    Plan at;
    const auto blamed = [&](std::vector<Plan> level, std::initializer_list<PlanField> fields) -> std::optional<PlanField> {
        for (const PlanField f : fields) {
            std::erase_if(level, [&](const Plan& p) { return !same_field(f, p, plan); });
            if (level.empty()) return f;
        }
        at = level.front();
        return {};
    };
    std::optional<PlanField> field = blamed(cuts(space), {tp, cp, ep, expert_tp});
    if (!field) field = blamed(layouts(space, at), {pp, dp, placement});
    if (!field) field = blamed(sharings(space, at), {data_parallel, shard_group, offload});
    if (!field) field = blamed(shapes(space, at), {micro_batch, sequence_parallel});
    return field ? field : blamed(schedules(space, at), {schedule, vpp});
}

// Why the scenario's own plan is not among the best, although it is faster.
std::string why_passed_over(const PlanAnswer& a) {
    const SearchRequest& r = a.request;
    const int devices = a.own.plan.devices();
    if (!r.devices.empty() && std::ranges::find(r.devices, devices) == r.devices.end())
        return "it is on " + grouped_digits(devices) + " devices";
    if (!a.own.missing.empty()) return "the framework has no " + std::string(to_text(a.own.missing.front()));
    if (!r.pinned.empty() || !r.where.empty()) return "it is not what was asked for";
    if (!a.complete) return "the search was stopped before it came there";
    const std::optional<PlanField> field = left_out(plan_space(with_plan(r.job, a.own.plan), {}, devices), a.own.plan);
    return "it is not in the space that was searched" +
           (field ? ", which has no " + words(to_text(*field)) + " " + plan_field_text(*field, a.own.plan) + " with the rest of that plan"
                  : "");
}

}  // namespace

std::string_view ranked_by(Objective o) {
    static constexpr std::string_view names[objective_count] = {"highest throughput", "shortest step", "lowest cost of a sample",
                                                                "least energy for a sample", "least memory"};
    return names[static_cast<std::size_t>(o)];
}

std::string longer_text(double by) {
    if (std::fabs(by) < 5e-4) return "as fast";
    return (by > 0 ? "+" : "-") + percent_text(std::fabs(by), 2);
}

std::string share_text(const Estimate& e, Term t) { return percent_text(e.terms[t] / e.step, 2); }

std::string count_text(std::int64_t plans) {
    return plans < 1'000'000 ? grouped_digits(plans) : number_text(static_cast<double>(plans) / 1e6) + " million";
}

std::string_view too_large_words(const SearchRequest& r) {
    const bool limits = std::ranges::any_of(r.where, [](const Condition& c) { return c.quantity == "memory" && asks_for_less(c); });
    return limits ? "do not fit or take more memory than asked for" : "do not fit";
}

std::string own_verdict(const PlanAnswer& a) {
    if (!a.own.estimate) return "the scenario's own plan cannot be: " + a.own.impossible.front().what;
    if (!a.own.fits()) return "the scenario's own plan " + too_much(*a.own.estimate);
    const double times = a.best.front().choice.samples_per_s / a.own.samples_per_s();
    if (std::fabs(times - 1) < 5e-4) return "the scenario's own plan is as fast";
    if (times < 1 && a.request.objective == Objective::throughput)
        return "the scenario's own plan has " + number_text(1 / times) + " times its throughput: " + why_passed_over(a);
    return number_text(times) + " times the throughput of the scenario's own plan";
}

TriedWords in_words(const PlanAnswer& a, const TriedPlan& tried) {
    if (!tried.estimate) return {"-", "", "", "impossible: " + tried.impossible.front().what};
    const Estimate& e = *tried.estimate;
    const double by = longer(a, tried.samples_per_s());
    TriedWords words{to_text(e.step), longer_text(by), to_text(e.peak_memory), {}};
    const bool asked_for_less = !a.request.pinned.empty() || !a.request.where.empty();
    const Estimate& best = a.best.front().report.estimate;
    if (!e.fits())
        words.remark = too_much(e);
    else if (!tried.missing.empty())
        words.remark = "the framework has no " + std::string(to_text(tried.missing.front()));
    else if (by < -5e-4)
        words.remark = asked_for_less ? "not what was asked for" : "not in the space that was searched";
    else if (const auto grown = most_grown(best.terms, e.terms); grown && by >= 5e-4)
        words.remark = sextant::words(to_text(*grown)) + " +" + to_text(e.terms[*grown] - best.terms[*grown]) + ", " +
                       share_text(best, *grown) + " -> " + share_text(e, *grown);
    return words;
}

std::string name_of(const Alternative& x) {
    const Plan& p = x.tried.plan;
    switch (x.kind) {
        case ObviousKind::data_parallel: return "plain data parallelism";
        case ObviousKind::fully_sharded: return "ZeRO-3 (FSDP) alone";
        case ObviousKind::tensor_over_nodes: return "tp " + std::to_string(p.tp) + ", across nodes";
        case ObviousKind::pipeline: return "pipeline of " + grouped_digits(p.pp) + " alone";
        case ObviousKind::no_recompute: return "no recompute";
    }
    return {};
}

std::string name_of(const PlanAnswer& a, const Remedy& r) {
    const Plan& p = r.tried.plan;
    switch (r.kind) {
        case RemedyKind::unpinned:
            return words(to_text(*r.field)) + " " + plan_field_text(*r.field, p) + " instead of " +
                   plan_field_text(*r.field, a.request.job.plan);
        case RemedyKind::head: return "the head over " + std::to_string(p.head_chunks) + " parts of the tokens in turn (plan.head_chunks)";
        case RemedyKind::offload: return "activations in host memory";
        case RemedyKind::precision:
            return std::string(to_text(p.precision.compute)) + " instead of " + std::string(to_text(a.request.job.plan.precision.compute));
        case RemedyKind::global_batch: return "a global batch of " + grouped_digits(p.global_batch);
        case RemedyKind::devices: return grouped_digits(p.devices()) + " devices";
        case RemedyKind::framework: return "framework " + r.framework + " instead of " + a.request.job.framework.name;
    }
    return {};
}

std::string why_none(const PlanAnswer& a) {
    if (a.all_ruled_out()) return "No plan meets every condition" + nearest_text(a) + "; ask for less with --where";
    if (!a.complete) return "Stopped before a plan was found that fits";
    if (!a.smallest || !a.own.estimate) return "NO PLAN FITS";
    std::string why =
        "NO PLAN FITS: the least memory that one needs is " + to_text(a.smallest->memory) + " of " + to_text(a.own.estimate->device_memory);
    const TriedPlan smallest = try_plan(a.request.job, a.smallest->plan);
    if (const HostMemory host = smallest.estimate ? smallest.estimate->host : HostMemory{}; !host.fits())
        why += ", and of a host's " + to_text(host.total()) + " of " + to_text(host.there);
    return why;
}

}  // namespace sextant
