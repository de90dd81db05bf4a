// Widgets beside one another where there is room, and else below one another.
#pragma once

#include <QWidget>

class QBoxLayout;

namespace sextant::gui {

class SideBySide : public QWidget {
    Q_OBJECT

public:
    // `needed`: the width from which on they stand side by side.
    SideBySide(std::initializer_list<QWidget*>, int needed);

protected:
    void resizeEvent(QResizeEvent*) override;

private:
    QBoxLayout* row_;
    int needed_;
};

}  // namespace sextant::gui
