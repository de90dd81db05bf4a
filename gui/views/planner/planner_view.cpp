#include "gui/views/planner/planner_view.hpp"

#include "gui/models/plan_table_model.hpp"
#include "gui/models/text.hpp"
#include "gui/views/ask_row.hpp"
#include "gui/views/paint/card.hpp"
#include "gui/views/paint/side_by_side.hpp"
#include "gui/views/paint/whole_table.hpp"
#include "gui/views/planner/plan_details.hpp"
#include "gui/views/planner/plan_form_panel.hpp"
#include "gui/views/planner/plan_plot.hpp"
#include "gui/views/planner/terms_delegate.hpp"
#include "gui/views/term_bars.hpp"
#include "model/io/search/plan_answer_words.hpp"
#include "model/io/search/plan_columns.hpp"

#include <QComboBox>
#include <QElapsedTimer>

namespace sextant::gui {
namespace {

QString progress_note(const PlanProgress& p, double seconds) {
    if (p.stage == PlanProgress::Stage::advice) return QStringLiteral("asking what else could be done");
    if (p.stage == PlanProgress::Stage::simulation) return QStringLiteral("playing the best event by event");
    QString note = QStringLiteral("%1 plans").arg(grouped(static_cast<double>(p.search->counts.all())));
    if (p.done > 0.01) note += QStringLiteral(", %1 left").arg(quantity(Seconds::from_si(seconds * (1 - p.done) / p.done), 2));
    if (p.search->best) note += QStringLiteral(", best step %1").arg(quantity(p.search->best->step));
    return note;
}

PlanFindings found_by(const PlanForm& form, PlanQuestion question, const LongJob::Tell& tell) {
    question.search.elsewhere = [asked = question.search.job] {
        Library library = open_library();
        return under_other_frameworks(library, asked);
    };
    QElapsedTimer clock;
    clock.start();
    PlanAnswer answer = find_plan(question, [&](const PlanProgress& p) {
        const double part = p.stage == PlanProgress::Stage::search ? p.done : 1;
        return tell(part, progress_note(p, static_cast<double>(clock.elapsed()) / 1000));
    });
    return findings_of(form, std::move(answer), Seconds::from_si(static_cast<double>(clock.elapsed()) / 1000));
}

void stretch(QWidget& widget, int times) {
    QSizePolicy policy = widget.sizePolicy();
    policy.setHorizontalStretch(times);
    widget.setSizePolicy(policy);
}

class PlannerView : public PageView {
public:
    PlannerView(Workbench& workbench, Selection& selection) : PageView(workbench, selection) {
        column().addWidget(question_card());
        found_ = new QWidget;
        auto* found = bare_layout<QVBoxLayout>(found_, gap + 4);
        auto* plot = plot_card();
        auto* details = details_card();
        stretch(*plot, 3);
        stretch(*details, 2);
        found->addWidget(new SideBySide({plot, details}, 640));
        found->addWidget(table_card());
        found->addWidget(beside_card());
        found->addWidget(alternatives_card());
        column().addWidget(found_);
        column().addWidget(remedies_card());
        for (QWidget* w : std::initializer_list<QWidget*>{found_, remedies_card_}) w->hide();

        connect(&model_, &PlanTableModel::beside_changed, this, [this] { show_beside(); });
    }

    [[nodiscard]] std::vector<NamedTable> tables() const override {
        if (!findings_) return {};
        return {{QStringLiteral("plans"), &csv_}, {QStringLiteral("alternatives"), &alternatives_}};
    }

    void begin() override { search(); }

private:
    QWidget* question_card() {
        auto* card =
            new Card(tr("The best plan for this job"),
                     tr("Every way to divide the job over the devices is looked at, or ruled out by a bound that it cannot pass."));
        form_ = new PlanFormPanel;
        row_ = new AskRow(workbench(), QStringLiteral("planner.search"), tr("Search"));
        card->add({form_, row_});
        connect(row_, &AskRow::asked, this, [this] { search(); });
        connect(form_, &PlanFormPanel::asked, this, [this] { search(); });
        return card;
    }

    QWidget* plot_card() {
        auto* card = new Card(tr("Throughput against what it takes"), tr("Choose a plan to see it; a double click opens it."));
        axis_ = with_name("planner.axis", new QComboBox);
        axis_->setAccessibleName(tr("Drawn"));
        axis_->addItem(tr("against memory"), static_cast<int>(PlanAxis::memory));
        plot_ = with_name("planner.plot", new ChartWidget(tr("Plans as points")));
        card->body().addWidget(axis_, 0, Qt::AlignLeft);
        card->body().addWidget(plot_);
        connect(axis_, &QComboBox::currentIndexChanged, this, [this] { show_plot(); });
        connect(plot_, &ChartWidget::chosen, this, &PlannerView::choose);
        connect(plot_, &ChartWidget::activated, this, &PlannerView::open);
        return card;
    }

