// Calibrates this machine by `sextant calibrate`, and takes the profile that comes out for the scenario.
#pragma once

#include "gui/jobs/child.hpp"
#include "gui/models/workbench.hpp"
#include "gui/views/paint/card.hpp"

class QCheckBox;
class QLineEdit;
class QPushButton;

namespace sextant::gui {

class ChildPanel;

class CalibrationCard : public Card {
public:
    explicit CalibrationCard(Workbench&);
    [[nodiscard]] bool is_running() const { return calibration_.is_running(); }

private:
    void make_choices();
    [[nodiscard]] QString profile_path() const;
    void calibrate();
    void end(const ChildEnd&);

    Workbench& workbench_;
    QLineEdit* profile_;
    QPushButton *calibrate_, *use_;
    QCheckBox* quick_;
    ChildPanel* panel_;
    Child calibration_;
};

}  // namespace sextant::gui
