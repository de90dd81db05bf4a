#include "gui/views/scaling/scaling_view.hpp"

#include "gui/models/text.hpp"
#include "gui/views/ask_row.hpp"
#include "gui/views/paint/card.hpp"
#include "gui/views/paint/side_by_side.hpp"
#include "gui/views/paint/whole_table.hpp"
#include "gui/views/scaling/scaling_plots.hpp"
#include "model/io/search/scaling_writer.hpp"

#include <QCheckBox>
#include <QLineEdit>

namespace sextant::gui {
namespace {

// One kind after the other; what was done of one that was stopped stays.
ScalingFindings found_by(const ScalingForm& form, const SearchRequest& request, const LongJob::Tell& tell,
                         const AskRow::Show<ScalingFindings>& show) {
    ScalingFindings findings{form, {}};
    std::pair<std::size_t, std::size_t> shown;  // of the kinds, and of the points of the last
    std::vector<bool> kinds;                    // weak?
    if (form.strong) kinds.push_back(false);
    if (form.weak) kinds.push_back(true);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const QString name = kinds[i] ? QStringLiteral("weak scaling") : QStringLiteral("strong scaling");
        findings.kinds.push_back(scale({request, kinds[i]}, [&](const ScalingProgress& p) {
            if (const std::pair now(i, p.so_far.points.size()); now != std::exchange(shown, now)) {
                ScalingFindings so_far = findings;
                so_far.kinds.push_back(p.so_far);
                show(std::move(so_far));
            }
            return tell((static_cast<double>(i) + p.done) / static_cast<double>(kinds.size()),
                        QStringLiteral("%1, %2 plans at this size").arg(name, grouped(static_cast<double>(p.search.counts.all()))));
        }));
        if (!findings.kinds.back().complete) break;
    }
    return findings;
}

class ScalingView : public PageView {
public:
    ScalingView(Workbench& workbench, Selection& selection) : PageView(workbench, selection) {
        column().addWidget(question_card());
        found_ = new QWidget;
        auto* found = bare_layout<QVBoxLayout>(found_, gap + 4);
        found->addWidget(verdict_card());
        found->addWidget(new SideBySide({plot_card(tr("Throughput"), throughput_), plot_card(tr("Efficiency"), efficiency_)}, 640));
        found->addWidget(cost_card_ = plot_card(tr("Cost"), cost_));
        found->addWidget(table_card());
        found_->hide();
        column().addWidget(found_);
    }

    [[nodiscard]] std::vector<NamedTable> tables() const override {
        if (!findings_) return {};
        return {{QStringLiteral("scaling"), &table_}};
    }
    void begin() override { ask(); }

private:
    QWidget* question_card() {
        auto* card = new Card(tr("What do more devices bring?"),
                              tr("The job is planned anew at each size: the best plan for it, and what that comes to."));
        auto* row = new QHBoxLayout;
        row->setSpacing(gap + 4);
        auto* label = text_label(Type::small, "faint", tr("Devices"));
        sizes_ = with_name("scaling.sizes", new QLineEdit);
        sizes_->setToolTip(tr("A range, doubled each time (8..256), or each by itself (8,16,24)"));
        sizes_->setMaximumWidth(420);
        label->setBuddy(sizes_);
        strong_ = with_name("scaling.strong", new QCheckBox(tr("Strong: the global batch stays")));
        weak_ = with_name("scaling.weak", new QCheckBox(tr("Weak: it grows with the devices")));
        row->addWidget(label);
        row->addWidget(sizes_, 3);
        row->addStretch(1);
        row_ = new AskRow(workbench(), QStringLiteral("scaling.ask"), tr("Plan each size"));
        card->body().addLayout(row);
        card->body().addWidget(new SideBySide({strong_, weak_}, 480));
        card->body().addWidget(row_);
        connect(row_, &AskRow::asked, this, &ScalingView::ask);
        connect(sizes_, &QLineEdit::returnPressed, this, &ScalingView::ask);
        return card;
    }

    QWidget* verdict_card() {
        auto* card = new Card(
            tr("Where do more stop paying?"),
            tr("More devices pay as long as each one that is added brings at least half of what one brings at the smallest size."));
        verdict_ = with_name("scaling.verdict", text_label(Type::body));
        card->body().addWidget(verdict_);
        return card;
    }

    QWidget* plot_card(const QString& heading, ChartWidget*& plot) {
        auto* card = new Card(heading, tr("Choose a point to see its plan; a double click opens it."));
        plot = new ChartWidget(heading);
        card->body().addWidget(plot);
        card->body().addStretch(1);
        connect(plot, &ChartWidget::chosen, this, &ScalingView::choose);
        connect(plot, &ChartWidget::activated, this, &ScalingView::open);
        return card;
    }

