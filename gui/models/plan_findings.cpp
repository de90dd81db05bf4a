#include "gui/models/plan_findings.hpp"

#include "gui/models/text.hpp"
#include "model/io/scenario/plan_writer.hpp"
#include "model/io/search/plan_answer_words.hpp"
#include "model/io/search/plan_columns.hpp"

#include <algorithm>

namespace sextant::gui {
namespace {

Estimate estimate_of(const Scenario& job, const Plan& plan) { return estimate(prepare(with_plan(job, plan))); }

FoundPlan ranked(const PlanAnswer& a, std::size_t i) {
    const RankedPlan& r = a.best[i];
    return {.name = QStringLiteral("plan %1").arg(i + 1),
            .choice = r.choice,
            .rank = static_cast<int>(i),
            .estimate = r.report.estimate,
            .simulated = r.simulated};
}

FoundPlan own_plan(const PlanAnswer& a) {
    const Estimate& e = *a.own.estimate;
    return {.name = QStringLiteral("the scenario's own"),
            .choice = plan_choice(with_plan(a.request.job, a.own.plan), e.terms, e.peak_memory),
            .rank = std::nullopt,
            .is_own = true,
            .estimate = e,
            .simulated = std::nullopt};
}

bool are_the_same(const PlanChoice& a, const PlanChoice& b) {
    return a.step == b.step && a.memory == b.memory && a.devices == b.devices && plan_line(a.plan) == plan_line(b.plan);
}

// The scenario's own among those that are ranked, or behind them.
void add_own(PlanFindings& f, FoundPlan own) {
    const std::size_t ranked = f.answer.best.size();
    f.plans.insert(f.plans.begin() + static_cast<std::ptrdiff_t>(f.answer.own_place.value_or(ranked)), std::move(own));
    f.listed = ranked + 1;
}

std::vector<const PlanChoice*> choices(const PlanFindings& f) {
    std::vector<const PlanChoice*> list;
    for (const FoundPlan& p : f.plans) list.push_back(&p.choice);
    return list;
}

}  // namespace

PlanFindings findings_of(const PlanForm& form, PlanAnswer answer, Seconds took) {
    PlanFindings f{form, std::move(answer), took, {}};
    const PlanAnswer& a = f.answer;
    f.listed = a.best.size();
    for (std::size_t i = 0; i < a.best.size(); ++i) f.plans.push_back(ranked(a, i));
    const auto known = [&](const PlanChoice& c) {
        const auto found = std::ranges::find_if(f.plans, [&](const FoundPlan& p) { return are_the_same(p.choice, c); });
        return found == f.plans.end() ? nullptr : &*found;
    };
    for (const PlanChoice& c : a.front) {
        if (FoundPlan* same = known(c))
            same->on_front = true;
        else
            f.plans.push_back({.name = QStringLiteral("plan on the front"),
                               .choice = c,
                               .rank = std::nullopt,
                               .on_front = true,
                               .estimate = estimate_of(a.request.job, c.plan),
                               .simulated = std::nullopt});
    }
    if (!a.own.estimate) return f;
    FoundPlan own = own_plan(a);
    FoundPlan* const same = known(own.choice);
    if (same && same->rank) {
        same->is_own = true;
        return f;
    }
    if (same) {  // on the front
        own.on_front = true;
        f.plans.erase(f.plans.begin() + (same - f.plans.data()));
    }
    add_own(f, std::move(own));
    return f;
}

std::size_t PlanFindings::first() const {
    return static_cast<std::size_t>(std::ranges::find(plans, std::optional(0), &FoundPlan::rank) - plans.begin());
}

bool PlanFindings::is_passed() const { return !plans.empty() && !answer.best.empty() && !plans.front().rank; }

std::optional<std::size_t> place_of(const PlanFindings& f, const Plan& plan) {
    const auto is_this = [&](const FoundPlan& p) {
        return p.choice.plan.global_batch == plan.global_batch && std::ranges::all_of(all_plan_fields, [&](PlanField field) {
                   return plan_field_text(field, p.choice.plan) == plan_field_text(field, plan);
               });
    };
    const auto found = std::ranges::find_if(f.plans, is_this);
    return found == f.plans.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - f.plans.begin()));
}

bool is_own_open(const PlanFindings& f, std::optional<std::size_t> open) { return open && f.plans[*open].is_own; }

QString name_of(const PlanFindings& f, std::size_t plan, std::optional<std::size_t> open) {
    const FoundPlan& p = f.plans[plan];
    QString name = p.name;
    if (p.is_own && !is_own_open(f, open))
        name = p.rank ? name + QStringLiteral(", as it was before") : QStringLiteral("the plan as it was before");
    else if (p.is_own && p.rank)
        name += QStringLiteral(", the scenario's own");
    return open == plan ? name + QStringLiteral(", open now") : name;
}

QString own_sentence(const PlanFindings& f, std::optional<std::size_t> open) {
    QString text = q(own_verdict(f.answer));
    if (!is_own_open(f, open)) text.replace(QLatin1String("the scenario's own plan"), QLatin1String("the plan as it was before"));
    return text;
}

