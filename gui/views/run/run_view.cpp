#include "gui/views/run/run_view.hpp"

#include "gui/jobs/background.hpp"
#include "gui/jobs/long_job.hpp"
#include "gui/models/compared.hpp"
#include "gui/models/scenario_words.hpp"
#include "gui/models/text.hpp"
#include "gui/views/paint/card.hpp"
#include "gui/views/paint/whole_table.hpp"
#include "gui/views/run/calibration_card.hpp"
#include "gui/views/run/child_panel.hpp"
#include "gui/views/term_bars.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/report/comparison_writer.hpp"

#include <QCheckBox>
#include <QFileDialog>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QThread>

namespace sextant::gui {
namespace {

// More processes for each core than this would bring a machine to a standstill.
constexpr int most_ranks_per_core = 16;

Compared held_beside(const std::shared_ptr<const Answer>& answer, const std::shared_ptr<const Measured>& measured) {
    if (!measured->run)
        throw InputError(Diagnostic{measured->file.string(), "", "this is a timeline alone: a run says how long its steps took",
                                    "open what `sextant run --out` wrote"});
    return {measured, compare(answer->scenario, *measured->run)};
}

class RunView : public PageView {
public:
    RunView(Workbench& workbench, Selection& selection) : PageView(workbench, selection) {
        column().addWidget(run_card());
        found_ = new QWidget;
        auto* found = bare_layout<QVBoxLayout>(found_, gap + 4);
        found->addWidget(verdict_card());
        found->addWidget(table_card(tr("Residuals"), tr("Measured less predicted, of the rank that finishes last."), residuals_));
        found->addWidget(
            table_card(tr("Rank by rank"), tr("When each is through with the step, and what its process holds at most."), ranks_));
        operators_card_ = table_card(tr("Operators"), tr("Those first that differ most from their kernels."), operators_);
        found->addWidget(operators_card_);
        found_->hide();
        column().addWidget(found_);
        calibration_ = new CalibrationCard(workbench);
        column().addWidget(calibration_);
        connect(&run_, &Child::ended, this, [this](const ChildEnd& end) { end_run(end); });
    }

    [[nodiscard]] std::vector<NamedTable> tables() const override {
        if (!compared_) return {};
        std::vector<NamedTable> tables{{QStringLiteral("residuals"), &residuals_}, {QStringLiteral("ranks"), &ranks_}};
        if (!compared_->comparison.operators.empty()) tables.push_back({QStringLiteral("operators"), &operators_});
        return tables;
    }

    [[nodiscard]] bool runs_program() const override { return run_.is_running() || calibration_->is_running(); }

private:
    QWidget* run_card() {
        auto* card =
            new Card(tr("Run this plan for real"),
                     tr("Forward, backward, exchanges and update on as many processes as the plan has devices, by `sextant run`."));
        layout_ = with_name("run.layout", text_label(Type::body));
        auto* row = new QHBoxLayout;
        row->setSpacing(gap + 4);
        steps_ = with_name("run.steps", new QSpinBox);
        steps_->setAccessibleName(tr("How many steps"));
        steps_->setRange(1, 1'000'000);
        steps_->setValue(10);
        steps_->setSuffix(tr(" steps"));
        launcher_ = with_name("run.launcher", new QLineEdit);
        launcher_->setAccessibleName(tr("Launcher"));
        launcher_->setPlaceholderText(tr("launcher: as usual (mpirun here, srun inside Slurm)"));
        launcher_->setToolTip(tr("What starts the ranks: mpirun --hostfile hosts, srun --partition gpu. The number of ranks is added"));
        times_operators_ = with_name("run.operators", new QCheckBox(tr("Time operators")));
        times_operators_->setToolTip(tr("Each by itself, to be held beside its kernels. Takes a little time itself"));
        start_ = with_name("run.start", new QPushButton(tr("Run")));
        start_->setDefault(true);
        auto* open = new QPushButton(tr("Open a run\u2026"));
        open->setToolTip(tr("What `sextant run --out` wrote, here or elsewhere"));
        keep_ = new QPushButton(tr("Keep the record\u2026"));
        keep_->setEnabled(false);
        row->addWidget(steps_);
        row->addWidget(launcher_, 1);
        auto* buttons = new QHBoxLayout;  // a line of their own: not every window is wide
        buttons->setSpacing(gap);
        for (QWidget* w : std::initializer_list<QWidget*>{start_, open, keep_}) buttons->addWidget(w);
        buttons->addStretch(1);
        run_panel_ = new ChildPanel(run_, *start_, QStringLiteral("run"));
        card->body().addWidget(layout_);
        card->body().addLayout(row);
        card->body().addWidget(times_operators_);
        card->body().addLayout(buttons);
        card->body().addWidget(run_panel_);
        connect(start_, &QPushButton::clicked, this, [this] { run(); });
        connect(launcher_, &QLineEdit::textChanged, this, [this] { show_layout(); });
        connect(open, &QPushButton::clicked, this, [this] {
            const QString path = QFileDialog::getOpenFileName(this, tr("Open a run"), {}, tr("Runs (*.json);;All files (*)"));
            if (!path.isEmpty()) read_run(path);
        });
        connect(keep_, &QPushButton::clicked, this, [this] { keep_record(); });
        return card;
    }

