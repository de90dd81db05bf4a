// The four figures at the top of the summary.
#pragma once

#include "gui/views/paint/card.hpp"
#include "gui/views/paint/chart.hpp"

#include "gui/models/session.hpp"

namespace sextant::gui {

// A large number, a line below it, and optionally a small picture.
class FigureCard : public Card {
    Q_OBJECT

public:
    FigureCard(const QString& heading, const QString& tip);
    void set_figure(const QString& value, const QString& unit);
    void set_lines(const QString& lines);
    [[nodiscard]] ChartWidget& chart() const { return *chart_; }
    [[nodiscard]] QLabel& figure() const { return *figure_; }

private:
    QLabel *figure_, *lines_;
    ChartWidget* chart_;
};

class Figures : public QWidget {
    Q_OBJECT

public:
    Figures();
    void show_answer(const Session&, const Answer&);

private:
    FigureCard *step_, *throughput_, *memory_, *efficiency_;
};

}  // namespace sextant::gui
