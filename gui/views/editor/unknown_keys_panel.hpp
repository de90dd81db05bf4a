// Keys of a document that the reader does not know. They can be removed.
#pragma once

#include "gui/models/workbench.hpp"

#include <QWidget>

class QVBoxLayout;

namespace sextant::gui {

class UnknownKeysPanel : public QWidget {
    Q_OBJECT

public:
    explicit UnknownKeysPanel(Workbench&);
    void show_session(const Session&);

private:
    void add_row(const Diagnostic&);

    Workbench& workbench_;
    QVBoxLayout* rows_;
    std::vector<Diagnostic> shown_;
};

}  // namespace sextant::gui
