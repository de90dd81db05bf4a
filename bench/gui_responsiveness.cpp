// How long the thread of the window is busy at a time: at start, and while a what-if slider is dragged over a scenario, view by view. What
// keeps it longer than a frame or two is felt. Without a display: what a compositor adds is not in it.
//
//     gui_responsiveness [SCENARIO]
#include "gui/jobs/simulator.hpp"
#include "gui/views/view_list.hpp"
#include "gui/views/window/main_window.hpp"

#include <QApplication>
#include <QElapsedTimer>
#include <QSettings>
#include <QSlider>
#include <QTemporaryDir>
#include <QThreadPool>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <vector>

#include <unistd.h>

namespace {

using namespace sextant;
using namespace sextant::gui;

constexpr double limit_ms = 50;

// Times every event that the loop hands out, with all that it brings about.
class TimedApplication : public QApplication {
public:
    using QApplication::QApplication;
    double longest_ms = 0;

    bool notify(QObject* to, QEvent* event) override {
        const bool outermost = std::exchange(inside_, true) == false;
        QElapsedTimer clock;
        clock.start();
        const bool taken = QApplication::notify(to, event);
        if (outermost) {
            longest_ms = std::max(longest_ms, static_cast<double>(clock.nsecsElapsed()) / 1e6);
            inside_ = false;
        }
        return taken;
    }

private:
    bool inside_ = false;
};

double since_the_process_began_ms() {
    std::ifstream stat("/proc/self/stat");
    std::string field;
    constexpr int start_time = 22;
    for (int i = 0; i < start_time; ++i) stat >> field;
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    return 1e3 * (static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9 - std::stod(field) / ticks);
}

void settle(const Workbench& workbench, const Simulator& simulator) {
    constexpr int turns = 4;
    for (int i = 0; i < turns; ++i) {
        QThreadPool::globalInstance()->waitForDone();
        QApplication::processEvents();
        while ((workbench.session() && workbench.session()->state == AnswerState::pending) || simulator.is_at_work())
            QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
}

// From a move of the slider until every view shows what follows.
double drag(TimedApplication& application, Workbench& workbench, QSlider& slider) {
    constexpr int moves = 24;
    std::vector<double> until_shown;
    for (int i = 0; i < moves; ++i) {
        QElapsedTimer clock;
        clock.start();
        slider.setValue(slider.value() + (i % 2 == 0 ? 3 : -3));
        application.longest_ms = std::max(application.longest_ms, static_cast<double>(clock.nsecsElapsed()) / 1e6);
        while (workbench.session()->state == AnswerState::pending) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
        QApplication::processEvents();
        until_shown.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
    }
    std::ranges::sort(until_shown);
    return until_shown[until_shown.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    setenv("QT_QPA_PLATFORM", "offscreen", 0);
    TimedApplication application(argc, argv);
    const QTemporaryDir settings;
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, settings.path());
    QThreadPool::globalInstance()->setMaxThreadCount(8);
    Workbench workbench;
    Selection selection;
    Predictor predictor(workbench);
    const Simulator simulator(workbench);
    MainWindow window(workbench, selection, predictor, false);
    window.show();
    QApplication::processEvents();
    std::printf("a window to use after %.0f ms of the process\n", since_the_process_began_ms());
    settle(workbench, simulator);

    const std::string scenario = argc > 1 ? argv[1] : SEXTANT_SOURCE_DIR "/scenarios/llama-3.1-405b-16384xh100.json";
    application.longest_ms = 0;
    predictor.open(scenario);
    while (!workbench.session()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    settle(workbench, simulator);
    std::printf("opening %s: longest %.1f ms\n", scenario.c_str(), application.longest_ms);
    std::printf("%-12s %14s %16s %16s\n", "view", "shown, longest", "dragged, longest", "until it shows");
    auto& slider = *window.findChild<QSlider*>(QStringLiteral("what_if.compute"));
    bool all_within = true;
    for (const ViewInfo& info : all_views()) {
        application.longest_ms = 0;
        QElapsedTimer clock;
        clock.start();
        window.show_view(info.name);
        application.longest_ms = std::max(application.longest_ms, static_cast<double>(clock.nsecsElapsed()) / 1e6);
        settle(workbench, simulator);
        const double shown = application.longest_ms;
        application.longest_ms = 0;
        const double median = drag(application, workbench, slider);
        std::printf("%-12s %11.1f ms %13.1f ms %13.1f ms\n", info.name.c_str(), shown, application.longest_ms, median);
        all_within = all_within && shown <= limit_ms && application.longest_ms <= limit_ms;
    }
    std::printf(all_within ? "nothing took longer than %.0f ms\n" : "something took longer than %.0f ms\n", limit_ms);
    return all_within ? 0 : 1;
}
