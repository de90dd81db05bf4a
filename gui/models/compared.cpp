#include "gui/models/compared.hpp"

#include "gui/models/caught.hpp"
#include "gui/models/text.hpp"
#include "model/report/worth_telling.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::gui {
namespace {

constexpr std::size_t most_operators = 20;

QString ratio_text(double measured, double predicted) {
    const std::optional<double> times = ratio(measured, predicted);
    return times ? number(*times) : QStringLiteral("-");
}

QString or_nothing(Seconds t) { return t > Seconds{} ? quantity(t) : QStringLiteral("-"); }

// "+80.1 ms"
QString difference(Seconds d) {
    if (std::fabs(d.si()) < 1e-9) return QStringLiteral("0");
    return (d > Seconds{} ? QStringLiteral("+") : QStringLiteral("\u2212")) + quantity(max(d, -d));
}

std::vector<QVariant> times_row(const QString& name, const ComparedValue<Seconds>& t) {
    return {name,
            or_nothing(t.predicted),
            or_nothing(t.simulated),
            or_nothing(t.measured),
            difference(t.measured - t.predicted),
            ratio_text(t.measured.si(), t.predicted.si())};
}

std::vector<QVariant> rates_row(const QString& name, const ComparedValue<Frequency>& r) {
    return {name,      grouped_quantity(r.predicted.si()),           grouped_quantity(r.simulated.si()), grouped_quantity(r.measured.si()),
            QString(), ratio_text(r.measured.si(), r.predicted.si())};
}

}  // namespace

std::vector<Diagnostic> differences(const Scenario& scenario, const RunRecord& run) {
    const int ranks = run_layout(scenario).ranks;  // no graph of many thousands is made for a run of two
    if (static_cast<std::size_t>(ranks) != run.trace.ranks.size())
        return {{scenario.file, "/plan",
                 "the run has " + std::to_string(run.trace.ranks.size()) + " ranks, this plan " + std::to_string(ranks), ""}};
    try {
        static_cast<void>(compare(scenario, run));
        return {};
    } catch (const std::exception&) {
        return problems_caught(scenario.file);
    }
}

Table residuals_table(const Comparison& c) {
    Table t{{QString(), QStringLiteral("predicted"), QStringLiteral("simulated"), QStringLiteral("measured"), QStringLiteral("residual"),
             QStringLiteral("ratio")},
            {},
            {1, 2, 3, 4, 5}};
    t.rows.push_back(times_row(QStringLiteral("step time"), c.step));
    t.rows.push_back(rates_row(q(c.prediction.sample_word) + QStringLiteral("s/s"), c.samples_per_s));
    if (c.tokens_per_s) t.rows.push_back(rates_row(QStringLiteral("tokens/s"), *c.tokens_per_s));
    const auto add_terms = [&](const ComparedValue<Terms>& of, const QString& before) {
        for (const Term term : all_terms) {
            const ComparedValue<Seconds> times{of.predicted[term], of.simulated[term], of.measured[term]};
            if (max(times.predicted, max(times.simulated, times.measured)) / c.step.measured > worth_telling)
                t.rows.push_back(times_row(before + words_of(term), times));
        }
    };
    add_terms(c.terms, {});
    add_terms(c.overlapped, QStringLiteral("hidden: "));
    return t;
}

Table ranks_table(const Comparison& c) {
    Table t{{QStringLiteral("rank"), QStringLiteral("stage"), QStringLiteral("host"), QStringLiteral("ends, simulated"),
             QStringLiteral("ends, measured"), QStringLiteral("memory, predicted"), QStringLiteral("memory, measured")},
            {},
            {3, 4, 5, 6}};
    for (const RankComparison& r : c.ranks)
        t.rows.push_back({r.rank, r.server ? QVariant(QStringLiteral("server")) : QVariant(r.stage), q(r.host), quantity(r.simulated.end),
                          quantity(r.measured.end), r.server ? QStringLiteral("-") : quantity(r.predicted_memory.process),
                          quantity(r.measured_memory.process)});
    return t;
}

Table operators_table(const Comparison& c) {
    Table t{
        {QStringLiteral("operator"), QStringLiteral("block"), QStringLiteral("pass"), QStringLiteral("calls in a step"),
         QStringLiteral("of a call: predicted"), QStringLiteral("measured"), QStringLiteral("ratio"), QStringLiteral("residual of a step")},
        {},
        {3, 4, 5, 6, 7}};
    for (std::size_t i = 0; i < std::min(most_operators, c.operators.size()); ++i) {
        const OperatorComparison& o = c.operators[i];
        t.rows.push_back({q(o.name), q(o.block), words_of(o.kind), number(o.calls), or_nothing(o.predicted), quantity(o.measured),
                          ratio_text(o.measured.si(), o.predicted.si()), difference(o.difference())});
    }
    return t;
}

QString verdict(const Comparison& c) {
    const bool inside = c.step.measured >= c.prediction.low && c.step.measured <= c.prediction.high;
    return QStringLiteral(
               "Measured <b>%1</b> a step, <b>%2</b> times the %3 that were predicted: %4 the interval of 80\u00a0% from %5 to %6.")
        .arg(quantity(c.step.measured), ratio_text(c.step.measured.si(), c.step.predicted.si()), quantity(c.step.predicted),
             inside ? QStringLiteral("inside") : QStringLiteral("<b>outside</b>"), quantity(c.prediction.low), quantity(c.prediction.high));
}

}  // namespace sextant::gui
