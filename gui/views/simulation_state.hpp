// Says, above a view of the simulation, that it is under way, was stopped, or is not possible. Says nothing when it is there, or so fast
// that nobody would notice: while a slider is dragged, it runs many times a second.
#pragma once

#include "gui/models/workbench.hpp"

#include <QFrame>

class QLabel;
class QPushButton;

namespace sextant::gui {

class SimulationState : public QFrame {
    Q_OBJECT

public:
    explicit SimulationState(Workbench&);
    void show_state(const Session&);

signals:
    void told(bool);  // something is: what the view shows is of another plan

private:
    void tell(bool);
    void show_progress(double played);
    void turn();

    Workbench& workbench_;
    QLabel* text_;
    QPushButton* button_;
    bool stopped_ = false;
};

}  // namespace sextant::gui