    QWidget* verdict_card() {
        auto* card = new Card(tr("Predicted, simulated and measured"),
                              tr("Where the step goes, of the rank that finishes last, by the same rules."));
        verdict_ = with_name("run.verdict", text_label(Type::body));
        bars_ = new ChartWidget(tr("Where the step goes: predicted, simulated, measured"));
        points_to_ = text_label(Type::body, "faint");
        card->add({verdict_, bars_, points_to_});
        shares_term(*bars_);
        return card;
    }

    QWidget* table_card(const QString& heading, const QString& tip, TableModel& model) {
        auto* card = new Card(heading, tip);
        auto* table = new WholeTable(heading, model, WholeTable::Room::shared);
        card->add({table});
        return card;
    }

    // ---- a run

    void run() {
        const SessionPtr session = workbench().session();
        if (!session || session->state != AnswerState::ready) return run_panel_->say(tr("The scenario has to be mended first."), true);
        QStringList words{QStringLiteral("run")};
        words += scenario_words(session->document);
        words << QStringLiteral("--steps") << QString::number(steps_->value()) << QStringLiteral("--progress") << QStringLiteral("--out")
              << record();
        if (times_operators_->isChecked()) words << QStringLiteral("--operators");
        if (const QString launcher = launcher_->text().trimmed(); !launcher.isEmpty()) words << QStringLiteral("--launcher") << launcher;
        run_.start(QStringLiteral("sextant"), words);
    }

    [[nodiscard]] QString record() const { return folder_.filePath(QStringLiteral("run.json")); }

    void end_run(const ChildEnd& end) {
        show_layout();
        if (end.stopped || !end.problem.isEmpty()) return;
        keep_->setEnabled(true);
        run_panel_->say(tr("The run is through."));
        read_run(record());
    }

    void keep_record() {
        const QString path = QFileDialog::getSaveFileName(this, tr("Keep the record of the run"), {}, tr("Runs (*.json)"));
        if (path.isEmpty()) return;
        try {
            replace_file(path.toStdString(), [&](const std::filesystem::path& aside) {
                std::error_code error;
                std::filesystem::copy_file(record().toStdString(), aside, std::filesystem::copy_options::overwrite_existing, error);
                if (error) throw BackendError("cannot write " + path.toStdString() + ": " + error.message());
            });
            run_panel_->say(tr("The record is kept in %1.").arg(path.toHtmlEscaped()));
        } catch (const BackendError& e) {
            run_panel_->say(tr("%1. The record is still here.").arg(q(e.what()).toHtmlEscaped()), true);
        }
    }

    void read_run(const QString& path) {
        const SessionPtr session = workbench().session();
        reading_.start([path](const LongJob::Tell&) { return freed_in_background(read_measurement(path.toStdString())); },
                       [this, of = session->document](Outcome<std::shared_ptr<const Measured>> outcome) {
                           if (!outcome.result) return run_panel_->say(html_of(outcome.problems), true);
                           this->workbench().add(of, [&](Session& s) { s.measured = *outcome.result; });
                       });
    }

