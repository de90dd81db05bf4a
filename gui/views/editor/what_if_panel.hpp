// Sliders for the speed of each resource, from an eighth to eight times. They change the answer, not the document.
#pragma once

#include "gui/models/workbench.hpp"

#include <QWidget>

#include <vector>

class QLabel;
class QSlider;

namespace sextant::gui {

class WhatIfPanel : public QWidget {
    Q_OBJECT

public:
    explicit WhatIfPanel(Workbench&);
    void show_session(const Session&);

private:
    struct Row {
        double Resources::*resource;
        QSlider* slider;
        QLabel* value;
    };
    void add_row(const QString& name, const QString& tip, const char* object_name, double Resources::*);

    Workbench& workbench_;
    std::vector<Row> rows_;
    int gesture_ = 0;
};

}  // namespace sextant::gui
