#include "gui/views/window/answer_bar.hpp"

#include "gui/models/text.hpp"
#include "gui/views/paint/axis.hpp"
#include "gui/views/paint/card.hpp"
#include "model/io/scenario/plan_writer.hpp"

#include <QEvent>
#include <QHBoxLayout>

#include <algorithm>

namespace sextant::gui {
namespace {

// As wide as there is room, whatever its text; the end gives way to an ellipsis.
class OneLine : public QLabel {
public:
    OneLine() {
        setFont(font_of(Type::heading));
        setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        paint_text(painter, rect(), Qt::AlignVCenter, text(), font(), look_of(*this).text);
    }
};

// Two lines at most; the end of the second gives way to an ellipsis.
class TwoLines : public QLabel {
public:
    TwoLines() {
        setFont(font_of(Type::small));
        setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    }
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override {
        return (fontMetrics().horizontalAdvance(text()) > width ? 2 : 1) * fontMetrics().lineSpacing();
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        paint_two_lines(painter, rect(), text(), font(), look_of(*this).faint);
    }
};

// Then the name of the scenario may be of another one.
bool is_another_model(const ScenarioDocument& d) {
    return std::ranges::any_of(d.edits, [](const std::string& edit) { return edit.starts_with("workload="); });
}

// What the plan is, with what is stated of it beside its numbers; on what, and what carries it out, whose name may be long.
QString plan_text(const Session& session) {
    const Scenario& s = session.answer->scenario;
    const QString framework = q(s.framework.title);
    QString text = q(session.answer->report.plan);
    if (text.endsWith(framework)) text.chop(framework.size() + 2);  // with its comma
    if (stated_at(session.document, "plan.data_parallel") && !s.plan.has_servers())
        text += QStringLiteral(", data parallel ") + q(plan_field_text(PlanField::data_parallel, s.plan));
    if (stated_at(session.document, "plan.recompute"))
        text += QStringLiteral(", recompute ") + q(plan_field_text(PlanField::recompute, s.plan));
    QString devices = q(s.cluster.node.device.name);
    if (s.straggler && s.straggler->device)
        devices += QStringLiteral(", %1 of %2").arg(grouped(s.straggler->devices), q(s.straggler->device->name));
    return QStringLiteral("%1; %2, %3; framework: %4").arg(text, q(s.cluster.title), devices, framework);
}

}  // namespace

AnswerBar::AnswerBar(Workbench& workbench) : workbench_(workbench) {
    auto* column = bare_layout<QVBoxLayout>(this, 0);
    make_bar();
    make_banner();
    column->addWidget(bar_);
    column->addWidget(banner_);
    connect(&workbench, &Workbench::changed, this, &AnswerBar::refresh);
    refresh();
}

void AnswerBar::make_bar() {
    bar_ = with_name("answer_bar", new QFrame);
    row_ = new QBoxLayout(QBoxLayout::LeftToRight, bar_);
    row_->setContentsMargins(2 * gap, gap, 2 * gap, gap);
    name_ = with_name("bar_name", new OneLine);
    plan_ = with_name("bar_plan", new TwoLines);
    for (QLabel* label : {name_, plan_}) label->setTextFormat(Qt::PlainText);
    auto* left = new QVBoxLayout;
    left->setSpacing(1);
    left->addWidget(name_);
    left->addWidget(plan_);
    row_->addLayout(left, 1);
    auto* rest = new QVBoxLayout;
    rest->setSpacing(0);
    for (QLabel** label : {&speed_, &memory_}) {
        *label = text_label(Type::small, "faint");
        (*label)->setWordWrap(false);
        (*label)->setAlignment(Qt::AlignRight);
    }
    rest->addStretch(1);
    rest->addWidget(speed_);
    rest->addWidget(memory_);
    rest->addStretch(1);
    auto* right = new QHBoxLayout;
    right->setSpacing(2 * gap);
    right->addStretch(1);
    right->addLayout(rest);
    step_ = with_name("bar_step_time", text_label(Type::title, "accent"));
    step_->setToolTip(tr("The time of a step"));
    right->addWidget(step_);
    row_->addLayout(right);
}

void AnswerBar::make_banner() {
    banner_ = with_name("banner", new QFrame);
    auto* warning = new QHBoxLayout(banner_);
    warning->setContentsMargins(2 * gap, gap - 2, 2 * gap, gap - 2);
    problems_ = with_name("problems", text_label(Type::body, "bad"));
    problems_->setTextInteractionFlags(Qt::TextBrowserInteraction);
    connect(problems_, &QLabel::linkActivated, &workbench_, &Workbench::want_field);
    warning->addWidget(problems_);
}

// Beside one another only where there is room for both.
void AnswerBar::resizeEvent(QResizeEvent* e) {
    constexpr int wide = 560;
    const bool is_wide = width() >= wide;
    row_->setDirection(is_wide ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    row_->setSpacing(is_wide ? 2 * gap : gap / 2);
    QWidget::resizeEvent(e);
}

void AnswerBar::refresh() {
    const SessionPtr session = workbench_.session();
    setVisible(session != nullptr);
    if (!session) return;
    show_problems(*session);
    for (QLabel* label : {plan_, step_, speed_, memory_}) label->clear();
    if (!session->answer) return name_->setText(q(session->document.file.filename().string()));
    const Report& r = session->answer->report;
    name_->setText(q(r.scenario));
    name_->setToolTip(q(r.scenario));
    const QString plan = plan_text(*session), of_model = q(r.workload) + QStringLiteral(": ") + plan;
    plan_->setText(is_another_model(session->document) ? of_model : plan);
    plan_->setToolTip(of_model);
    step_->setText(quantity(r.estimate.step));
    speed_->setText(tr("%1 %2s/s, MFU %3").arg(grouped_quantity(r.samples_per_s.si()), q(r.sample_word), percent(r.mfu, 3)));
    memory_->setText(QStringLiteral("%1 of %2%3")
                         .arg(quantity(r.estimate.peak_memory), quantity(r.estimate.device_memory),
                              r.estimate.fits()          ? tr(", fits")
                              : r.estimate.fits_device() ? tr(", <b>host memory does not fit</b>")
                                                         : tr(": <b>does not fit</b>")));
    set_role(*step_, session->state == AnswerState::refused || !r.estimate.fits() ? "faint" : "accent");
    set_role(*memory_, r.estimate.fits() ? "faint" : "bad");
}

// A link has the colour of its look written into its text; the window may hear of a change after the bar.
void AnswerBar::changeEvent(QEvent* e) {
    QWidget::changeEvent(e);
    if (e->type() == QEvent::PaletteChange) QMetaObject::invokeMethod(this, &AnswerBar::refresh, Qt::QueuedConnection);
}

// What leads to its field, where the editor has one.
QString AnswerBar::place_html(const Session& session, const QString& place) const {
    QString name = QStringLiteral("<b>%1</b>").arg(place.toHtmlEscaped());
    if (!is_of_a_field(session.document, place)) return name;
    return QStringLiteral("<a href=\"%1\" style=\"color:%2\">%3</a>").arg(place.toHtmlEscaped(), look_of(*this).bad.name(), name);
}

void AnswerBar::show_problems(const Session& session) {
    banner_->setVisible(session.state == AnswerState::refused);
    QStringList lines;
    for (const Diagnostic& d : session.problems) {
        const QString place = path_of_pointer(d.pointer);
        lines += (place.isEmpty() ? QString() : place_html(session, place) + QStringLiteral(": ")) + sentence(d).toHtmlEscaped();
        if (lines.size() == 4) break;
    }
    const auto more = static_cast<int>(session.problems.size()) - static_cast<int>(lines.size());
    if (more > 0) lines += tr("and %n more", nullptr, more);
    if (session.answer) lines += tr("<i>Shown is the last plan that can be.</i>");
    problems_->setText(lines.join(QStringLiteral("<br>")));
}

}  // namespace sextant::gui
