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
    text_ = with_name("simulation_state", text_label(Type::body, "faint"));
    button_ = new QPushButton;
    row->addWidget(text_, 1);
    row->addWidget(button_);
    connect(button_, &QPushButton::clicked, this, &SimulationState::turn);
    connect(&workbench, &Workbench::simulating, this, &SimulationState::show_progress);
    hide();
}

void SimulationState::show_state(const Session& session) {
    const auto& simulated = session.simulated;
    stopped_ = false;
    if (!simulated && session.state != AnswerState::refused) return;  // under way: show_progress
    button_->hide();
    tell(!simulated || !simulated->report);
    if (!simulated) return text_->setText(tr("Shown is the last plan that can be."));
    QStringList lines;
    for (const Diagnostic& d : simulated->problems) lines += sentence(d).toHtmlEscaped();
    text_->setText(lines.join(QStringLiteral("<br>")));
}

void SimulationState::tell(bool something) {
    setVisible(something);
    emit told(something);
}

void SimulationState::show_progress(double played) {
    tell(true);
    button_->show();
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
