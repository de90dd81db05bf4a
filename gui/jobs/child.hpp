// A program run as a child: it lives no longer than the window, what it says is heard line by line, and it can be stopped with all that it
// started. Whatever becomes of it, the window goes on.
#pragma once

#include <QObject>
#include <QProcess>
#include <QTimer>

namespace sextant::gui {

// How a child ended.
struct ChildEnd {
    int code = 0;
    bool stopped = false;  // because it was asked to
    QString problem{};     // in a sentence; empty where all went well
};

class Child : public QObject {
    Q_OBJECT

public:
    explicit Child(QObject* parent = nullptr);
    ~Child() override;

    // `program`: its name beside this one, or a path.
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
    QByteArray rest_of_out_, rest_of_err_;  // lines that are not complete yet
    QString last_said_;
    QTimer patience_;  // until one that was asked to stop is killed
    bool stopped_ = false;
};

}  // namespace sextant::gui