    // ---- what it is compared with

    void follow(const Session& session) override {
        if (session.compared != compared_) show_comparison(session);
        const bool is_known = session.compared && session.compared->of == session.measured;
        if (session.state != AnswerState::ready || !session.measured || is_known) return;
        const bool is_asked = asked_for_ == std::pair(session.document, session.measured);
        if (is_asked) return;
        asked_for_ = {session.document, session.measured};
        comparing_.start([answer = session.answer, measured = session.measured](
                             const LongJob::Tell&) { return std::make_shared<const Compared>(held_beside(answer, measured)); },
                         [this, of = session.document](Outcome<std::shared_ptr<const Compared>> outcome) {
                             if (!outcome.result) return run_panel_->say(html_of(outcome.problems), true);
                             run_panel_->say({});
                             this->workbench().add(of, [&](Session& s) { s.compared = *outcome.result; });
                         });
    }

    void show_answer(const Session& session, const Answer&) override {
        show_layout();
        show_comparison(session);
    }

    void show_layout() {
        const std::shared_ptr<const Answer> answer = workbench().answer();
        if (!answer) return;
        const int ranks = run_layout(answer->scenario).ranks, cores = QThread::idealThreadCount();
        const bool too_many = launcher_->text().trimmed().isEmpty() && ranks > most_ranks_per_core * cores;
        layout_->setText(
            too_many
                ? tr("The plan needs <b>%1 processes</b>, and this machine has %2 cores: give a launcher that reaches more machines, "
                     "or open a run that was made elsewhere.")
                      .arg(grouped(ranks))
                      .arg(cores)
                : tr("%1 on %2 cores of this machine.").arg(ranks == 1 ? tr("One process") : tr("%1 processes").arg(ranks)).arg(cores));
        start_->setEnabled(!too_many && !run_.is_running());
    }

    void show_comparison(const Session& session) {
        compared_ = session.compared;
        found_->setVisible(compared_ != nullptr);
        if (!compared_) return;
        const Comparison& c = compared_->comparison;
        verdict_->setText(verdict(c));
        auto bars = std::make_shared<StackedBars>();
        bars->rows = {row_of(c.terms.predicted, tr("Predicted")), row_of(c.terms.simulated, tr("Simulated")),
                      row_of(c.terms.measured, tr("Measured"))};
        bars->unit = unit_for(max(c.terms.predicted.total(), max(c.terms.simulated.total(), c.terms.measured.total())));
        bars->row_height = 28;
        bars_->show_chart(bars);
        QStringList lines{tr("The measured bar is the step of median time, %1.").arg(quantity(c.traced_step)),
                          tr("They part most in <b>%1</b>:").arg(words_of(c.residual.term))};
        for (const std::string& line : residual_lines(c)) lines += q(line).toHtmlEscaped();
        points_to_->setText(lines.join(QStringLiteral("<br>")));
        residuals_.set_table(residuals_table(c));
        ranks_.set_table(ranks_table(c));
        operators_.set_table(operators_table(c));
        operators_card_->setVisible(!c.operators.empty());
    }

    QLabel *layout_, *verdict_, *points_to_;
    QSpinBox* steps_;
    QLineEdit* launcher_;
    QPushButton *start_, *keep_;
    QCheckBox* times_operators_;
    QWidget *found_, *operators_card_;
    ChartWidget* bars_;
    ChildPanel* run_panel_;
    CalibrationCard* calibration_;
    TableModel residuals_, ranks_, operators_;
    std::shared_ptr<const Compared> compared_;
    std::pair<ScenarioDocument, std::shared_ptr<const Measured>> asked_for_;
    QTemporaryDir folder_;
    Child run_;
    LongJob reading_, comparing_;
};

}  // namespace

ViewInfo run_view() {
    return {.name = "run",
            .title = QStringLiteral("Run"),
            .tip = QStringLiteral("The plan for real, beside what was predicted; and this machine calibrated"),
            .icon = "<path d='M7 4l12 8-12 8z'/>",
            .make = [](Workbench& w, Selection& s) { return std::make_unique<RunView>(w, s); }};
}

}  // namespace sextant::gui
