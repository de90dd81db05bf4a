// A table that is as high as all of its rows: the page that it stands on scrolls.
#pragma once

#include <QTableView>
#include <QWheelEvent>

#include <optional>
#include <utility>

namespace sextant::gui {

class WholeTable : public QTableView {
    Q_OBJECT

public:
    enum class Room { last, shared };  // which columns take the room that is left
    explicit WholeTable(QAbstractItemModel&, Room = Room::last);
    // A column that is so wide, whatever it holds.
    void fix(int column, int width);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override { return {200, sizeHint().height()}; }

protected:
    void resizeEvent(QResizeEvent*) override;
    void wheelEvent(QWheelEvent* e) override { e->ignore(); }

private:
    void fit();
    Room room_;
    std::optional<std::pair<int, int>> fixed_;
};

}  // namespace sextant::gui