    QWidget* details_card() {
        auto* card = new Card(tr("The plan that is chosen"));
        details_ = new PlanDetails;
        card->body().addWidget(details_);
        connect(details_, &PlanDetails::wants_to_open, this, [this] { open(chosen_); });
        connect(details_, &PlanDetails::beside, this, [this](bool on) { model_.set_beside(chosen_, on); });
        return card;
    }

    QWidget* table_card() {
        table_card_ = new Card({}, tr("Up and down choose, Enter opens, Space marks what is held beside one another below."));
        table_ = new WholeTable(tr("The best plans"), model_);
        table_->setItemDelegateForColumn(PlanTableModel::terms_column, new TermsDelegate(table_));
        passed_ = with_name("planner.passed", text_label(Type::body, "warning"));
        in_common_ = with_name("planner.in_common", text_label(Type::small, "faint"));
        table_card_->add({passed_, table_, in_common_});
        connect(table_, &WholeTable::row_chosen, this, &PlannerView::choose);
        connect(table_, &WholeTable::row_opened, this, &PlannerView::open);
        return table_card_;
    }

    QWidget* beside_card() {
        auto* card =
            new Card(tr("Beside one another"), tr("The plans that are marked above: where their steps go, and what they come to."));
        beside_bars_ = new ChartWidget(tr("Where the step of each plan goes"));
        auto* table = new WholeTable(tr("Beside one another"), beside_, WholeTable::Room::shared);
        table->setSelectionMode(QAbstractItemView::NoSelection);
        table->setFocusPolicy(Qt::NoFocus);
        card->add({beside_bars_, table});
        shares_term(*beside_bars_);
        return card;
    }

    QWidget* alternatives_card() {
        alternatives_card_ =
            new Card(tr("Why not the obvious?"), tr("Plans that somebody would think of first, each as good as it can be."));
        auto* table = new WholeTable(tr("Why not the obvious?"), alternatives_);
        alternatives_card_->add({table});
        return alternatives_card_;
    }

    QWidget* remedies_card() {
        remedies_card_ =
            new Card(tr("No plan fits"), tr("Each is one change, found by a search of its own in which all else is as asked."));
        verdict_ = with_name("planner.verdict", text_label(Type::title, "bad"));
        verdict_->setWordWrap(true);
        smallest_ = text_label(Type::body);
        auto* table = new WholeTable(tr("What would make one fit"), remedies_);
        remedies_card_->add({verdict_, smallest_, table});
        connect(table, &WholeTable::row_opened, this, [this](int row) {
            const Remedy& r = findings_->answer.remedies[static_cast<std::size_t>(row)];
            workbench().replace_plan(r.tried.plan, tr("plan that fits"));
        });
        return remedies_card_;
    }

    void follow(const Session& session) override {
        if (session.plans != findings_) show_answer(session, *session.answer);
    }

    void show_answer(const Session& session, const Answer& answer) override {
        show_form(session, plan_form(answer.scenario));
        show_findings(session);
    }

    // What was typed stays, unless it was of another scenario or is what a search was asked.
    void show_form(const Session& session, const PlanForm& now) {
        const bool is_asked = session.plans && session.plans != findings_, is_another = form_of_ != session.document.file;
        const PlanForm next = is_asked ? session.plans->form : is_another ? now : followed(form_->form(), plan_says_, now);
        if (next != form_->form()) form_->show_form(next);
        if (is_asked || is_another) form_->show_problems({});
        form_of_ = session.document.file;
        plan_says_ = now;
    }

    void show_findings(const Session& session) {
        const bool is_new = findings_ != session.plans;
        findings_ = session.plans;
        found_->setVisible(findings_ && !findings_->answer.best.empty());
        remedies_card_->setVisible(findings_ && findings_->answer.best.empty());
        if (!findings_) {
            if (!row_->is_running() && is_new) row_->say(tr("The scenario is another one now: search again."));
            return model_.set_findings(nullptr);
        }
        row_->say(counts_line(*findings_));
        if (findings_->answer.best.empty()) return show_remedies(*session.answer);
        if (is_new) chosen_ = findings_->first();
        const PlanAnswer& a = findings_->answer;
        open_ = place_of(*findings_, session.answer->scenario.plan);
        show_axes();
        model_.set_findings(findings_);
        model_.set_open(open_);
        table_->fix(PlanTableModel::terms_column, 82);
        const bool has_own = findings_->listed > a.best.size();
        const QString heading = !has_own                         ? tr("The best %1, %2 first")
                                : is_own_open(*findings_, open_) ? tr("The best %1 and the scenario's own, %2 first")
                                                                 : tr("The best %1 and the plan as it was before, %2 first");
        table_card_->set_heading(heading.arg(a.best.size()).arg(q(ranked_by(a.request.objective))));
        in_common_->setText(tr("All of these: %1.").arg(model_.in_common().join(QStringLiteral(", "))));
        in_common_->setVisible(!model_.in_common().isEmpty());
        passed_->setText(tr("Plan 1: %1.").arg(own_sentence(*findings_, open_)));
        passed_->setVisible(findings_->is_passed() && a.request.objective == Objective::throughput);
        csv_.set_table(found_plans_table(*findings_));
        alternatives_.set_table(alternatives_table(a));
        alternatives_card_->setVisible(!a.alternatives.empty());
        show_plot();
        show_beside();
        choose(chosen_);
    }

