// The bar above every view: what is open, and how fast it is. Below it, why the edited scenario has no answer.
#pragma once

#include "gui/models/workbench.hpp"

#include <QFrame>

class QBoxLayout;
class QLabel;

namespace sextant::gui {

class AnswerBar : public QWidget {
    Q_OBJECT

public:
    explicit AnswerBar(Workbench&);

protected:
    void resizeEvent(QResizeEvent*) override;
    void changeEvent(QEvent*) override;

private:
    void make_bar();
    void make_banner();
    void refresh();
    void show_problems(const Session&);
    [[nodiscard]] QString place_html(const Session&, const QString& place) const;

    Workbench& workbench_;
    QBoxLayout* row_;
    QFrame *bar_, *banner_;
    QLabel *name_, *plan_, *step_, *speed_, *memory_, *problems_;
};

}  // namespace sextant::gui
