// Looks for spans by words of their names, and goes from one to the next.
#pragma once

#include "gui/models/timeline/timeline.hpp"

#include <QWidget>

#include <vector>

class QLabel;
class QLineEdit;

namespace sextant::gui {

class SearchBar : public QWidget {
    Q_OBJECT

public:
    SearchBar();

    void look_in(std::shared_ptr<const Trace>);
    // From where the next one is looked for.
    void set_place(std::optional<SpanIndex> place) { place_ = place; }
    void begin();  // with the keyboard

signals:
    void found(sextant::SpanIndex);

private:
    void search();
    void show_result(std::vector<SpanIndex>);
    void go(int step);

    std::shared_ptr<const Trace> trace_;
    std::vector<SpanIndex> found_;
    std::optional<SpanIndex> place_;
    int searches_ = 0;
    QLineEdit* words_;
    QLabel* count_;
};

}  // namespace sextant::gui
