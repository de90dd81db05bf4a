// The selected plan: its settings, its results, and buttons for what can be done with it.
#pragma once

#include "gui/models/plan_findings.hpp"

#include <QWidget>

class QCheckBox;
class QLabel;
class QPushButton;

namespace sextant::gui {

class PlanDetails : public QWidget {
    Q_OBJECT

public:
    PlanDetails();
    // `open`: which of the plans the scenario has now.
    void show_plan(const PlanFindings&, std::size_t plan, bool is_beside, std::optional<std::size_t> open);

signals:
    void wants_to_open();
    void beside(bool on);

private:
    QLabel *name_, *plan_, *figures_;
    QPushButton* open_;
    QCheckBox* beside_;
};

}  // namespace sextant::gui
