#include "gui/views/validation/validation_view.hpp"

#include "gui/jobs/long_job.hpp"
#include "gui/models/published_runs.hpp"
#include "gui/models/text.hpp"
#include "gui/views/paint/card.hpp"
#include "gui/views/paint/search_field.hpp"

#include <QHeaderView>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTableView>

#include <algorithm>
#include <memory>
#include <vector>

namespace sextant::gui {
namespace {

// Those that have every word of a text in some column.
class FoundRuns : public QSortFilterProxyModel {
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;
    void set_words(const QString& text) {
        words_ = words_of(text);
        invalidateFilter();
    }

protected:
    [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override {
        if (words_.isEmpty()) return true;
        QString text;
        for (int c = 0; c < sourceModel()->columnCount(); ++c)
            text += sourceModel()->index(row, c, parent).data().toString() + QLatin1Char('\n');
        return has_all(text, words_);
    }

private:
    QStringList words_;
};

// Columns of figures are as wide as these. Those of words share what is left: each gets what it needs, or as much as the others, and never
// so little that it cannot be read. In a narrow window the last ones are reached by scrolling.
class RunsTable : public QTableView {
public:
    // To a text of each: to ask thousands of rows takes longer than a frame.
    void fit_columns(const std::vector<QString>& longest) {
        needed_.clear();
        for (int c = 0; c < static_cast<int>(longest.size()); ++c) {
            const int text = fontMetrics().horizontalAdvance(longest[static_cast<std::size_t>(c)]) + gap;
            needed_.push_back(std::max(text, horizontalHeader()->sectionSizeHint(c)) + (has_figures(c) ? 0 : gap));
        }
        share_width();
    }

protected:
    void resizeEvent(QResizeEvent* e) override {
        QTableView::resizeEvent(e);
        share_width();
    }

private:
    [[nodiscard]] bool has_figures(int column) const {
        return (model()->headerData(column, Qt::Horizontal, Qt::TextAlignmentRole).toInt() & Qt::AlignRight) != 0;
    }
    [[nodiscard]] int needed(int column) const { return needed_[static_cast<std::size_t>(column)]; }

    void share_width() {
        constexpr int least = 13 * gap;
        std::vector<int> words;
        int left = viewport()->width();
        for (int c = 0; c < static_cast<int>(needed_.size()); ++c) {
            if (!has_figures(c)) {
                words.push_back(c);
                continue;
            }
            setColumnWidth(c, needed(c));
            left -= needed(c);
        }
        std::ranges::sort(words, {}, [this](int c) { return needed(c); });
        int sharing = static_cast<int>(words.size());
        for (const int c : words) {
            const int width = std::min(needed(c), std::max(least, left / sharing--));
            setColumnWidth(c, width);
            left -= width;
        }
    }

    std::vector<int> needed_;  // by each column for all of its texts; empty as long as there are none
};

class ValidationView : public View {
public:
    ValidationView(Workbench& workbench, Selection& selection) : View(workbench, selection) {
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(4 * gap, 3 * gap, 4 * gap, 2 * gap);
        column->setSpacing(gap);
        auto* title = text_label(Type::title);
        title->setText(tr("Published training runs"));
        said_ = text_label(Type::body, "faint");
        said_->setObjectName(QStringLiteral("validation.said"));
        auto* row = new QHBoxLayout;
        filter_ = search_field(QStringLiteral("validation.filter"), tr("Search: a model, a device, a framework"));
        open_ = new QPushButton(tr("Open this run"));
        open_->setObjectName(QStringLiteral("validation.open"));
        open_->setToolTip(tr("As a scenario, to be changed and saved, with what was measured beside its step time"));
        open_->setEnabled(false);
        row->addWidget(filter_, 1);
        row->addWidget(open_);
        for (QLabel* label : {title, said_}) {
            label->setMinimumWidth(1);  // as narrow as the window is made
            column->addWidget(label);
        }
        column->addLayout(row);
        column->addWidget(make_table(), 1);
        setFocusProxy(filter_);
        connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
            found_.set_words(text);
            say();
        });
        connect(open_, &QPushButton::clicked, this, [this] { choose(table_->currentIndex()); });
        load();
    }

