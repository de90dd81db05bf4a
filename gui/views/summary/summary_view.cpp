#include "gui/views/summary/summary_view.hpp"

#include "gui/models/report_tables.hpp"
#include "gui/models/text.hpp"
#include "gui/views/mover_bars.hpp"
#include "gui/views/paint/card.hpp"
#include "gui/views/paint/ranked_bars.hpp"
#include "gui/views/paint/side_by_side.hpp"
#include "gui/views/summary/figures.hpp"
#include "gui/views/summary/suggestion_rows.hpp"
#include "gui/views/term_bars.hpp"
#include "model/io/report/run_rows.hpp"

#include <QPushButton>

#include <utility>
#include <vector>

namespace sextant::gui {
namespace {

constexpr std::size_t most_suggestions = 5;

// Those that move the answer most; at least some, to see that the others do not matter.
std::shared_ptr<Chart> trust(const Report& r, const Look& look) {
    auto chart = std::make_shared<RankedBars>();
    chart->bar_part = 0.2;
    chart->full = 0.05;
    constexpr double noticeable = 5e-3;
    constexpr std::size_t at_least = 6;
    for (const InputUsed& input : r.inputs) {
        if (input.effect < noticeable && chart->lines.size() >= at_least) continue;
        chart->full = std::max(chart->full, input.effect);
        const QColor colour = colour_of(input.kind, look);
        const QString value =
            with_signs(input.value).replace(QLatin1Char(' '), QChar(QChar::Nbsp)).replace(QLatin1Char('/'), QStringLiteral("/\u2060"));
        RankedLine line{.key = static_cast<int>(chart->lines.size()),
                        .name = q(input.name) + QStringLiteral(": ") + value,
                        .tag = words_of(input.kind),
                        .share = input.effect};
        line.value = input.effect < 1e-4 ? QStringLiteral("\u2248 0") : QStringLiteral("\u00b1 ") + percent(input.effect);
        line.tip = QStringLiteral("<b>%1</b><br>%2").arg(line.name.toHtmlEscaped(), q(input.source).toHtmlEscaped());
        line.tag_colour = colour;
        line.fill = {colour};
        chart->lines.push_back(std::move(line));
    }
    return chart;
}

QString list_of(const std::vector<std::string>& items) {
    QString html;
    for (const std::string& item : items)
        html += QStringLiteral("\u2022\u00a0 ") + q(item).replace(QStringLiteral(" %"), QStringLiteral("\u00a0%")).toHtmlEscaped() +
                QStringLiteral("<br>");
    html.chop(4);
    return html;
}

QString html_of(const SaidRows& rows, const Look& look) {
    QString html;
    for (const auto& [label, said] : rows)
        html += QStringLiteral("<tr><td style='padding-right:14px; color:%1'>%2</td><td>%3</td></tr>")
                    .arg(look.faint.name(), q(label).replace(QLatin1Char(' '), QChar(QChar::Nbsp)).toHtmlEscaped(),
                         with_signs(said).toHtmlEscaped());
    return QStringLiteral("<table>%1</table>").arg(html);
}

// What has to be stated for what the report does not say, as links to fields of the editor.
QString what_is_missing(const Report& r, const Look& look) {
    const auto link = [&](const char* place, const QString& text) {
        return QStringLiteral("<a href='%1' style='color:%2'>%3</a>").arg(QLatin1String(place), look.accent.name(), text);
    };
    const QString price = link("run.price", QObject::tr("the price of a device"));
    if (r.run) return r.run->cost ? QString() : QObject::tr("To see what it costs, state %1.").arg(price);
    const QString length = r.tokens_per_s ? link("run.tokens", QObject::tr("its tokens")) : link("run.epochs", QObject::tr("its epochs"));
    return QObject::tr("To see how long the whole run takes, state %1; to see what it costs, also %2.").arg(length, price);
}

// What would move it beside settings of the plan, and how far.
QString help_text(const Report& r) {
    QStringList sentences;
    if (const QString others = q(r.bottleneck.what_else_helps); !others.isEmpty())
        sentences +=
            (r.bottleneck.settings.empty() ? QStringLiteral("What would move it: %1.") : QStringLiteral("Beside these: %1.")).arg(others);
    if (!r.bottleneck.changes_at_text.empty()) sentences += capitalized(q(r.bottleneck.changes_at_text)) + QLatin1Char('.');
    return sentences.join(QLatin1Char(' '));
}

class SummaryView : public PageView {
public:
    SummaryView(Workbench& workbench, Selection& selection) : PageView(workbench, selection) {
        figures_ = new Figures;
        column().addWidget(figures_);

        auto* time =
            new Card(tr("Where the time goes"), tr("Each instant of the rank that finishes last belongs to exactly one of these."));
        terms_ = new ChartWidget(tr("Where the step goes"));
        shares_term(*terms_);
        hidden_ = text_label(Type::small, "faint");
        time->add({terms_, hidden_});
        column().addWidget(time);

        column().addWidget(new SideBySide({bottleneck_card(), trust_card()}, 1150));

        said_ = new QWidget;
        bare_layout<QVBoxLayout>(said_, gap + 4);
        column().addWidget(said_);
        missing_ = with_name("summary.missing", text_label(Type::small, "faint"));
        missing_->setTextInteractionFlags(Qt::TextBrowserInteraction);
        column().addWidget(missing_);
        connect(missing_, &QLabel::linkActivated, &workbench, &Workbench::want_field);
    }

