// Says, above a view that shows the simulation, that it is under way, was stopped, or cannot be; nothing where it is there, and nothing as
// long as nobody would notice: a slider that is dragged has it played many times a second.
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
