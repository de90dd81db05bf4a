#include "gui/views/breakdown/breakdown_view.hpp"

#include "gui/jobs/background.hpp"
#include "gui/models/meanings.hpp"
#include "gui/models/range_terms.hpp"
#include "gui/models/report_tables.hpp"
#include "gui/models/simulated.hpp"
#include "gui/models/text.hpp"
#include "gui/views/mover_bars.hpp"
#include "gui/views/paint/card.hpp"
#include "gui/views/paint/ranked_bars.hpp"
#include "gui/views/paint/side_by_side.hpp"
#include "gui/views/term_bars.hpp"

#include <QPlainTextEdit>

#include <algorithm>

namespace sextant::gui {
namespace {

// One below the other, each where the one before ends.
std::shared_ptr<Chart> waterfall(const Estimate& e) {
    auto chart = std::make_shared<RankedBars>();
    chart->full = e.step.si();
    chart->bar_part = 0.5;
    Seconds sum;
    for (const Term term : all_terms) {
        if (e.terms[term] <= Seconds{}) continue;
        RankedLine line{.key = static_cast<int>(term), .name = words_of(term), .start = sum.si(), .share = e.terms[term].si()};
        line.value = quantity(e.terms[term]);
        line.note = percent(e.terms[term] / e.step);
        line.fill = fill_of(term);
        line.tip = meaning(term);
        if (e.overlapped[term] > Seconds{})
            line.tip += QStringLiteral(" %1 more are hidden behind compute.").arg(quantity(e.overlapped[term]));
        chart->lines.push_back(std::move(line));
        sum += e.terms[term];
    }
    return chart;
}

// As high as its text, up to so many lines.
class WholeText : public QPlainTextEdit {
public:
    void fit() {
        constexpr double most_lines = 24;
        const double lines = std::min(document()->size().height(), most_lines);  // a document of plain text measures itself in lines
        setFixedHeight(static_cast<int>((lines + 2) * QFontMetrics(font()).lineSpacing()));
    }

protected:
    void resizeEvent(QResizeEvent* e) override {
        QPlainTextEdit::resizeEvent(e);
        fit();
    }
};

class BreakdownView : public PageView {
public:
    BreakdownView(Workbench& workbench, Selection& selection) : PageView(workbench, selection) {
        column().addWidget(bars_card());
        column().addWidget(range_card());
        column().addWidget(new SideBySide({waterfall_card(), movers_card()}, 760));
        column().addWidget(formula_card());

        for (ChartWidget* chart : {bars_, range_bars_, waterfall_}) shares_term(*chart);
        connect(&selection, &Selection::changed, this, [this] {
            show_term();
            show_range();
        });
    }

    [[nodiscard]] std::vector<NamedTable> tables() const override {
        std::vector<NamedTable> list{{QStringLiteral("terms"), &terms_table_}, {QStringLiteral("movers"), &movers_table_}};
        if (range_card_->isVisibleTo(this)) list.push_back({QStringLiteral("range"), &range_table_});
        return list;
    }

private:
    QWidget* bars_card() {
        auto* card = new Card(tr("Where each millisecond goes"), tr("Each instant of a rank belongs to exactly one of these."));
        bars_ = new ChartWidget(tr("Where the step goes, stage by stage"));
        stages_ = text_label(Type::small, "faint");
        card->add({bars_, stages_});
        return card;
    }

    QWidget* range_card() {
        range_card_ = new Card({}, tr("Of the first rank of each stage, as the step is played event by event. Escape in the timeline gives "
                                      "the range up."));
        range_card_->hide();
        range_bars_ = new ChartWidget(tr("Where the selected range goes, stage by stage"));
        range_card_->body().addWidget(range_bars_);
        return range_card_;
    }

    QWidget* waterfall_card() {
        auto* card = new Card(tr("One after the other"), tr("Choose one to see its formula."));
        waterfall_ = new ChartWidget(tr("Where the step goes, term by term"));
        card->body().addWidget(waterfall_);
        card->body().addStretch(1);
        return card;
    }

    QWidget* movers_card() {
        auto* card = new Card(tr("What would move it"), tr("The step with twice of one resource, all else as it is."));
        movers_ = new ChartWidget(tr("What would move it"));
        limit_ = text_label(Type::body, "faint");
        card->add({movers_, limit_});
        card->body().addStretch(1);
        return card;
    }

