// Widgets side by side where there is room, otherwise below one another.
#pragma once

#include <QWidget>

#include <vector>

class QGridLayout;

namespace sextant::gui {

class SideBySide : public QWidget {
    Q_OBJECT

public:
    // They share the width evenly, or as their size policies ask. `needed`: the least width for all in one row. Below it, half of them are
    // in a row, and so on.
    SideBySide(std::vector<QWidget*>, int needed);

    // The minimum with all of them below one another.
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void resizeEvent(QResizeEvent*) override;

private:
    void arrange(int columns);

    std::vector<QWidget*> widgets_;
    QGridLayout* grid_;
    int needed_, columns_ = 0;
};

}  // namespace sextant::gui
