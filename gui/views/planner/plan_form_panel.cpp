#include "gui/views/planner/plan_form_panel.hpp"

#include "gui/models/text.hpp"
#include "gui/views/paint/card.hpp"
#include "gui/views/paint/side_by_side.hpp"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QSpinBox>
#include <QStyle>
#include <QVBoxLayout>

namespace sextant::gui {
namespace {

constexpr int narrowest = 64, room_for_one_row = 860;

// A field below its name, and below it what is wrong with its text.
QWidget* below_its_name(const QString& name, QWidget& input, QWidget& labelled, QLabel* problem = nullptr) {
    auto* cell = new QWidget;
    auto* column = bare_layout<QVBoxLayout>(cell, 2);
    auto* label = text_label(Type::small, "faint", name);
    label->setWordWrap(false);
    label->setBuddy(&labelled);
    column->addWidget(label);
    column->addWidget(&input);
    if (problem) column->addWidget(problem);
    column->addStretch(1);
    return cell;
}

}  // namespace

PlanFormPanel::PlanFormPanel() {
    objective_ = with_name("planner.objective", new QComboBox);
    objective_->setMinimumWidth(narrowest);
    objective_->setToolTip(tr("What the best plan is best in. Cost needs the price of a device"));
    for (const Objective o : all_objectives) objective_->addItem(capitalized(words_of(o)));

    const QString how_many = tr("How many");
    const Row& numbers = add(PlanFormField::devices, how_many, "planner.devices",
                             tr("A number, several (8,16,64), or a range: of devices doubled each time, of nodes one by one (4..16)"));
    auto* devices = new QWidget;
    auto* row = bare_layout<QHBoxLayout>(devices, 4);
    unit_ = with_name("planner.unit", new QComboBox);
    unit_->setAccessibleName(tr("Counted in"));
    unit_->addItems({tr("devices"), tr("nodes")});
    row->addWidget(numbers.line, 1);
    row->addWidget(unit_);

    top_ = with_name("planner.top", new QSpinBox);
    top_->setRange(1, 1000);
    top_->setToolTip(tr("How many plans to show"));

    const auto line = [this](PlanFormField field, const QString& label, const char* name, const QString& tip, const QString& example) {
        const Row& added = add(field, label, name, tip);
        added.line->setPlaceholderText(example);
        return below_its_name(label, *added.line, *added.line, added.problem);
    };
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->addWidget(new SideBySide(
        {below_its_name(tr("Best in"), *objective_, *objective_), below_its_name(how_many, *devices, *numbers.line, numbers.problem),
         below_its_name(tr("Best plans to show"), *top_, *top_),
         line(PlanFormField::pins, tr("Leave as they are"), "planner.pins",
              tr("Fields of the plan that the search must not choose, as the scenario has them or with a value"), tr("schedule, tp=8")),
         line(PlanFormField::where, tr("Only plans with"), "planner.where",
              tr("Conditions, with commas between them, on step_time, memory, devices, samples_per_s, energy_per_sample, cost_per_sample"),
              tr("memory < 70 GiB")),
         line(PlanFormField::batches, tr("Global batches"), "planner.batches", tr("To choose from, if they are yours to choose"),
              tr("512, 1024"))},
        room_for_one_row));
}

const PlanFormPanel::Row& PlanFormPanel::add(PlanFormField field, const QString& label, const char* name, const QString& tip) {
    auto* line = with_name(name, new QLineEdit);
    line->setAccessibleName(label);
    line->setToolTip(tip);
    line->setMinimumWidth(narrowest);
    auto* problem = text_label(Type::small, "bad");
    problem->hide();
    connect(line, &QLineEdit::returnPressed, this, &PlanFormPanel::asked);
    return rows_[field] = {line, problem};
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
    return {.objective = all_objectives[static_cast<std::size_t>(objective_->currentIndex())],
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