    QWidget* table_card() {
        auto* card =
            new Card(tr("The best plan at each size"), tr("Enter or a double click opens a plan, as one change that can be undone."));
        rows_ = new WholeTable(tr("The best plan at each size"), table_);
        card->body().addWidget(rows_);
        connect(rows_, &WholeTable::row_chosen, this, &ScalingView::choose);
        connect(rows_, &WholeTable::row_opened, this, &ScalingView::open);
        return card;
    }

    void follow(const Session& session) override {
        if (session.scaling != findings_) show_answer(session, *session.answer);
    }

    void show_answer(const Session& session, const Answer& answer) override {
        show_form(session, scaling_form(answer.scenario));
        const bool was_there = findings_ != nullptr;
        findings_ = session.scaling;
        found_->setVisible(findings_ != nullptr);
        if (findings_)
            show_findings();
        else if (was_there)
            row_->say(tr("The scenario is another one now: ask again."));
    }

    // What was typed stays, unless it was of another scenario or is what was asked.
    void show_form(const Session& session, const ScalingForm& now) {
        const bool is_asked = session.scaling && !(findings_ && findings_->form == session.scaling->form),
                   is_another = form_of_ != session.document.file;
        if (is_asked || is_another) {
            const ScalingForm form = is_asked ? session.scaling->form : now;
            show_sizes(form.sizes);
            strong_->setChecked(form.strong);
            weak_->setChecked(form.weak);
        } else if (sizes_->text() == plan_says_) {
            show_sizes(now.sizes);
        }
        form_of_ = session.document.file;
        plan_says_ = now.sizes;
    }

    void show_sizes(const QString& sizes) {
        sizes_->setText(sizes);
        sizes_->setCursorPosition(0);
    }

    void show_findings() {
        const Look& look = look_of(*this);
        QStringList sentences;
        bool complete = true;
        for (const Scaling& s : findings_->kinds) {
            complete = complete && s.complete;
            if (s.points.empty()) continue;
            sentences += (row_->is_running() ? tr("<b>%1</b>, so far: %2.") : tr("<b>%1</b>: %2."))
                             .arg(capitalized(name_of(s)), q(scaling_verdict(s)));
        }
        verdict_->setText(sentences.join(QStringLiteral("<br>")));
        row_->say(complete ? QString() : tr("<b>Stopped before the end</b>: these sizes were done."));
        throughput_->show_chart(throughput_plot(*findings_, look));
        efficiency_->show_chart(efficiency_plot(*findings_, look));
        const std::shared_ptr<Chart> cost = cost_plot(*findings_, look);
        cost_card_->setVisible(cost != nullptr);
        if (cost) cost_->show_chart(cost);
        table_.set_table(scaling_table(*findings_));
    }

    void choose(int row) {
        for (ChartWidget* plot : {throughput_, efficiency_, cost_}) plot->emphasize(row);
        rows_->mark_row(row);
    }

    void open(int row) {
        const ScalingPoint& p = scaling_point(*findings_, static_cast<std::size_t>(row));
        if (p.best) workbench().replace_plan(p.best->plan, tr("plan on %1 devices").arg(p.devices));
    }

    void ask() {
        const SessionPtr session = row_->session_to_ask();
        if (!session) return;
        const ScalingForm form{sizes_->text().trimmed(), strong_->isChecked(), weak_->isChecked()};
        if (!form.strong && !form.weak) return row_->say(tr("Strong, weak, or both?"));
        try {
            row_->ask(&Session::scaling, [form, request = scaling_request(form, session->answer->scenario)](
                                             const auto& tell, const auto& show) { return found_by(form, request, tell, show); });
        } catch (const InputError& e) {
            row_->say(html_of(e.diagnostics()));
        }
    }

    QLineEdit* sizes_;
    QCheckBox *strong_, *weak_;
    AskRow* row_;
    QLabel* verdict_;
    QWidget *found_, *cost_card_;
    ChartWidget *throughput_, *efficiency_, *cost_;
    WholeTable* rows_;
    TableModel table_;
    std::shared_ptr<const ScalingFindings> findings_;
    std::filesystem::path form_of_;
    QString plan_says_;  // of the sizes, by itself
};

}  // namespace

ViewInfo scaling_view() {
    return {.name = "scaling",
            .title = QStringLiteral("Scaling"),
            .tip = QStringLiteral("What more devices bring, and where they stop paying"),
            .icon = "<path d='M3 3v18h18M6 17c5-1 6-8 14-9'/><path d='M6 17l13-13' stroke-dasharray='1.5 3'/>",
            .make = [](Workbench& w, Selection& s) { return std::make_unique<ScalingView>(w, s); }};
}

}  // namespace sextant::gui
