// Widgets beside one another where there is room, and else below one another.
#pragma once

#include <QWidget>

#include <vector>

class QGridLayout;

namespace sextant::gui {

class SideBySide : public QWidget {
    Q_OBJECT

public:
    // They share the room evenly, or as their policies ask for stretch. `needed`: the width from which on they stand in one row. Where
    // there is less, half of them do, and so on.
    SideBySide(std::vector<QWidget*>, int needed);

    // As if they stood below one another: they can.
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
