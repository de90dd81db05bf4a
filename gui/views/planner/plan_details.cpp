#include "gui/views/planner/plan_details.hpp"

#include "gui/models/text.hpp"
#include "gui/views/paint/card.hpp"
#include "model/io/search/plan_columns.hpp"
#include "model/io/search/scaling_writer.hpp"

#include <QCheckBox>
#include <QPushButton>

namespace sextant::gui {
namespace {

QString figures(const PlanFindings& f, const FoundPlan& p) {
    const Scenario& job = f.answer.request.job;
    QStringList lines;
    const auto add = [&](const QString& name, const QString& value) {
        lines += QStringLiteral("<tr><td style='padding-right:14px'>%1</td><td><b>%2</b></td></tr>").arg(name, value);
    };
    add(QStringLiteral("step"), quantity(p.choice.step));
    if (p.simulated) add(QStringLiteral("simulated"), quantity(*p.simulated));
    add(q(job.workload.sample_word()) + QStringLiteral("s/s"), grouped_quantity(p.choice.samples_per_s.si()));
    add(QStringLiteral("memory"), QStringLiteral("%1 of %2").arg(quantity(p.choice.memory), quantity(p.estimate.device_memory)));
    if (p.choice.cost_per_sample) add(q(price_unit(job)), q(price_text(job, *p.choice.cost_per_sample)));
    add(QStringLiteral("energy/sample"), quantity(p.choice.energy_per_sample));
    return QStringLiteral("<table>%1</table>").arg(lines.join(QString()));
}

// Why it is as slow as it is: what takes most of it, and what it waits for longest, if for anything else.
QString longest(const Estimate& e) {
    const Term term = e.terms.largest();
    QString most = QStringLiteral("Most of it is %1 %2").arg(words_of(term), percent(e.terms[term] / e.step));
    const QString wait = q(longest_wait(e)).replace(QStringLiteral(" %"), QStringLiteral("\u00a0%"));
    if (wait == QLatin1String("-") || wait.startsWith(words_of(term))) return most;
    return most + QStringLiteral("; the longest wait: %1").arg(wait);
}

}  // namespace

PlanDetails::PlanDetails() {
    auto* column = bare_layout<QVBoxLayout>(this, gap);
    name_ = with_name("planner.chosen", text_label(Type::heading));
    plan_ = text_label(Type::body);
    figures_ = text_label(Type::body);
    figures_->setTextFormat(Qt::RichText);
    open_ = with_name("planner.open", new QPushButton(tr("Open this plan")));
    open_->setToolTip(tr("Puts it into the scenario, as one change that can be undone; a double click on a plan does the same"));
    beside_ = with_name("planner.beside", new QCheckBox(tr("Hold it beside others")));
    for (QWidget* w : std::initializer_list<QWidget*>{name_, plan_, figures_, beside_, open_}) column->addWidget(w);
    column->addStretch(1);
    connect(open_, &QPushButton::clicked, this, &PlanDetails::wants_to_open);
    connect(beside_, &QCheckBox::clicked, this, &PlanDetails::beside);
}

void PlanDetails::show_plan(const PlanFindings& f, std::size_t plan, bool is_beside, std::optional<std::size_t> open) {
    const FoundPlan& p = f.plans[plan];
    name_->setText(capitalized(name_of(f, plan, open)));
    QString text = q(plan_line(p.choice.plan)) + QStringLiteral("<br>%1.").arg(longest(p.estimate));
    if (p.rank == 0 && !p.is_own) text += QStringLiteral("<br>") + capitalized(own_sentence(f, open)) + QLatin1Char('.');
    plan_->setText(text);
    figures_->setText(figures(f, p));
    beside_->setChecked(is_beside);
    open_->setEnabled(open != plan);
    open_->setText(open == plan ? tr("This plan is open") : tr("Open this plan"));
}

}  // namespace sextant::gui
