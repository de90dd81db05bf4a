// Other settings of the plan that a report recommends, a line each with what it gains and a button that makes it.
#pragma once

#include "gui/models/suggestions.hpp"

#include <QWidget>

class QGridLayout;
class QLabel;
class QPushButton;

namespace sextant::gui {

class SuggestionRows : public QWidget {
    Q_OBJECT

public:
    SuggestionRows();
    void show_suggestions(std::vector<Suggestion>);

signals:
    void applied(const sextant::gui::Suggestion&);

private:
    struct Line {
        QLabel *change, *step, *gain;
        QPushButton* apply;
    };
    void add_line();

    QGridLayout* grid_;
    QLabel* heading_;
    std::vector<Line> lines_;  // kept, and hidden where there are fewer: an answer comes with every move of a slider
    std::vector<Suggestion> shown_;
};

}  // namespace sextant::gui