    // One of the remedies may have been opened since.
    void show_remedies(const Answer& open) {
        const PlanAnswer& a = findings_->answer;
        const QString why = capitalized(q(why_none(a)).replace(QLatin1String("NO PLAN FITS"), tr("no plan fits"))) + QLatin1Char('.');
        const bool fits = open.report.estimate.fits();
        verdict_->setText(fits ? tr("The plan that is open fits.") : why);
        set_role(*verdict_, fits ? "good" : "bad");
        QString text = fits ? tr("As it was asked: %1 ").arg(why) : QString();
        text += a.smallest ? tr("The smallest is %1.").arg(q(plan_line(a.smallest->plan))) : QString();
        if (!a.all_ruled_out() && a.complete)
            text += a.remedies.empty() ? tr(" No single change tried here makes one fit: a smaller model, or devices with more memory.")
                                       : tr(" Each of these changes would make one fit; a double click opens that plan.");
        smallest_->setText(text);
        remedies_.set_table(remedies_table(a));
        csv_.set_table(found_plans_table(*findings_));
        alternatives_.set_table(remedies_table(a));
        model_.set_findings(nullptr);
    }

    void show_axes() {
        const bool has_cost = findings_->plans.front().choice.cost_per_sample.has_value();
        const bool has_sizes = findings_->answer.request.devices.size() > 1;
        const QSignalBlocker quiet(axis_);
        while (axis_->count() > 1) axis_->removeItem(1);
        if (has_cost) axis_->addItem(tr("against cost"), static_cast<int>(PlanAxis::cost));
        if (has_sizes) axis_->addItem(tr("against devices"), static_cast<int>(PlanAxis::devices));
        axis_->setVisible(axis_->count() > 1);
    }

    void show_plot() {
        if (findings_) plot_->show_chart(plan_plot(*findings_, open_, static_cast<PlanAxis>(axis_->currentData().toInt()), look_of(*this)));
    }

    void show_beside() {
        if (!findings_ || findings_->answer.best.empty()) return;
        const std::vector<std::size_t> which(model_.beside().begin(), model_.beside().end());
        auto bars = std::make_shared<StackedBars>();
        Seconds longest;
        for (const std::size_t i : which) {
            const FoundPlan& p = findings_->plans[i];
            bars->rows.push_back(row_of(p.estimate.terms, capitalized(name_of(*findings_, i, open_))));
            longest = max(longest, p.choice.step);
        }
        bars->unit = unit_for(longest);
        bars->row_height = 26;
        beside_bars_->show_chart(bars);
        beside_.set_table(beside_table(*findings_, which, open_));
        if (chosen_ < findings_->plans.size()) details_->show_plan(*findings_, chosen_, model_.beside().contains(chosen_), open_);
    }

    void choose(std::size_t plan) {
        chosen_ = plan;
        plot_->emphasize(static_cast<int>(plan));
        details_->show_plan(*findings_, plan, model_.beside().contains(plan), open_);
        table_->mark_row(static_cast<int>(plan));
    }

    void open(std::size_t plan) { workbench().replace_plan(findings_->plans[plan].choice.plan, findings_->plans[plan].name); }

    void search() {
        const SessionPtr session = row_->session_to_ask();
        if (!session) return;
        const PlanForm form = form_->form();
        ReadPlanForm read = read_plan_form(form, session->answer->scenario);
        form_->show_problems(read.problems);
        if (!read.question) return row_->say(tr("Mend what is marked, then search again."));
        row_->ask(&Session::plans,
                  [form, question = std::move(*read.question)](const auto& tell, const auto&) { return found_by(form, question, tell); });
    }

    PlanFormPanel* form_;
    AskRow* row_;
    QLabel *verdict_, *smallest_, *passed_, *in_common_;
    QWidget* found_;
    Card *table_card_, *alternatives_card_, *remedies_card_;
    QComboBox* axis_;
    ChartWidget *plot_, *beside_bars_;
    PlanDetails* details_;
    WholeTable* table_;
    PlanTableModel model_;
    TableModel csv_, beside_, alternatives_, remedies_;
    std::shared_ptr<const PlanFindings> findings_;
    std::size_t chosen_ = 0;
    std::optional<std::size_t> open_;  // of the plans that were found, the scenario's now
    std::filesystem::path form_of_;
    PlanForm plan_says_;  // by itself
};

}  // namespace

ViewInfo planner_view() {
    return {.name = "planner",
            .title = QStringLiteral("Planner"),
            .tip = QStringLiteral("The best plans for this job, why these, and what else could be done"),
            .icon =
                "<circle cx='6' cy='17' r='1.6'/><circle cx='10' cy='11' r='1.6'/><circle cx='17' cy='7' r='1.6'/>"
                "<circle cx='15' cy='15' r='1.6'/><path d='M3 3v18h18'/>",
            .make = [](Workbench& w, Selection& s) { return std::make_unique<PlannerView>(w, s); }};
}

}  // namespace sextant::gui
