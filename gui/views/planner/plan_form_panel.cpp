#include "gui/views/planner/plan_form_panel.hpp"

#include "gui/models/text.hpp"
#include "gui/views/paint/card.hpp"

#include <QComboBox>
#include <QGridLayout>
#include <QLineEdit>
#include <QSpinBox>
#include <QStyle>

namespace sextant::gui {
namespace {

constexpr Objective objectives[] = {Objective::throughput, Objective::time, Objective::cost, Objective::energy, Objective::memory};
constexpr int columns = 3, narrowest = 64;

QLabel* label_of(const QString& text, QWidget& of) {
    auto* label = text_label(Type::small, "faint");
    label->setText(text);
    label->setWordWrap(false);
    label->setBuddy(&of);
    return label;
}

}  // namespace

PlanFormPanel::PlanFormPanel() {
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(gap + 4);
    grid->setVerticalSpacing(2);
    for (int c = 0; c < columns; ++c) grid->setColumnStretch(c, 1);

    objective_ = new QComboBox;
    objective_->setObjectName(QStringLiteral("planner.objective"));
    objective_->setMinimumWidth(narrowest);
    objective_->setToolTip(tr("What the best plan is best in. Cost needs the price of a device"));
    for (const Objective o : objectives) objective_->addItem(capitalised(words_of(o)));
    grid->addWidget(label_of(tr("Best in"), *objective_), 0, 0);
    grid->addWidget(objective_, 1, 0);

    auto* devices = new QWidget;
    auto* row = new QHBoxLayout(devices);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(4);
    unit_ = new QComboBox;
    unit_->setObjectName(QStringLiteral("planner.unit"));
    unit_->setAccessibleName(tr("Counted in"));
    unit_->addItems({tr("devices"), tr("nodes")});
    QLineEdit* numbers = add(PlanFormField::devices, *grid, 0, 1, tr("How many"), "planner.devices",
                             tr("A number, several (8,16,64), or a range: of devices doubled each time, of nodes one by one (4..16)"));
    grid->removeWidget(numbers);
    row->addWidget(numbers, 1);
    row->addWidget(unit_);
    grid->addWidget(devices, 1, 1);

    top_ = new QSpinBox;
    top_->setObjectName(QStringLiteral("planner.top"));
    top_->setRange(1, 1000);
    top_->setToolTip(tr("How many plans to show"));
    grid->addWidget(label_of(tr("Best plans to show"), *top_), 0, 2);
    grid->addWidget(top_, 1, 2);

    add(PlanFormField::pins, *grid, 3, 0, tr("Leave as they are"), "planner.pins",
        tr("Fields of the plan that the search must not choose, as the scenario has them or with a value"))
        ->setPlaceholderText(tr("schedule, tp=8"));
    add(PlanFormField::where, *grid, 3, 1, tr("Only plans with"), "planner.where",
        tr("Conditions on step_time, memory, devices, samples_per_s, energy_per_sample, cost_per_sample"))
        ->setPlaceholderText(tr("memory < 70 GiB, step_time < 2 s"));
    add(PlanFormField::batches, *grid, 3, 2, tr("Global batches"), "planner.batches", tr("To choose from, if they are yours to choose"))
        ->setPlaceholderText(tr("512, 1024"));
}

QLineEdit* PlanFormPanel::add(PlanFormField field, QGridLayout& grid, int row, int column, const QString& label, const char* name,
                              const QString& tip) {
    auto* line = new QLineEdit;
    line->setObjectName(QLatin1String(name));
    line->setAccessibleName(label);
    line->setToolTip(tip);
    auto* problem = text_label(Type::small, "bad");
    problem->hide();
    grid.addWidget(label_of(label, *line), row, column);
    grid.addWidget(line, row + 1, column);
    grid.addWidget(problem, row + 2, column, Qt::AlignTop);
    rows_[field] = {line, problem};
    connect(line, &QLineEdit::returnPressed, this, &PlanFormPanel::asked);
    return line;
}

void PlanFormPanel::show_form(const PlanForm& form) {
    objective_->setCurrentIndex(static_cast<int>(form.objective));
    unit_->setCurrentIndex(form.counts_nodes ? 1 : 0);
    top_->setValue(form.top);
    rows_.at(PlanFormField::devices).line->setText(form.devices);
    rows_.at(PlanFormField::batches).line->setText(form.batches);
    rows_.at(PlanFormField::pins).line->setText(form.pins);
    rows_.at(PlanFormField::where).line->setText(form.where);
}

PlanForm PlanFormPanel::form() const {
    const auto text = [this](PlanFormField field) { return rows_.at(field).line->text().trimmed(); };
    return {.objective = objectives[objective_->currentIndex()],
            .top = top_->value(),
            .devices = text(PlanFormField::devices),
            .counts_nodes = unit_->currentIndex() == 1,
            .batches = text(PlanFormField::batches),
            .pins = text(PlanFormField::pins),
            .where = text(PlanFormField::where)};
}

void PlanFormPanel::show_problems(const PlanFormProblems& problems) {
    for (const auto& [field, row] : rows_) {
        const auto found = problems.find(field);
        row.problem->setText(found == problems.end() ? QString() : found->second);
        row.problem->setVisible(found != problems.end());
        row.line->setProperty("wrong", found != problems.end());
        row.line->style()->unpolish(row.line);
        row.line->style()->polish(row.line);
    }
}

}  // namespace sextant::gui