    QWidget* formula_card() {
        formula_card_ = new Card({}, tr("What is summed up, with its numbers."));
        formula_ = with_name("formula", new WholeText);
        formula_->setAccessibleName(tr("Formula"));
        formula_->setReadOnly(true);
        formula_->setTabChangesFocus(true);
        formula_->setFont(code_font());
        formula_->setFrameShape(QFrame::NoFrame);
        formula_card_->body().addWidget(formula_);
        return formula_card_;
    }

    void follow(const Session&) override { show_range(); }

    // What was selected in the timeline, by the rules of the whole step.
    void show_range() {
        const std::optional<TimeRange> range = selection().now().range;
        const SessionPtr session = workbench().session();
        range_card_->setVisible(range.has_value());
        if (!range || !session || !isVisible()) return;
        if (!session->simulated) return workbench().want_simulation();
        if (!session->simulated->report || shown_range_ == std::pair(session->simulated, *range)) return;
        shown_range_ = {session->simulated, *range};
        in_background(
            this, [simulated = session->simulated, range = *range] { return terms_within(simulated->report->trace, range); },
            [this, asked = shown_range_](const std::vector<RangeTerms>& list) {
                if (asked == shown_range_) show_range(list);
            });
    }

    void show_range(const std::vector<RangeTerms>& list) {
        const TimeRange& range = shown_range_.second;
        range_card_->set_heading(tr("From %1, as selected in the timeline").arg(words_of(range)));
        auto bars = std::make_shared<StackedBars>();
        bars->unit = unit_for(range.to - range.from);
        bars->row_height = list.size() > 8 ? 16 : 34;
        for (const RangeTerms& within : list) bars->rows.push_back(row_of(within.terms, within.name));
        range_bars_->show_chart(std::move(bars));
        range_table_.set_table(range_table(list));
    }

    void show_answer(const Session&, const Answer& answer) override {
        const Estimate& e = answer.report.estimate;
        bars_->show_chart(term_bars(e));
        stages_->setText(stages_text(e));
        waterfall_->show_chart(waterfall(e));
        movers_->show_chart(mover_bars(answer.report.bottleneck, look_of(*this)));
        const QString limit = capitalized(q(answer.report.bottleneck.changes_at_text));
        limit_->setText(limit.isEmpty() ? limit : limit + QLatin1Char('.'));
        terms_table_.set_table(terms_table(e));
        movers_table_.set_table(movers_table(answer.report.bottleneck));
        answer_ = workbench().answer();
        show_term();
    }

    static QString stages_text(const Estimate& e) {
        if (e.memory.size() < 2) return tr("All ranks do the same.");
        if (e.slowest_stage == e.last_stage)
            return tr("Stage %1 finishes last, and is the one that the others wait for.").arg(e.last_stage);
        return tr("Stage %1 finishes last; stage %2 is the one that the others wait for.").arg(e.last_stage).arg(e.slowest_stage);
    }

    void show_term() {
        if (!answer_) return;
        const Term term = selection().now().term.value_or(answer_->report.estimate.terms.largest());
        waterfall_->emphasize(static_cast<int>(term));
        formula_card_->set_heading(tr("How %1 is made up").arg(words_of(term)));
        QStringList lines;
        for (const std::string& line : explain(answer_->job, term)) lines += with_signs(line);
        formula_->setPlainText(lines.join(QLatin1Char('\n')));
        formula_->fit();
    }

    ChartWidget *bars_, *range_bars_, *waterfall_, *movers_;
    QLabel *stages_, *limit_;
    Card *range_card_, *formula_card_;
    WholeText* formula_;
    std::shared_ptr<const Answer> answer_;
    std::pair<std::shared_ptr<const Simulated>, TimeRange> shown_range_;
    TableModel terms_table_, movers_table_, range_table_;
};

}  // namespace

ViewInfo breakdown_view() {
    return {
        .name = "breakdown",
        .title = QStringLiteral("Breakdown"),
        .tip = QStringLiteral("Where each millisecond goes, by which formula, and what would move it"),
        .icon =
            "<rect x='4' y='4' width='7' height='4'/><rect x='9' y='10' width='8' height='4'/><rect x='15' y='16' width='5' height='4'/>",
        .make = [](Workbench& w, Selection& s) { return std::make_unique<BreakdownView>(w, s); }};
}

}  // namespace sextant::gui
