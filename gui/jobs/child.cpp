#include "gui/jobs/child.hpp"

#include <QCoreApplication>
#include <QDir>
#include <QRegularExpression>

#include <csignal>

#include <sys/prctl.h>

namespace sextant::gui {
namespace {

constexpr int kill_after_ms = 15'000;  // the ranks of a run are gone ten seconds after they were asked to

}  // namespace

Child::Child(QObject* parent) : QObject(parent) {
    // Should the window be killed, the child ends what it started.
    process_.setChildProcessModifier([] { ::prctl(PR_SET_PDEATHSIG, SIGTERM); });
    process_.setStandardInputFile(QProcess::nullDevice());
    kill_timer_.setSingleShot(true);
    kill_timer_.setInterval(kill_after_ms);
    connect(&kill_timer_, &QTimer::timeout, &process_, &QProcess::kill);
    connect(&process_, &QProcess::readyReadStandardOutput, this, [this] { hear(rest_of_out_, process_.readAllStandardOutput()); });
    connect(&process_, &QProcess::readyReadStandardError, this, [this] { hear(rest_of_err_, process_.readAllStandardError()); });
    connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) end(tr("%1 cannot be started: %2").arg(process_.program(), process_.errorString()));
    });
    connect(&process_, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
        hear(rest_of_err_, process_.readAllStandardError());
        const QString because = last_said_.isEmpty() ? QString() : QStringLiteral(": ") + last_said_;
        if (stopped_ || (status == QProcess::NormalExit && code == 0)) return end({});
        end(status == QProcess::CrashExit ? tr("It crashed%1").arg(because) : tr("It ended with code %1%2").arg(code).arg(because));
    });
}

Child::~Child() {
    disconnect(&process_, nullptr, this, nullptr);
    if (!is_running()) return;
    process_.terminate();
    if (!process_.waitForFinished(2000)) process_.kill();
}

void Child::start(const QString& program, const QStringList& arguments) {
    if (is_running()) return;
    stopped_ = false;
    rest_of_out_.clear();
    rest_of_err_.clear();
    last_said_.clear();
    emit began();
    const QDir here(QCoreApplication::applicationDirPath());
    process_.start(QDir::isAbsolutePath(program) ? program : here.filePath(program), arguments);
}

void Child::stop() {
    if (!is_running()) return;
    stopped_ = true;
    process_.terminate();
    kill_timer_.start();
}

void Child::hear(QByteArray& rest, const QByteArray& more) {
    rest += more;
    for (qsizetype end = 0; (end = rest.indexOf('\n')) >= 0; rest.remove(0, end + 1))
        take_line(QString::fromUtf8(rest.left(end)).trimmed());
}

void Child::take_line(const QString& line) {
    static const QRegularExpression form(QStringLiteral("^progress (\\d+) of (\\d+): (.*)$"));
    if (const auto match = form.match(line); match.hasMatch())
        return emit progressed(match.captured(1).toInt(), match.captured(2).toInt(), match.captured(3));
    if (!line.isEmpty()) last_said_ = line;
    emit said(line);
}

void Child::end(const QString& problem) {
    kill_timer_.stop();
    for (QByteArray* rest : {&rest_of_out_, &rest_of_err_})
        if (!rest->isEmpty()) hear(*rest, "\n");
    emit ended({process_.exitCode(), stopped_, problem});
}

}  // namespace sextant::gui
