// sextant-gui: reads its arguments, and opens the window or draws it into a file.
#include "gui/jobs/simulator.hpp"
#include "gui/screenshot.hpp"
#include "gui/views/paint/look.hpp"
#include "gui/views/window/main_window.hpp"
#include "model/base/failure.hpp"

#include <QApplication>
#include <QFontDatabase>
#include <QFontInfo>
#include <QScreen>
#include <QSettings>
#include <QThreadPool>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <vector>

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

// Everything is drawn larger where the desktop has larger letters. Qt is told before there is an application, so that another one has to
// ask. Returns whether it was told.
bool enlarge(int argc, char** argv) {
    if (is_set("QT_SCALE_FACTOR")) return false;
    std::vector<char*> arguments(argv, argv + argc + 1);  // Qt takes its own out of them
    const QGuiApplication desktop(argc, arguments.data());
    const QScreen* screen = QGuiApplication::primaryScreen();
    if (!screen) return false;
    const double letters = QFontInfo(QFontDatabase::systemFont(QFontDatabase::GeneralFont)).pixelSize();
    return qputenv("QT_SCALE_FACTOR", QByteArray::number(enlargement(letters, screen->availableSize())));
}

int open_window(const CommandLine& options) {
    // Searches and simulations hold a thread for long: small jobs must not wait for them.
    QThreadPool::globalInstance()->setMaxThreadCount(std::max(8, QThread::idealThreadCount()));
    Workbench workbench;
    Selection selection;
    Predictor predictor(workbench);
    const Simulator simulator(workbench);
    const bool dark = options.dark || QSettings().value(QStringLiteral("window/dark"), is_dark(QApplication::palette())).toBool();
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
    const bool enlarged = enlarge(argc, argv);
    QApplication application(argc, argv);
    if (enlarged) qunsetenv("QT_SCALE_FACTOR");  // no matter of the programs that it starts
    QApplication::setOrganizationName(QStringLiteral("sextant"));
    QApplication::setApplicationName(QStringLiteral("sextant-gui"));
    QApplication::setApplicationVersion(QStringLiteral(SEXTANT_VERSION));
    return options.screenshot ? take_screenshot(options) : open_window(options);
}
