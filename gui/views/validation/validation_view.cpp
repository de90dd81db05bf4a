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
#include <numeric>
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

// Texts take two lines where there is no room for all of them on one, and the last column what the others leave. In a window that is
// narrower still the last columns are reached by scrolling.
class RunsTable : public QTableView {
public:
    // Given the longest texts: to ask thousands of rows takes longer than a frame.
    void fit_columns(const std::vector<LongestText>& longest) {
        whole_.clear(), in_two_.clear();
        for (int c = 0; c < static_cast<int>(longest.size()); ++c) {
            const LongestText& text = longest[static_cast<std::size_t>(c)];
            whole_.push_back(width_for(text.whole, c));
            in_two_.push_back(has_figures(c) ? whole_.back() : width_for(text.line, c));
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
    [[nodiscard]] int width_for(const QString& text, int column) const {
        return std::max(fontMetrics().horizontalAdvance(text) + (has_figures(column) ? gap : 2 * gap), heading_width(column));
    }
    // Its arrow, where the table is sorted by it, included.
    [[nodiscard]] int heading_width(int column) const {
        return fontMetrics().horizontalAdvance(model()->headerData(column, Qt::Horizontal).toString()) + 3 * gap;
    }

    void share_width() {
        if (whole_.empty()) return;
        const auto last = static_cast<int>(whole_.size()) - 1;
        const auto left = [&](const std::vector<int>& widths) {
            return viewport()->width() - std::accumulate(widths.begin(), widths.begin() + last, 0);
        };
        const int least = heading_width(last);
        const bool on_one_line = left(whole_) >= least;
        const std::vector<int>& widths = on_one_line ? whole_ : in_two_;
        setWordWrap(!on_one_line);
        verticalHeader()->setDefaultSectionSize((on_one_line ? 1 : 2) * fontMetrics().lineSpacing() + gap);
        for (int c = 0; c < last; ++c) setColumnWidth(c, widths[static_cast<std::size_t>(c)]);
        setColumnWidth(last, std::max(least, left(widths)));
    }

    std::vector<int> whole_, in_two_;  // widths of columns for texts on one line and on two; none as long as there are no texts
};

class ValidationView : public View {
public:
    ValidationView(Workbench& workbench, Selection& selection) : View(workbench, selection) {
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(4 * gap, 3 * gap, 4 * gap, 2 * gap);
        column->setSpacing(gap);
        auto* title = text_label(Type::title, nullptr, tr("Published training runs"));
        said_ = with_name("validation.said", text_label(Type::body, "faint"));
        auto* row = new QHBoxLayout;
        filter_ = search_field(QStringLiteral("validation.filter"), tr("Search: a model, a device, a framework"));
        open_ = with_name("validation.open", new QPushButton(tr("Open this run")));
        open_->setToolTip(tr("As a scenario, to be changed and saved, with what was measured beside its step time"));
        row->addWidget(filter_, 1);
        row->addWidget(open_);
        for (QLabel* label : {title, said_}) {
            label->setMinimumWidth(1);  // as narrow as the window is made
            column->addWidget(label);
        }
        column->addLayout(row);
        column->addWidget(make_table(), 1);
        chosen_ = with_name("validation.chosen", text_label(Type::small, "faint"));
        chosen_->setAlignment(Qt::AlignTop);
        chosen_->setMinimumWidth(1);
        constexpr int most_lines = 4;
        chosen_->setFixedHeight(most_lines * chosen_->fontMetrics().lineSpacing());
        column->addWidget(chosen_);
        show_chosen({});
        setFocusProxy(filter_);
        lead_to(*filter_, *table_);
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
        table_ = with_name("bare", new RunsTable);
        table_->setAccessibleName(tr("Published runs"));
        table_->setFont(font_of(Type::small));
        table_->setModel(&found_);
        table_->setShowGrid(false);
        table_->setSelectionBehavior(QAbstractItemView::SelectRows);
        table_->setSelectionMode(QAbstractItemView::SingleSelection);
        table_->setTabKeyNavigation(false);
        table_->verticalHeader()->hide();
        table_->horizontalHeader()->setFont(font_of(Type::small));
        table_->horizontalHeader()->setHighlightSections(false);
        table_->horizontalHeader()->setSortIndicatorClearable(true);
        table_->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
        table_->setSortingEnabled(true);
        connect(table_, &QTableView::activated, this, [this](const QModelIndex& index) { choose(index); });
        connect(table_->selectionModel(), &QItemSelectionModel::currentChanged, this,
                [this](const QModelIndex& index) { show_chosen(index); });
        return table_;
    }

    // All that its tooltip says, for those without a pointer, and where the window is too narrow for all columns.
    void show_chosen(const QModelIndex& index) {
        open_->setEnabled(index.isValid());
        chosen_->setText(index.isValid()
                             ? index.data(Qt::ToolTipRole).toString()
                             : tr("Choose a run to see what it was, and how sure its prediction is. Enter or a double click opens it."));
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
    QLabel *said_, *chosen_;
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
