// sextant-gui: reads its arguments, and opens the window or draws it into a file.
#include "gui/jobs/simulator.hpp"
#include "gui/screenshot.hpp"
#include "gui/views/window/main_window.hpp"
#include "model/base/failure.hpp"

#include <QApplication>
#include <QSettings>
#include <QThreadPool>

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace {

using namespace sextant::gui;
using sextant::ExitCode;

// Scripts clear a variable by making it empty.
bool is_set(const char* variable) {
    const char* value = std::getenv(variable);
    return value && *value;
}
bool has_display() { return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") || is_set("QT_QPA_PLATFORM"); }

// Qt warns of what does not matter here: no hints to a window manager, no folder of a session. Where it gives up, on a display that
// does not answer, it would abort.
void tell_failures_only(QtMsgType type, const QMessageLogContext&, const QString& text) {
    if (type == QtCriticalMsg || type == QtFatalMsg) std::cerr << "sextant-gui: " << text.toStdString() << '\n';
    if (type == QtFatalMsg) std::_Exit(static_cast<int>(ExitCode::machine_refused));
}

// Before there is an application, which needs a display: a parser asks one for the name of the program.
CommandLine command_line(int argc, char** argv) {
    const QCoreApplication program(argc, argv);
    return read_command_line(QStringList(argv, argv + argc));
}

int open_window(const CommandLine& options) {
    // Searches and simulations hold a thread for long: small jobs must not wait for them.
    QThreadPool::globalInstance()->setMaxThreadCount(std::max(8, QThread::idealThreadCount()));
    Workbench workbench;
    Selection selection;
    Predictor predictor(workbench);
    const Simulator simulator(workbench);
    const bool dark = options.dark || QSettings().value(QStringLiteral("window/dark")).toBool();
    MainWindow window(workbench, selection, predictor, dark);
    window.recall();
    if (options.size) window.setWindowState(Qt::WindowNoState), window.resize(*options.size);
    if (!options.view.empty()) window.show_view(options.view);
    if (options.scenario) window.files().open(*options.scenario);
    window.show();
    return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv) {
    const CommandLine options = command_line(argc, argv);
    if (options.answer) return std::cout << options.answer->toStdString(), 0;
    if (options.mistake)
        return std::cerr << "sextant-gui: " << options.mistake->toStdString() << '\n', static_cast<int>(sextant::ExitCode::wrong_input);
    if (options.screenshot && !is_set("QT_QPA_PLATFORM")) setenv("QT_QPA_PLATFORM", "offscreen", 1);
    qInstallMessageHandler(tell_failures_only);
    if (!options.screenshot && !has_display()) {
        std::cerr << "sextant-gui: there is no display; --screenshot draws without one\n";
        return static_cast<int>(sextant::ExitCode::machine_refused);
    }
    QApplication application(argc, argv);
    QApplication::setOrganizationName(QStringLiteral("sextant"));
    QApplication::setApplicationName(QStringLiteral("sextant-gui"));
    QApplication::setApplicationVersion(QStringLiteral(SEXTANT_VERSION));
    return options.screenshot ? take_screenshot(options) : open_window(options);
}