    [[nodiscard]] bool is_complete() const override { return is_complete_; }
    [[nodiscard]] std::vector<NamedTable> tables() const override { return {{QStringLiteral("published runs"), &found_}}; }

private:
    QWidget* make_table() {
        found_.setSourceModel(&runs_);
        found_.setSortRole(PublishedRunsModel::order);
        found_.sort(-1);
        table_ = new RunsTable;
        table_->setObjectName(QStringLiteral("bare"));
        table_->setAccessibleName(tr("Published runs"));
        table_->setFont(font_of(Type::small));
        table_->setModel(&found_);
        table_->setShowGrid(false);
        table_->setSelectionBehavior(QAbstractItemView::SelectRows);
        table_->setSelectionMode(QAbstractItemView::SingleSelection);
        table_->setTabKeyNavigation(false);
        table_->setWordWrap(false);
        table_->verticalHeader()->hide();
        table_->verticalHeader()->setDefaultSectionSize(3 * gap);
        table_->horizontalHeader()->setStretchLastSection(true);
        table_->horizontalHeader()->setHighlightSections(false);
        table_->horizontalHeader()->setSortIndicatorClearable(true);
        table_->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
        table_->setSortingEnabled(true);
        connect(table_, &QTableView::activated, this, [this](const QModelIndex& index) { choose(index); });
        connect(table_->selectionModel(), &QItemSelectionModel::currentChanged, this,
                [this](const QModelIndex& index) { open_->setEnabled(index.isValid()); });
        return table_;
    }

    void choose(const QModelIndex& index) {
        if (const QString path = index.data(PublishedRunsModel::path).toString(); !path.isEmpty()) emit wants_to_open(path);
    }

    void load() {
        if (workbench().published_runs()) return show_runs();
        said_->setText(tr("Reading them\u2026"));
        connect(&job_, &LongJob::progressed, said_,
                [this](double done, const QString&) { said_->setText(tr("Predicting them: %1").arg(percent(done))); });
        job_.start(
            [](const LongJob::Tell& tell) {
                Library library = open_library();
                return published_runs(library, [&](std::size_t done, std::size_t total) {
                    if (!tell(static_cast<double>(done) / static_cast<double>(total), {})) throw Stopped();
                });
            },
            [this](Outcome<PublishedRuns> outcome) {
                if (outcome.result) {
                    workbench().keep(std::make_shared<const PublishedRuns>(std::move(*outcome.result)));
                    show_runs();
                } else {
                    is_complete_ = true;
                    said_->setText(html_of(outcome.problems));
                }
                emit completed();
            });
    }

    void show_runs() {
        is_complete_ = true;
        verdict_ = workbench().published_runs()->verdict;
        runs_.set_runs(workbench().published_runs());
        table_->fit_columns(workbench().published_runs()->longest);
        say();
    }

    void say() {
        if (runs_.rowCount() == 0) return;
        if (found_.rowCount() == 0)
            return said_->setText(
                tr("None of these runs has \u201c%1\u201d in its name, model, device or framework.").arg(filter_->text().toHtmlEscaped()));
        const QString shown = found_.rowCount() == runs_.rowCount()
                                  ? tr("%1 runs.").arg(grouped(runs_.rowCount()))
                                  : tr("%1 of %2 runs.").arg(grouped(found_.rowCount()), grouped(runs_.rowCount()));
        said_->setText(shown + tr(" Mean errors where nothing was fitted: %1. Open a run to change it.").arg(verdict_));
    }

    PublishedRunsModel runs_;
    FoundRuns found_;
    LongJob job_;
    QLabel* said_;
    QLineEdit* filter_;
    QPushButton* open_;
    RunsTable* table_;
    QString verdict_;
    bool is_complete_ = false;
};

}  // namespace

ViewInfo validation_view() {
    return {.name = "validation",
            .title = QStringLiteral("Validation"),
            .tip = QStringLiteral("Published training runs beside their predictions, each to be opened and changed"),
            .icon = "<path d='M3 3v18h18M7 17l12-12'/><path d='M8 12h.01M12 9h.01M13 15h.01M17 10h.01' stroke-width='3'/>",
            .needs_scenario = false,
            .make = [](Workbench& w, Selection& s) { return std::make_unique<ValidationView>(w, s); }};
}

}  // namespace sextant::gui
