// Shows the progress and the output of a child process, with a button that stops it. The button that starts it is disabled meanwhile, and
// the focus of the keyboard goes from the one to the other and back.
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
    ChildPanel(Child&, QPushButton& start, const QString& name);
    void say(const QString& what, bool is_wrong = false);

private:
    void make_progress(const QString& name);
    void make_log(const QString& name);
    void follow(Child&);
    [[nodiscard]] bool has_focus(const QPushButton&) const;  // or would have, were its window the active one

    QWidget* progress_;
    QProgressBar* bar_;
    QPushButton &start_, *stop_;
    bool stop_had_focus_ = false;  // when it was pressed
    QLabel *note_, *said_;
    QPlainTextEdit* log_;
};

}  // namespace sextant::gui
