#include "gui/views/editor/editor_view.hpp"

#include "gui/jobs/background.hpp"
#include "gui/jobs/names.hpp"
#include "gui/models/text.hpp"
#include "gui/views/editor/field_row.hpp"
#include "gui/views/editor/unknown_keys_panel.hpp"
#include "gui/views/editor/what_if_panel.hpp"
#include "gui/views/paint/card.hpp"

#include <QCheckBox>
#include <QGridLayout>
#include <QScrollArea>
#include <QToolButton>

#include <algorithm>
#include <map>

namespace sextant::gui {
namespace {

constexpr int columns = 6, small_span = 2;

class EditorView : public PageView {
public:
    EditorView(Workbench& workbench, Selection& selection) : PageView(workbench, selection) {
        setMinimumWidth(292);
        column().setSpacing(gap);
        column().addWidget(unknown_keys_ = new UnknownKeysPanel(workbench));
        for (const FieldSection& section : field_sections()) {
            add_section(section.title, fields_of(section), section.open);
            if (&section != &field_sections()[1]) continue;  // below all of the plan
            what_if_ = new WhatIfPanel(workbench);
            add_section(tr("What if it were faster"), what_if_, true);
        }
        connect(&workbench, &Workbench::changed, this, [this] { show_session(); });
        connect(&workbench, &Workbench::opened, this, [this] {
            QMetaObject::invokeMethod(
                this, [this] { show_problem(); }, Qt::QueuedConnection);
        });
        connect(&workbench, &Workbench::field_wanted, this, [this](const QString& place) { go_to(place); });
        in_background(
            this, [] { return load_names(); }, [this](const Names& names) { set_names(names); });
        show_session();
    }

    [[nodiscard]] QSize sizeHint() const override { return {320, 640}; }

private:
    // A heading that opens and closes what is below it.
    void add_section(const QString& title, QWidget* content, bool open) {
        auto* heading = new QToolButton;
        heading->setText(title);
        heading->setFont(font_of(Type::heading));
        heading->setCheckable(true);
        heading->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        heading->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        const auto toggle = [heading, content](bool is_open) {
            heading->setArrowType(is_open ? Qt::DownArrow : Qt::RightArrow);
            content->setVisible(is_open);
        };
        connect(heading, &QToolButton::toggled, content, toggle);
        heading->setChecked(open);
        heading_of_[content] = heading;
        column().addWidget(heading);
        column().addWidget(content);
        toggle(open);
    }

    QWidget* fields_of(const FieldSection& section) {
        auto* panel = new QWidget;
        auto* grid = new QGridLayout(panel);
        grid->setContentsMargins(0, 0, 0, 0);
        grid->setHorizontalSpacing(6);
        grid->setVerticalSpacing(6);
        int line = 0, at = 0;
        QVBoxLayout* problems = nullptr;  // of the small fields of a line: below it, across all of it
        for (const Field& field : section.fields) {
            auto* row = new FieldRow(field, workbench(), [this] { return keeps_->isChecked(); });
            const int span = field.small ? small_span : columns;
            if (at + span > columns) {
                line += 2;
                at = 0;
            }
            grid->addWidget(row, line, at, 1, span, Qt::AlignTop);
            if (field.small && at == 0) grid->addLayout(problems = new QVBoxLayout, line + 1, 0, 1, columns);
            if (field.small) problems->addWidget(&row->problem());
            at += span;
            rows_.push_back(row);
            if (field.path == "plan.vpp") add_keeps_devices(*grid, line += 2), line += 2, at = 0;
        }
        for (int c = 0; c < columns; ++c) grid->setColumnStretch(c, 1);
        return panel;
    }

    void add_keeps_devices(QGridLayout& grid, int line) {
        auto* keeps = with_name("keeps_devices", new QCheckBox(tr("Keep the number of devices")));
        keeps->setToolTip(tr("When tensor, pipeline or context change, data parallelism takes what they leave"));
        grid.addWidget(keeps, line, 0, 1, columns);
        keeps->setChecked(true);
        keeps_ = keeps;
    }

    void set_names(const Names& names) {
        for (FieldRow* row : rows_)
            if (const auto of = names.find(row->field().names); of != names.end()) row->set_names(of->second);
    }

    void show_session() {
        const SessionPtr session = workbench().session();
        page().setEnabled(session != nullptr);
        if (!session) return;
        unknown_keys_->show_session(*session);
        for (FieldRow* row : rows_) row->show_session(*session);
        what_if_->show_session(*session);
    }

    // What was opened to be mended shows where to begin.
    void show_problem() {
        const auto wrong = std::ranges::find_if(rows_, &FieldRow::is_wrong);
        auto* scroll = findChild<QScrollArea*>();
        if (!unknown_keys_->isHidden()) return scroll->ensureWidgetVisible(unknown_keys_);
        if (wrong != rows_.end()) show_row(**wrong);
    }

    void go_to(const QString& place) {
        const ScenarioDocument& document = workbench().session()->document;
        const auto at = std::ranges::find_if(rows_, [&](const FieldRow* row) { return covers(document, row->field(), place); });
        if (at == rows_.end()) return;
        show_row(**at);
        (*at)->take_keys();
    }

    void show_row(FieldRow& row) {
        heading_of_.at(row.parentWidget())->setChecked(true);
        column().activate();
        findChild<QScrollArea*>()->ensureWidgetVisible(&row);
    }

    UnknownKeysPanel* unknown_keys_;
    std::vector<FieldRow*> rows_;
    std::map<QWidget*, QToolButton*> heading_of_;  // of what stands below it
    WhatIfPanel* what_if_ = nullptr;
    QCheckBox* keeps_ = nullptr;
};

}  // namespace

ViewInfo editor_view() {
    return {.name = "editor",
            .title = QStringLiteral("Editor"),
            .tip = QStringLiteral("The scenario as fields, and what if something were faster"),
            .icon =
                "<path d='M4 6h9M17 6h3M4 12h3M11 12h9M4 18h9M17 18h3'/><circle cx='15' cy='6' r='2'/><circle cx='9' cy='12' r='2'/>"
                "<circle cx='15' cy='18' r='2'/>",
            .place = Place::left,
            .make = [](Workbench& w, Selection& s) { return std::make_unique<EditorView>(w, s); }};
}

}  // namespace sextant::gui
