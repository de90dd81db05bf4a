#include "model/io/search/scaling_writer.hpp"

#include "model/base/grouped_digits.hpp"
#include "model/base/quantity_text.hpp"
#include "model/io/search/plan_columns.hpp"
#include "model/report/headings.hpp"

#include <algorithm>

namespace sextant {
namespace {

std::string heading(const Scaling& s) {
    const Scenario& job = s.request.search.job;
    TextTable table;
    table.row({"workload", workload_line(job.workload)});
    table.row({"hardware", hardware_line(job.cluster)});
    table.row({"framework", job.framework.title});
    table.row({"scaling", s.request.weak ? "weak: the global batch grows with the devices" : "strong: the global batch stays as it is"});
    return job.name + "\n" + table.text();
}

std::string table_text(const Scaling& s) {
    const Scenario& job = s.request.search.job;
    const bool priced = s.points.end() != std::find_if(s.points.begin(), s.points.end(),
                                                       [](const ScalingPoint& p) { return p.best && p.best->cost_per_sample; });
    std::vector<std::string> titles{"devices", "batch", "step time", std::string(job.workload.sample_word()) + "s/s"};
    if (priced) titles.push_back(price_unit(job));
    for (const char* title : {"memory", "efficiency", ""}) titles.emplace_back(title);
    std::vector<Align> aligns(titles.size() - 1, Align::right);
    TextTable table("  ", aligns);
    table.row(titles);
    for (const ScalingPoint& p : s.points) {
        std::vector<std::string> row{grouped_digits(p.devices), grouped_digits(p.global_batch)};
        if (!p.best) {
            row.emplace_back("no plan");
            table.row(std::move(row));
            continue;
        }
        row.push_back(to_text(p.best->step));
        row.push_back(grouped_digits(p.best->samples_per_s.si(), 3));
        if (priced) row.push_back(price_text(job, *p.best->cost_per_sample));
        row.push_back(to_text(p.best->memory));
        row.push_back(percent_text(p.efficiency, 2));
        row.push_back(share_bar(std::min(1.0, p.efficiency)));
        table.row(std::move(row));
    }
    std::string text = "\n" + table.text(), last;
    for (const ScalingPoint& p : s.points) {
        const std::string why = p.best ? "" : why_no_plan(p);
        if (!why.empty() && why != last) text += "  no plan on " + grouped_digits(p.devices) + ": " + why + "\n";
        last = why;
    }
    return text;
}

std::string plans_text(const Scaling& s) {
    if (std::ranges::none_of(s.points, [](const ScalingPoint& p) { return p.best.has_value(); })) return {};
    TextTable table("  ", std::vector{Align::right, Align::left, Align::left, Align::left});
    table.row({"devices", "best plan", "held back by", "longest wait"});
    for (const ScalingPoint& p : s.points)
        if (p.best)
            table.row({grouped_digits(p.devices), plan_line(p.best->plan), std::string(to_text(p.report->bottleneck.kind)),
                       longest_wait(p.report->estimate)});
    return "\n" + table.text();
}

}  // namespace

std::string why_no_plan(const ScalingPoint& p) {
    if (p.ruled_out) return "some fit in memory, and none meets every condition";
    return p.refusal.empty() ? "none fits the memory of the devices" : p.refusal;
}

std::string longest_wait(const Estimate& e) {
    std::optional<Term> longest;
    for (const Term t : all_terms) {
        const bool works = t == Term::forward || t == Term::backward || t == Term::recompute || t == Term::optimizer;
        if (!works && e.terms[t] > (longest ? e.terms[*longest] : 1e-3 * e.step)) longest = t;
    }
    return longest ? words(to_text(*longest)) + " " + percent_text(e.terms[*longest] / e.step, 2) : "-";
}

std::string scaling_verdict(const Scaling& s) {
    if (s.all_ruled_out()) return "No plan meets every condition at any of these sizes: ask for less with --where";
    if (!s.pays_up_to) return s.complete ? "No plan fits at any of these sizes" : "No plan fits at the sizes that were tried";
    if (s.points.size() == 1) return "One size alone does not tell what more devices bring";
    const std::string most = percent_text(worth_adding, 2), half = most + " of what one brings at the smallest size";
    const auto next = std::ranges::find_if(s.points, [&](const ScalingPoint& p) { return s.too_many == p.devices; });
    if (next == s.points.end())
        return "More devices pay up to " + grouped_digits(*s.pays_up_to) + ", the most that " +
               (s.pays_up_to == s.points.back().devices ? "were tried" : "have a plan") + ": every added one brings at least " + half;
    const std::string beyond = "More than " + grouped_digits(*s.pays_up_to) + " devices do not pay: ";
    if (*next->added < 0) return beyond + "with " + grouped_digits(next->devices) + " the throughput is lower";
    int digits = 2;  // as many as tell it from what would be enough
    while (digits < 6 && percent_text(*next->added, digits) == most) ++digits;
    return beyond + "each one that is added up to " + grouped_digits(next->devices) + " brings " + percent_text(*next->added, digits) +
           " of what one brings at the smallest size, less than " + most;
}

std::string scaling_to_text(const Scaling& s) {
    return heading(s) + table_text(s) + plans_text(s) + "\n" + scaling_verdict(s) + "\n" + (s.complete ? "" : "Stopped before the end\n");
}

}  // namespace sextant
