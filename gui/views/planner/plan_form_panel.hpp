// The question of a search as fields, with the problems beside them.
#pragma once

#include "gui/models/plan_form.hpp"

#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QSpinBox;

namespace sextant::gui {

class PlanFormPanel : public QWidget {
    Q_OBJECT

public:
    PlanFormPanel();

    void show_form(const PlanForm&);
    [[nodiscard]] PlanForm form() const;
    void show_problems(const PlanFormProblems&);

signals:
    void asked();  // by Enter in a field

private:
    struct Row {
        QLineEdit* line;
        QLabel* problem;
    };
    const Row& add(PlanFormField, const QString& label, const char* name, const QString& tip);

    QComboBox *objective_, *unit_;
    QSpinBox* top_;
    std::map<PlanFormField, Row> rows_;
};

}  // namespace sextant::gui