    [[nodiscard]] std::vector<NamedTable> tables() const override {
        return {{QStringLiteral("figures"), &figures_table_}, {QStringLiteral("inputs"), &inputs_table_}};
    }

private:
    QWidget* bottleneck_card() {
        auto* card = new Card(tr("What holds it back"), tr("Found by asking what twice of each resource would change."));
        kind_ = text_label(Type::title);
        why_ = text_label(Type::body);
        help_ = with_name("summary.help", text_label(Type::body, "faint"));
        movers_ = new ChartWidget(tr("What would move it"));
        suggestions_ = new SuggestionRows;
        auto* search = with_name("summary.search", new QPushButton(tr("Search in Planner")));
        search->setToolTip(tr("The best of all plans, and not only of those that differ in one thing"));
        card->add({kind_, why_, movers_, suggestions_, help_});
        card->body().addWidget(search, 0, Qt::AlignLeft);
        card->body().addStretch(1);
        connect(suggestions_, &SuggestionRows::applied, this, [this](const Suggestion& s) { workbench().edit(s.edits, s.change); });
        connect(search, &QPushButton::clicked, this, [this] { emit wants_to_show(QStringLiteral("planner")); });
        return card;
    }

    QWidget* trust_card() {
        auto* card =
            new Card(tr("How far to trust it"), tr("What the answer rests on, how each number is known, and how far its doubt moves the "
                                                   "answer. Rest the pointer on one to see its source."));
        inputs_ = new ChartWidget(tr("What the answer rests on"));
        assumptions_ = text_label(Type::body, "faint");
        advice_ = text_label(Type::body, "accent");
        card->add({inputs_, advice_, assumptions_});
        card->body().addStretch(1);
        return card;
    }

    void show_answer(const Session& session, const Answer& answer) override {
        const Report& r = answer.report;
        const Look& look = look_of(*this);
        figures_->show_answer(session, answer);
        terms_->show_chart(term_bars(r.estimate));
        QStringList hidden;
        for (const Term term : all_terms)
            if (r.estimate.overlapped[term] / r.estimate.step > 5e-4)
                hidden += tr("%1 of %2").arg(quantity(r.estimate.overlapped[term]), words_of(term));
        hidden_->setText(tr("Hidden behind these: %1.").arg(hidden.join(QStringLiteral(", "))));
        hidden_->setVisible(!hidden.isEmpty());

        kind_->setText(capitalized(words_of(r.bottleneck.kind)));
        set_role(*kind_, r.estimate.fits() ? "" : "bad");
        why_->setText(capitalized(with_signs(r.bottleneck.why)) + QLatin1Char('.'));
        suggestions_->show_suggestions(suggestions(r, most_suggestions));
        help_->setText(help_text(r));
        movers_->show_chart(mover_bars(r.bottleneck, look, 5));
        movers_->setVisible(r.estimate.fits());  // nothing that is twice as fast makes a plan fit; Breakdown has them all the same

        inputs_->show_chart(trust(r, look));
        assumptions_->setText(r.assumptions.empty() ? QString() : tr("Assumed:<br>") + list_of(r.assumptions));
        assumptions_->setVisible(!r.assumptions.empty());
        advice_->setText(list_of(r.advice));
        advice_->setVisible(!r.advice.empty());
        show_sections(sections_of_run(r), look);
        missing_->setText(what_is_missing(r, look));
        missing_->setVisible(!missing_->text().isEmpty() && !testAttribute(Qt::WA_DontShowOnScreen));  // there is no editor in a file
        figures_table_.set_table(figures_table(r));
        inputs_table_.set_table(inputs_table(r));
    }

    // Samples, checkpoints, the whole run: a card for each that there is.
    void show_sections(const std::vector<SaidSection>& sections, const Look& look) {
        while (sections_.size() < sections.size()) {
            auto* card = new Card({}, tr("80 %: in four of five cases it is within this range"));
            auto* rows = text_label(Type::body);
            card->body().addWidget(rows);
            said_->layout()->addWidget(card);
            sections_.emplace_back(card, rows);
        }
        for (std::size_t i = 0; i < sections_.size(); ++i) {
            const auto& [card, rows] = sections_[i];
            card->setVisible(i < sections.size());
            if (i >= sections.size()) continue;
            card->set_heading(q(sections[i].heading));
            rows->setText(html_of(sections[i].rows, look));
        }
    }

    Figures* figures_;
    ChartWidget *terms_, *movers_, *inputs_;
    QLabel *hidden_, *kind_, *why_, *help_, *assumptions_, *advice_, *missing_;
    QWidget* said_;
    SuggestionRows* suggestions_;
    std::vector<std::pair<Card*, QLabel*>> sections_;
    TableModel figures_table_, inputs_table_;
};

}  // namespace

ViewInfo summary_view() {
    return {.name = "summary",
            .title = QStringLiteral("Summary"),
            .tip = QStringLiteral("How fast, does it fit, what holds it back, how far to trust it"),
            .icon = "<path d='M4 5h16M4 10h10M4 15h16M4 20h7'/>",
            .make = [](Workbench& w, Selection& s) { return std::make_unique<SummaryView>(w, s); }};
}

}  // namespace sextant::gui
