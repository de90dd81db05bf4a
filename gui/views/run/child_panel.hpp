// Shows the progress and the output of a child process, with a button that stops it.
#pragma once

#include "gui/jobs/child.hpp"

#include <QWidget>

class QLabel;
class QPlainTextEdit;
class QProgressBar;
class QPushButton;

namespace sextant::gui {

class ChildPanel : public QWidget {
    Q_OBJECT

public:
    // `name`: before the names of its parts: "run" makes "run.stop", "run.log", "run.said".
    ChildPanel(Child&, const QString& name);
    void say(const QString& what, bool is_wrong = false);

private:
    void make_progress(const QString& name);
    void make_log(const QString& name);
    void follow(Child&);

    QWidget* progress_;
    QProgressBar* bar_;
    QPushButton* stop_;
    QLabel *note_, *said_;
    QPlainTextEdit* log_;
};

}  // namespace sextant::gui
