// A picture painted from values, with the same code on the screen and in PNG, SVG and PDF.
#pragma once

#include "gui/views/paint/look.hpp"

#include <QPainter>
#include <QString>
#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

namespace sextant::gui {

// A part of a picture that has a tooltip and can be chosen.
struct Hit {
    QRectF area;
    int key = 0;  // what the picture shows there, in its own words: a Term, a stage
    QString tip;
    bool can_be_chosen = true;
};

class Chart {
public:
    Chart() = default;
    Chart(const Chart&) = delete;
    Chart& operator=(const Chart&) = delete;
    virtual ~Chart() = default;

    [[nodiscard]] virtual double height_for(double width) const = 0;
    // `emphasized`: the key of what is chosen.
    virtual std::vector<Hit> paint(QPainter&, const QRectF& area, const Look&, std::optional<int> emphasized) const = 0;
};

// Shows a chart. The pointer and the arrow keys move from part to part and show its tooltip. A part can be chosen, and activated by Enter.
class ChartWidget : public QWidget {
    Q_OBJECT

public:
    // `name`: of what it shows, for screen readers.
    explicit ChartWidget(const QString& name);

    void show_chart(std::shared_ptr<const Chart>);
    void emphasize(std::optional<int> key);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] bool hasHeightForWidth() const override { return true; }
    [[nodiscard]] int heightForWidth(int width) const override;

signals:
    void chosen(int key);
    void activated(int key);  // by a double click or Enter

protected:
    void paintEvent(QPaintEvent*) override;
    void resizeEvent(QResizeEvent*) override;
    void mousePressEvent(QMouseEvent*) override;
    void mouseDoubleClickEvent(QMouseEvent*) override;
    void mouseMoveEvent(QMouseEvent*) override;
    void keyPressEvent(QKeyEvent*) override;
    bool event(QEvent*) override;

private:
    [[nodiscard]] const Hit* hit_at(QPointF) const;
    void point_at(const Hit&);
    void move_pointer(int step);

    std::shared_ptr<const Chart> chart_;
    std::optional<int> emphasized_;
    std::vector<Hit> hits_;          // of the last painting
    std::optional<QRectF> pointed_;  // of the part that the arrow keys are at
};

}  // namespace sextant::gui