QString counts_line(const PlanFindings& f) {
    const SearchCounts& c = f.answer.counts;
    const auto plans = [](std::int64_t count) { return grouped(static_cast<double>(count)); };
    QString line =
        QStringLiteral("%1 plans evaluated, %2 ").arg(plans(c.priced), plans(c.too_large)) + q(too_large_words(f.answer.request));
    if (c.pruned > 0) line += QStringLiteral(", %1 pruned by a bound").arg(plans(c.pruned));
    line += QStringLiteral("; ") + quantity(f.took);
    return f.answer.complete ? line : line + QStringLiteral(". <b>Stopped before the end</b>: this is the best so far.");
}

Table found_plans_table(const PlanFindings& f) {
    Table t{{QStringLiteral("plan")}, std::vector<std::vector<QVariant>>(f.plans.size())};
    for (std::size_t i = 0; i < f.plans.size(); ++i) t.rows[i] = {f.plans[i].name};
    const auto column = [&](const QString& heading, const auto& of) {
        t.headings += heading;
        for (std::size_t i = 0; i < f.plans.size(); ++i) t.rows[i].emplace_back(of(f.plans[i]));
    };
    std::vector<const Plan*> plans;
    for (const PlanChoice* c : choices(f)) plans.push_back(&c->plan);
    for (const PlanColumn& c : plan_columns(plans)) {
        t.headings += q(c.title);
        for (std::size_t i = 0; i < f.plans.size(); ++i) t.rows[i].emplace_back(q(c.cells[i]));
    }
    column(QStringLiteral("step time (s)"), [](const FoundPlan& p) { return p.choice.step.si(); });
    column(QStringLiteral("simulated step time (s)"),
           [](const FoundPlan& p) { return p.simulated ? QVariant(p.simulated->si()) : QVariant(); });
    column(QStringLiteral("samples per second"), [](const FoundPlan& p) { return p.choice.samples_per_s.si(); });
    column(QStringLiteral("memory (B)"), [](const FoundPlan& p) { return p.choice.memory.si(); });
    column(QStringLiteral("cost of a sample (USD)"),
           [](const FoundPlan& p) { return p.choice.cost_per_sample ? QVariant(p.choice.cost_per_sample->si()) : QVariant(); });
    column(QStringLiteral("energy of a sample (J)"), [](const FoundPlan& p) { return p.choice.energy_per_sample.si(); });
    for (const Term term : all_terms) {
        column(words_of(term) + QStringLiteral(" (s)"), [term](const FoundPlan& p) { return p.estimate.terms[term].si(); });
    }
    return t;
}

Table beside_table(const PlanFindings& f, const std::vector<std::size_t>& which, std::optional<std::size_t> open) {
    Table t{{QString()}, {}};
    std::vector<const PlanChoice*> chosen;
    std::vector<const Plan*> plans;
    for (const std::size_t i : which) {
        chosen.push_back(&f.plans[i].choice);
        plans.push_back(&f.plans[i].choice.plan);
        t.headings += capitalized(name_of(f, i, open));
    }
    const auto add = [&](const std::string& name, const std::vector<std::string>& cells) {
        std::vector<QVariant> row{q(name)};
        for (const std::string& cell : cells) row.emplace_back(q(cell));
        t.rows.push_back(std::move(row));
    };
    for (const PlanColumn& c : outcome_columns(f.answer.request.job, chosen)) add(c.title, c.cells);
    std::vector<std::string> energy;
    energy.reserve(chosen.size());
    for (const PlanChoice* c : chosen) energy.push_back(quantity(c->energy_per_sample).toStdString());
    add("energy for a sample", energy);
    for (const PlanColumn& c : plan_columns(plans))
        if (!c.is_alike()) add(c.title, c.cells);
    return t;
}

Table alternatives_table(const PlanAnswer& a) {
    Table t{{QStringLiteral("plan"), QStringLiteral("step time"), QStringLiteral("a sample takes"), QStringLiteral("memory"),
             QStringLiteral("what grows most")},
            {}};
    for (const Alternative& x : a.alternatives) {
        const TriedWords w = in_words(a, x.tried);
        t.rows.push_back({capitalized(q(name_of(x))), q(w.step), q(w.longer), q(w.memory),
                          x.is_the_best ? QStringLiteral("this is plan 1") : with_signs(w.remark)});
    }
    return t;
}

Table remedies_table(const PlanAnswer& a) {
    Table t{{QStringLiteral("change"), QStringLiteral("memory"), QStringLiteral("step time"), QStringLiteral("plan")}, {}};
    for (const Remedy& r : a.remedies)
        t.rows.push_back({capitalized(q(name_of(a, r))), quantity(r.tried.estimate->peak_memory), quantity(r.tried.estimate->step),
                          q(plan_line(r.tried.plan))});
    return t;
}

}  // namespace sextant::gui
