#include "model/io/search/plan_columns.hpp"

#include "model/base/grouped_digits.hpp"
#include "model/base/list_text.hpp"
#include "model/base/quantity_text.hpp"
#include "model/io/scenario/plan_writer.hpp"
#include "model/report/headings.hpp"

#include <algorithm>
#include <functional>

namespace sextant {
namespace {

std::string schedule_text(const Plan& p) {
    if (p.pp == 1) return "-";
    const std::string name = plan_field_text(PlanField::schedule, p);
    return p.schedule == Schedule::interleaved ? name + " x" + std::to_string(p.vpp) : name;
}

std::string sharing_text(const Plan& p) {
    if (p.dp * p.cp == 1 && p.data_parallel == DataParallel::all_reduce) return "-";
    const std::string name = plan_field_text(PlanField::data_parallel, p);
    return p.shard_group ? name + " over " + std::to_string(*p.shard_group) : name;
}

bool in_usual_order(const Plan& p) {
    Plan other = p;
    other.placement = Plan{}.placement;
    return plan_field_text(PlanField::placement, p) == plan_field_text(PlanField::placement, other);
}

struct Described {
    std::string_view title;
    Align align;
    std::string (*text)(const Plan&);
    bool (*unusual)(const Plan&);
};

constexpr auto always = [](const Plan&) { return true; };
template <auto Field>
std::string number(const Plan& p) {
    return grouped_digits(p.*Field);
}
template <auto Field>
bool above_one(const Plan& p) {
    return p.*Field > 1;
}
template <PlanField Field>
std::string field(const Plan& p) {
    return plan_field_text(Field, p);
}

constexpr Described descriptions[] = {
    {"tp", Align::right, number<&Plan::tp>, always},
    {"pp", Align::right, number<&Plan::pp>, always},
    {"dp", Align::right, number<&Plan::dp>, always},
    {"cp", Align::right, number<&Plan::cp>, above_one<&Plan::cp>},
    {"ep", Align::right, number<&Plan::ep>, above_one<&Plan::ep>},
    {"expert tp", Align::right, field<PlanField::expert_tp>, [](const Plan& p) { return p.expert_tp > 0 && p.expert_tp != p.tp; }},
    {"micro-batch", Align::right, number<&Plan::micro_batch>, always},
    {"schedule", Align::left, schedule_text, above_one<&Plan::pp>},
    {"stages", Align::left, [](const Plan& p) { return std::string(p.stage_blocks.empty() ? "even" : "uneven"); },
     [](const Plan& p) { return !p.stage_blocks.empty(); }},
    {"data parallel", Align::left, sharing_text, always},
    {"sequence", Align::left, [](const Plan& p) { return std::string(p.sequence_parallel ? "yes" : "-"); },
     [](const Plan& p) { return p.sequence_parallel; }},
    {"recompute", Align::left, field<PlanField::recompute>, [](const Plan& p) { return p.recompute != Recompute::none; }},
    {"offload", Align::left, field<PlanField::offload>, [](const Plan& p) { return p.offload != Offload::none; }},
    {"ranks", Align::left, field<PlanField::placement>, [](const Plan& p) { return !in_usual_order(p); }},
};

bool all_alike(const std::vector<const Plan*>& plans, const std::function<std::int64_t(const Plan&)>& of) {
    return std::ranges::all_of(plans, [&](const Plan* p) { return of(*p) == of(*plans.front()); });
}

}  // namespace

bool PlanColumn::is_alike() const { return std::ranges::adjacent_find(cells, std::not_equal_to<>()) == cells.end(); }

std::vector<PlanColumn> plan_columns(const std::vector<const Plan*>& plans) {
    std::vector<PlanColumn> columns;
    if (plans.empty()) return columns;
    const auto add = [&](std::string_view title, Align align, const std::function<std::string(const Plan&)>& text) {
        PlanColumn& c = columns.emplace_back(PlanColumn{std::string(title), align, {}});
        for (const Plan* p : plans) c.cells.push_back(text(*p));
    };
    if (!all_alike(plans, [](const Plan& p) { return p.devices(); }))
        add("devices", Align::right, [](const Plan& p) { return grouped_digits(p.devices()); });
    if (!all_alike(plans, [](const Plan& p) { return p.global_batch; })) add("batch", Align::right, number<&Plan::global_batch>);
    for (const Described& d : descriptions)
        if (std::ranges::any_of(plans, [&](const Plan* p) { return d.unusual(*p); })) add(d.title, d.align, d.text);
    return columns;
}

std::vector<PlanColumn> plan_columns(const std::vector<RankedPlan>& best) {
    std::vector<const Plan*> plans;
    PlanColumn ranks{"ranks", Align::left, {}};
    for (const RankedPlan& r : best) {
        Plan plan = r.choice.plan;
        plans.push_back(&r.choice.plan);
        ranks.cells.push_back(plan_field_text(PlanField::placement, plan));
        for (const auto& other : r.other_placements) {
            plan.placement = other;
            ranks.cells.back() += " or " + plan_field_text(PlanField::placement, plan);
        }
    }
    std::vector<PlanColumn> columns = plan_columns(plans);
    if (std::ranges::all_of(best, [](const RankedPlan& r) { return r.other_placements.empty(); })) return columns;
    if (columns.back().title == ranks.title) columns.pop_back();
    columns.push_back(std::move(ranks));
    return columns;
}

std::vector<PlanColumn> outcome_columns(const Scenario& job, const std::vector<const PlanChoice*>& choices) {
    std::vector<PlanColumn> columns{{"memory", Align::right, {}}, {"step time", Align::right, {}}};
    columns.push_back({std::string(job.workload.sample_word()) + "s/s", Align::right, {}});
    for (const PlanChoice* c : choices) {
        const bool full = nothing_to_spare(c->memory, memory_for_programs(job.cluster.node.device));
        columns[0].cells.push_back(to_text(c->memory) + (full ? ", nothing to spare" : ""));
        columns[1].cells.push_back(to_text(c->step));
        columns[2].cells.push_back(grouped_digits(c->samples_per_s.si(), 3));
    }
    if (choices.empty() || !choices.front()->cost_per_sample) return columns;
    PlanColumn& price = columns.emplace_back(PlanColumn{price_unit(job), Align::right, {}});
    for (const PlanChoice* c : choices) price.cells.push_back(price_text(job, *c->cost_per_sample));
    return columns;
}

std::string table_of(const std::vector<PlanColumn>& columns) {
    std::vector<Align> aligns;
    std::vector<std::string> titles;
    for (const PlanColumn& c : columns) aligns.push_back(c.align), titles.push_back(c.title);
    TextTable table("  ", aligns);
    table.row(std::move(titles));
    for (std::size_t i = 0; i < columns.front().cells.size(); ++i) {
        std::vector<std::string> cells;
        cells.reserve(columns.size());
        for (const PlanColumn& c : columns) cells.push_back(c.cells[i]);
        table.row(std::move(cells));
    }
    return table.text();
}

std::string plan_line(const Plan& p) {
    std::string line;
    for (const PlanColumn& c : plan_columns({&p})) {
        const std::string& value = c.cells.front();
        if (value == "-" || ((c.title == "tp" || c.title == "pp") && value == "1")) continue;
        const bool speaks_for_itself = c.title == "schedule" || c.title == "data parallel";
        append_to_list(line, c.title == "sequence" ? "sequence parallel"
                             : c.title == "stages" ? "uneven stages"
                             : speaks_for_itself   ? value
                                                   : c.title + " " + value);
    }
    return line;
}

std::string price_unit(const Scenario& job) {
    return job.workload.tokens_per_sample() > 0 ? "USD/1M tokens" : "USD/1M " + std::string(job.workload.sample_word()) + "s";
}

std::string price_text(const Scenario& job, Money per_sample) {
    const std::int64_t tokens = job.workload.tokens_per_sample();
    return number_text(per_sample.si() * 1e6 / static_cast<double>(std::max<std::int64_t>(1, tokens)));
}

}  // namespace sextant
