#include "gui/views/simulation_state.hpp"

#include "gui/models/simulated.hpp"
#include "gui/models/text.hpp"
#include "gui/views/paint/card.hpp"

#include <QHBoxLayout>
#include <QPushButton>

namespace sextant::gui {

SimulationState::SimulationState(Workbench& workbench) : workbench_(workbench) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    text_ = text_label(Type::body, "faint");
    text_->setObjectName(QStringLiteral("simulation_state"));
    button_ = new QPushButton;
    row->addWidget(text_, 1);
    row->addWidget(button_);
    connect(button_, &QPushButton::clicked, this, &SimulationState::turn);
    connect(&workbench, &Workbench::simulating, this, &SimulationState::show_progress);
}

void SimulationState::show_state(const Session& session) {
    const auto& simulated = session.simulated;
    const bool what_if = !is_neutral(session.what_if);
    stopped_ = false;
    setVisible(!simulated || !simulated->report || what_if);
    button_->setVisible(!simulated && session.state != AnswerState::refused);
    if (!simulated && session.state == AnswerState::refused) return text_->setText(tr("Shown is the last plan that can be."));
    if (!simulated) return show_progress(0);
    if (simulated->report) return text_->setText(tr("Played without the what-if."));
    QStringList lines;
    for (const Diagnostic& d : simulated->problems) lines += sentence(d).toHtmlEscaped();
    text_->setText(lines.join(QStringLiteral("<br>")));
}

void SimulationState::show_progress(double played) {
    text_->setText(tr("Playing the step event by event\u2026 %1").arg(played > 0 ? percent(played) : QString()));
    button_->setText(tr("Stop"));
}

void SimulationState::turn() {
    stopped_ = !stopped_;
    if (!stopped_) {
        workbench_.want_simulation();
        return show_progress(0);
    }
    workbench_.stop_simulation();
    text_->setText(tr("Stopped: what is shown is not of this plan."));
    button_->setText(tr("Play"));
}

}  // namespace sextant::gui
