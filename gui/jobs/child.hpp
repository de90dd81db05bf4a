// Runs a program as a child process and reads its output line by line. The child can be stopped with all that it started, and ends with the
// window at the latest. The window goes on however the child ends.
#pragma once

#include <QObject>
#include <QProcess>
#include <QTimer>

namespace sextant::gui {

// How a child ended.
struct ChildEnd {
    int code = 0;
    bool stopped = false;  // it was asked to stop
    QString problem{};     // a sentence; empty where all went well
};

class Child : public QObject {
    Q_OBJECT

public:
    explicit Child(QObject* parent = nullptr);
    ~Child() override;

    // `program`: the name of a program in the folder of this one, or a path.
    void start(const QString& program, const QStringList& arguments);
    void stop();
    [[nodiscard]] bool is_running() const { return process_.state() != QProcess::NotRunning; }

signals:
    void began();
    void said(const QString& line);
    void progressed(int done, int total, const QString& what);  // "progress 3 of 10: training"
    void ended(const sextant::gui::ChildEnd&);

private:
    void hear(QByteArray& rest, const QByteArray& more);
    void take_line(const QString& line);
    void end(const QString& problem);

    QProcess process_;
    QByteArray rest_of_out_, rest_of_err_;  // the last lines, which are not complete yet
    QString last_said_;
    QTimer kill_timer_;  // runs after the child was asked to stop; then it is killed
    bool stopped_ = false;
};

}  // namespace sextant::gui
