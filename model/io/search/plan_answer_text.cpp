#include "model/io/search/plan_answer_writer.hpp"

#include "model/base/evenly_spread.hpp"
#include "model/base/grouped_digits.hpp"
#include "model/base/list_text.hpp"
#include "model/base/quantity_text.hpp"
#include "model/io/report/report_fields.hpp"
#include "model/io/scenario/plan_writer.hpp"
#include "model/io/search/plan_answer_words.hpp"
#include "model/io/search/plan_columns.hpp"
#include "model/report/headings.hpp"
#include "model/search/plan_fields.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace sextant {
namespace {

std::string text(std::int64_t n) { return grouped_digits(n); }

std::string searched_text(const PlanAnswer& a) {
    const SearchRequest& r = a.request;
    std::vector<std::string> sizes, batches, pins;
    for (const int n : r.devices) sizes.push_back(text(n));
    if (sizes.empty()) sizes.push_back(text(r.job.plan.devices()));
    for (const std::int64_t n : r.global_batches) batches.push_back(text(n));
    if (batches.empty()) batches.push_back(text(r.job.plan.global_batch));
    for (const PlanField f : r.pinned) pins.push_back(std::string(to_text(f)) + " " + plan_field_text(f, r.job.plan));
    std::vector<std::string> conditions;
    for (const Condition& c : r.where) conditions.push_back(c.text);
    if (sizes.size() > 6) sizes = {sizes.front(), sizes[1], "...", sizes.back()};
    return joined(sizes) + " devices, global batch " + joined(batches) + ", " + std::string(to_text(r.job.plan.precision.compute)) +
           (pins.empty() ? "" : "; pinned: " + joined(pins)) + (conditions.empty() ? "" : "; only with " + joined(conditions));
}

std::string counts_text(const PlanAnswer& a, Seconds took) {
    const SearchCounts& c = a.counts;
    std::string line = count_text(c.priced) + " evaluated, " + count_text(c.too_large) + " " + std::string(too_large_words(a.request));
    if (c.pruned > 0) line += ", " + count_text(c.pruned) + " pruned by a bound";
    return line + "; " + to_text(took) + (a.complete ? "" : ", STOPPED BEFORE THE END: the best so far");
}

std::string heading(const PlanAnswer& a, Seconds took) {
    const Scenario& job = a.request.job;
    TextTable table;
    table.row({"workload", workload_line(job.workload)});
    table.row({"hardware", hardware_line(job.cluster)});
    table.row({"framework", job.framework.title});
    table.row({"searched", searched_text(a)});
    table.row({"plans", counts_text(a, took)});
    return job.name + "\n" + table.text();
}

// ---- the best plans

std::vector<const PlanChoice*> choices_of(const std::vector<RankedPlan>& best) {
    std::vector<const PlanChoice*> choices;
    choices.reserve(best.size());
    for (const RankedPlan& r : best) choices.push_back(&r.choice);
    return choices;
}

void add_to(std::vector<PlanColumn>& columns, std::vector<PlanColumn> more) { std::ranges::move(more, std::back_inserter(columns)); }

std::string simulated_text(const RankedPlan& r) {
    if (!r.simulated) return "-";
    const double above = *r.simulated / r.choice.step - 1;
    return to_text(*r.simulated) + (std::fabs(above) < 5e-4 ? " (same)" : " (" + longer_text(above) + ")");
}

// Pairs that follow each other in the ranking and would not in that of the simulator.
std::string disagreement(const std::vector<RankedPlan>& best) {
    std::vector<std::string> pairs;
    for (std::size_t i = 0; i + 1 < best.size(); ++i) {
        const RankedPlan &a = best[i], &b = best[i + 1];
        if (!a.simulated || !b.simulated) continue;
        const double by_closed_form = a.choice.samples_per_s / b.choice.samples_per_s,
                     by_events = by_closed_form * ((*b.simulated / b.choice.step) / (*a.simulated / a.choice.step));
        if (by_closed_form > 1 && by_events < 1 - 1e-4)
            pairs.push_back("plan " + text(static_cast<std::int64_t>(i) + 2) + " before plan " + text(static_cast<std::int64_t>(i) + 1));
    }
    return pairs.empty() ? "" : "  the event simulator puts " + joined(pairs) + "\n";
}

std::string best_table(const PlanAnswer& a) {
    std::vector<PlanColumn> columns{{"", Align::right, {}}};
    for (std::size_t i = 0; i < a.best.size(); ++i) columns[0].cells.push_back(text(static_cast<std::int64_t>(i) + 1));
    add_to(columns, plan_columns(a.best));
    add_to(columns, outcome_columns(a.request.job, choices_of(a.best)));
    if (std::ranges::any_of(a.best, [](const RankedPlan& r) { return r.simulated.has_value(); })) {
        PlanColumn simulated{"simulated", Align::right, {}};
        for (const RankedPlan& r : a.best) simulated.cells.push_back(simulated_text(r));
        const auto after = std::ranges::find(columns, "step time", &PlanColumn::title);
        columns.insert(after + 1, std::move(simulated));
    }
    PlanColumn mfu{"MFU", Align::right, {}}, energy{"energy/sample", Align::right, {}};
    for (const RankedPlan& r : a.best) {
        mfu.cells.push_back(percent_text(r.report.mfu));
        energy.cells.push_back(to_text(r.choice.energy_per_sample));
    }
    columns.push_back(std::move(mfu));
    if (a.request.objective == Objective::energy) columns.push_back(std::move(energy));
    return "\nBest plans, " + std::string(ranked_by(a.request.objective)) + " first\n" + table_of(columns) + disagreement(a.best);
}

// ---- the best beside the scenario's own

std::string beside_own(const PlanAnswer& a) {
    const RankedPlan& best = a.best.front();
    const Estimate& e = best.report.estimate;
    const Estimate* own = a.own.estimate ? &*a.own.estimate : nullptr;
    std::string out = "\nPlan 1: " + own_verdict(a) + "\n";
    TextTable table("  ", std::vector{Align::left, Align::right, Align::right, Align::right, Align::right});
    table.row({"", "plan 1", "", own ? "its own" : "", ""});
    if (best.choice.devices != a.own.plan.devices()) table.row({"devices", text(best.choice.devices), "", text(a.own.plan.devices()), ""});
    for (const PlanField f : all_plan_fields) {
        if (same_field(f, best.choice.plan, a.own.plan) || f == PlanField::stage_blocks) continue;
        table.row({words(to_text(f)), plan_field_text(f, best.choice.plan), "", own ? plan_field_text(f, a.own.plan) : "", ""});
    }
    table.row({"step time", to_text(e.step), "", own ? to_text(own->step) : "", ""});
    for (const Term t : all_terms) {
        const auto worth_it = [&](const Estimate& x) { return x.terms[t] / x.step >= 5e-4; };
        if (!worth_it(e) && !(own && worth_it(*own))) continue;
        std::vector<std::string> row{"  " + words(to_text(t)), to_text(e.terms[t]), share_text(e, t), "", ""};
        if (own) {
            row[3] = to_text(own->terms[t]);
            row[4] = share_text(*own, t);
        }
        table.row(std::move(row));
    }
    table.row({"memory", to_text(e.peak_memory), percent_text(e.peak_memory / e.device_memory, 2), own ? to_text(own->peak_memory) : "",
               own ? percent_text(own->peak_memory / own->device_memory, 2) : ""});
    out += table.text();
    if (!best.choice.plan.stage_blocks.empty())
        out += "  blocks of its stages: " + plan_field_text(PlanField::stage_blocks, best.choice.plan) + "\n";
    const Bottleneck& b = best.report.bottleneck;
    return out + "  held back by " + std::string(to_text(b.kind)) + "; would move it: " + what_would_move_it(best.report) + "\n";
}

std::string front_text(const PlanAnswer& a) {
    constexpr std::size_t most = 12;
    std::vector<const PlanChoice*> choices;
    std::vector<const Plan*> plans;
    const std::size_t n = a.front.size();
    if (n < 2) return {};
    for (const std::size_t i : evenly_spread(n, most)) {
        choices.push_back(&a.front[i]);
        plans.push_back(&a.front[i].plan);
    }
    std::vector<PlanColumn> columns = plan_columns(plans);
    add_to(columns, outcome_columns(a.request.job, choices));
    return "\nPareto front of throughput, memory and cost" +
           (n > most ? " (" + text(static_cast<std::int64_t>(most)) + " of " + text(static_cast<std::int64_t>(n)) + ")" : std::string()) +
           "\n" + table_of(columns);
}

// ---- what else could be done

std::string followers(const PlanChange& change, const Plan& best) {
    std::vector<std::string> list;
    for (const PlanField f : all_plan_fields)
        if (f != change.field && !same_field(f, best, change.tried.plan))
            list.push_back(words(to_text(f)) + " " + plan_field_text(f, change.tried.plan));
    return joined(list);
}

std::vector<std::string> cells_of(const TriedWords& w) { return {w.step, w.longer, w.memory, w.remark}; }

std::string changes_text(const PlanAnswer& a) {
    if (a.changes.empty()) return {};
    TextTable table("  ", std::vector{Align::left, Align::right, Align::left, Align::left, Align::left, Align::right, Align::right,
                                      Align::right, Align::left});
    const Plan& best = a.best.front().choice.plan;
    table.row({"", "", "", "", "with it", "step time", "", "memory", "what grows most"});
    std::optional<PlanField> last;
    for (const PlanChange& c : a.changes) {
        const bool again = last == c.field;
        std::vector<std::string> row{again ? "" : words(to_text(c.field)), again ? "" : plan_field_text(c.field, best), again ? "" : "->",
                                     plan_field_text(c.field, c.tried.plan), followers(c, best)};
        for (std::string& cell : cells_of(in_words(a, c.tried))) row.push_back(std::move(cell));
        table.row(std::move(row));
        last = c.field;
    }
    return "\nPlan 1 with one setting changed\n" + table.text();
}

std::string alternatives_text(const PlanAnswer& a) {
    if (a.alternatives.empty()) return {};
    TextTable table("  ", std::vector{Align::left, Align::right, Align::right, Align::right, Align::left});
    table.row({"", "step time", "", "memory", "what grows most"});
    for (const Alternative& x : a.alternatives) {
        std::vector<std::string> row{name_of(x)};
        for (std::string& cell : cells_of(in_words(a, x.tried))) row.push_back(std::move(cell));
        if (x.is_the_best) row.back() = "this is plan 1";
        table.row(std::move(row));
    }
    return "\nWhy not the obvious? Each at its best\n" + table.text();
}

// ---- nothing fits

std::string nothing_fits(const PlanAnswer& a) {
    std::string out = "\n" + why_none(a) + "\n";
    if (a.all_ruled_out() || !a.complete) return out;
    if (a.smallest) out += "  " + plan_line(a.smallest->plan) + "\n";
    if (a.remedies.empty()) return out + "  No single change tried here makes one fit: a smaller model, or devices with more memory\n";
    out += "\nWhat would make one fit, each by itself\n";
    TextTable table("  ", std::vector{Align::left, Align::right, Align::right, Align::left});
    table.row({"", "memory", "step time", "plan"});
    for (const Remedy& r : a.remedies)
        table.row({name_of(a, r), to_text(r.tried.estimate->peak_memory), to_text(r.tried.estimate->step), plan_line(r.tried.plan)});
    return out + table.text();
}

}  // namespace

std::string plan_answer_to_text(const PlanAnswer& a, Seconds took) {
    const std::string out = heading(a, took);
    if (a.best.empty()) return out + nothing_fits(a);
    return out + best_table(a) + beside_own(a) + front_text(a) + changes_text(a) + alternatives_text(a);
}

}  // namespace sextant
