#include "gui/views/start/start_view.hpp"

#include "gui/jobs/background.hpp"
#include "gui/models/meanings.hpp"
#include "gui/models/recent_files.hpp"
#include "gui/models/scenario_list_model.hpp"
#include "gui/models/text.hpp"
#include "gui/views/paint/card.hpp"
#include "gui/views/paint/legend.hpp"
#include "gui/views/paint/search_field.hpp"
#include "gui/views/start/scenario_delegate.hpp"

#include <QFileDialog>
#include <QListView>
#include <QPushButton>
#include <QScrollBar>
#include <QShowEvent>

#include <algorithm>

namespace sextant::gui {
namespace {

std::vector<ScenarioEntry> listed(const QStringList& recent, bool with_pictures) {
    try {
        Library library = open_library();
        std::vector<ScenarioEntry> entries = scenario_entries(library, recent);
        return with_pictures ? with_glances(library, std::move(entries)) : entries;
    } catch (const InputError&) {
        return {};  // no profiles on this machine: files can be opened, and say so
    }
}

// Of what the steps of these are made of.
std::shared_ptr<Chart> legend_of(const std::vector<ScenarioEntry>& entries) {
    auto legend = std::make_shared<Legend>();
    for (const Term term : all_terms) {
        const auto has = [&](const ScenarioEntry& e) { return e.glance && e.glance->terms[term] / e.glance->step > 0.005; };
        if (std::ranges::any_of(entries, has))
            legend->entries.push_back({static_cast<int>(term), words_of(term), fill_of(term), meaning(term)});
    }
    return legend;
}

class StartView : public View {
public:
    StartView(Workbench& workbench, Selection& selection) : View(workbench, selection) {
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(4 * gap, 3 * gap, 4 * gap, 2 * gap);
        column->setSpacing(gap);
        auto* title = text_label(Type::title, nullptr, tr("Which training job?"));
        auto* hint = text_label(Type::body, "faint",
                                tr("Choose a scenario, drop a file here, or open one of your own. Everything can be changed afterwards."));
        nothing_ = with_name("start.nothing", text_label(Type::body, "faint"));
        nothing_->setAlignment(Qt::AlignTop);
        nothing_->hide();
        legend_ = new ChartWidget(tr("What the colors of a step stand for"));
        legend_->hide();
        column->addWidget(title);
        column->addWidget(hint);
        column->addLayout(search_row());
        column->addWidget(legend_);
        column->addWidget(scenario_list(), 1);
        column->addWidget(nothing_, 1);
        connect(&model_, &QAbstractItemModel::modelReset, this, [this] { show_whether_found(); });
        setFocusProxy(filter_);
        lead_to(*filter_, *list_);
        load();
    }

    [[nodiscard]] bool is_complete() const override { return has_pictures_; }

private:
    QLayout* search_row() {
        auto* row = new QHBoxLayout;
        filter_ = search_field(QStringLiteral("filter"), tr("Search: a model, a machine, a lesson"));
        auto* open = new QPushButton(tr("Open a file\u2026"));
        open->setToolTip(
            tr("A scenario or a lesson of your own; a model, such as the config.json of Hugging Face, for the scenario that is open"));
        row->addWidget(filter_, 1);
        auto* lessons = new QPushButton(tr("Lessons"));
        lessons->setToolTip(tr("A guided tour through some of these"));
        row->addWidget(open);
        row->addWidget(lessons);
        connect(filter_, &QLineEdit::textChanged, &model_, &ScenarioListModel::set_filter);
        connect(open, &QPushButton::clicked, this, [this] {
            const QString path = QFileDialog::getOpenFileName(this, tr("Open a scenario, a lesson or a model"), {},
                                                              tr("Scenarios, lessons and models (*.json);;All files (*)"));
            if (!path.isEmpty()) emit wants_to_open(path);
        });
        connect(lessons, &QPushButton::clicked, this, [this] { emit wants_to_show(QStringLiteral("lessons")); });
        return row;
    }

    QWidget* scenario_list() {
        list_ = with_name("bare", new QListView);
        list_->setAccessibleName(tr("Scenarios"));
        list_->setModel(&model_);
        list_->setItemDelegate(new ScenarioDelegate(this));
        list_->setMouseTracking(true);
        list_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
        connect(list_, &QListView::clicked, this, &StartView::choose);
        connect(list_, &QListView::activated, this, &StartView::choose);
        return list_;
    }

    // Nobody can scroll a picture in a file: all rows then.
    void showEvent(QShowEvent* e) override {
        int height = 2 * gap;
        for (int row = 0; row < model_.rowCount(); ++row) height += list_->sizeHintForRow(row);
        if (testAttribute(Qt::WA_DontShowOnScreen)) list_->setFixedHeight(height);
        if (has_pictures_ && !e->spontaneous()) load_pictures();  // others were open by now
        View::showEvent(e);
    }

    void show_whether_found() {
        const bool is_found = model_.rowCount() > 0 || filter_->text().isEmpty();
        nothing_->setText(tr("Nothing here has \u201c%1\u201d in its name or its description.").arg(filter_->text().toHtmlEscaped()));
        nothing_->setVisible(!is_found);
        list_->setVisible(is_found);
    }

    void choose(const QModelIndex& index) {
        if (const QString path = index.data(ScenarioListModel::path).toString(); !path.isEmpty()) emit wants_to_open(path);
    }

    // The names at once, the pictures when they are worked out.
    void load() {
        model_.set_entries(listed(recent_files(), false));
        load_pictures();
    }

    void load_pictures() {
        in_background(
            this, [recent = recent_files()] { return listed(recent, true); },
            [this](std::vector<ScenarioEntry> entries) {
                legend_->show_chart(legend_of(entries));
                legend_->show();
                const int scrolled = list_->verticalScrollBar()->value();
                model_.set_entries(std::move(entries));
                list_->verticalScrollBar()->setValue(scrolled);
                has_pictures_ = true;
                emit completed();
            });
    }

    ScenarioListModel model_;
    QLineEdit* filter_;
    QListView* list_;
    QLabel* nothing_;
    ChartWidget* legend_;
    bool has_pictures_ = false;
};

}  // namespace

ViewInfo start_view() {
    return {.name = "start",
            .title = QStringLiteral("Start"),
            .tip = QStringLiteral("Scenarios to begin with: those that were open last, and those that come with the program"),
            .icon = "<path d='M4 11l8-7 8 7M6 10v10h12V10'/>",
            .needs_scenario = false,
            .make = [](Workbench& w, Selection& s) { return std::make_unique<StartView>(w, s); }};
}

}  // namespace sextant::gui
