// How long the thread of the window is busy at a time: at start, while a what-if slider is dragged over a scenario and while each view is
// exported, and over a timeline of ten million spans. What keeps it longer than a frame or two is felt. Without a display: what a
// compositor adds is not in it.
//
// An event's time is that of the clock without what the thread spent in the queue for a processor (/proc/thread-self/schedstat): so it is
// what the window takes, computing or waiting, however busy the machine is with something else. Processor time and time of the clock
// stand beside it.
//
//     sextant_gui_responsiveness [SCENARIO]
#include "bench/long_trace.hpp"
#include "gui/jobs/background.hpp"
#include "gui/jobs/simulator.hpp"
#include "gui/views/export.hpp"
#include "gui/views/timeline/canvas.hpp"
#include "gui/views/view_list.hpp"
#include "gui/views/window/main_window.hpp"

#include <QApplication>
#include <QCheckBox>
#include <QElapsedTimer>
#include <QKeyEvent>
#include <QLineEdit>
#include <QSettings>
#include <QSlider>
#include <QTemporaryDir>
#include <QThreadPool>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <vector>

#include <ctime>

#include <fcntl.h>
#include <unistd.h>

namespace {

using namespace sextant;
using namespace sextant::gui;

constexpr double limit_ms = 50;

double read_ms(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e6;
}

// That this thread was ready to run and did not.
double queued_ms() {
    static const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    char text[128] = {};
    unsigned long long ran = 0, queued = 0;
    if (pread(file, text, sizeof text - 1, 0) <= 0 || std::sscanf(text, "%llu %llu", &ran, &queued) != 2) return 0;
    return static_cast<double>(queued) / 1e6;
}

struct Busy {
    double own = 0, processor = 0, wall = 0;  // milliseconds
};

class Stopwatch {
public:
    [[nodiscard]] Busy read() const {
        const double wall = read_ms(CLOCK_MONOTONIC) - wall_;
        return {std::max(0.0, wall - (queued_ms() - queued_)), read_ms(CLOCK_THREAD_CPUTIME_ID) - processor_, wall};
    }

private:
    double queued_ = queued_ms(), processor_ = read_ms(CLOCK_THREAD_CPUTIME_ID), wall_ = read_ms(CLOCK_MONOTONIC);
};

// Times every event that the loop hands out, with all that it brings about.
class TimedApplication : public QApplication {
public:
    using QApplication::QApplication;

    // Of the longest event since this was asked last.
    Busy take_longest() { return std::exchange(longest_, {}); }

    template <class Work>
    void time(const Work& work) {
        const bool outermost = !std::exchange(inside_, true);
        const Stopwatch watch;
        work();
        if (!outermost) return;
        inside_ = false;
        if (const Busy busy = watch.read(); busy.own > longest_.own) longest_ = busy;
    }

    bool notify(QObject* to, QEvent* event) override {
        bool taken = false;
        time([&] { taken = QApplication::notify(to, event); });
        return taken;
    }

private:
    bool inside_ = false;
    Busy longest_;
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
        while (!QThreadPool::globalInstance()->waitForDone(5)) QApplication::processEvents();
        QApplication::processEvents();
        while ((workbench.session() && workbench.session()->state == AnswerState::pending) || simulator.is_running())
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
        application.time([&] { slider.setValue(slider.value() + (i % 2 == 0 ? 3 : -3)); });
        while (workbench.session()->state == AnswerState::pending) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
        QApplication::processEvents();
        until_shown.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
    }
    std::ranges::sort(until_shown);
    return until_shown[until_shown.size() / 2];
}

// As a picture: the view is made, and recorded in another event; pixels are left to another thread.
void export_view(TimedApplication& application, MainWindow& window, Workbench& workbench, Selection& selection, const ViewInfo& info) {
    bool done = false;
    const auto draw = [&done](const Drawing& drawing) {
        QThreadPool::globalInstance()->start([drawing] { [[maybe_unused]] const QImage image = image_of(drawing); });
        done = true;
    };
    application.time([&] { draw_page(window, info, workbench, selection, draw); });
    while (!done) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

void press(QWidget& widget, Qt::Key key) {
    QKeyEvent pressed(QEvent::KeyPress, key, Qt::NoModifier);
    QApplication::sendEvent(&widget, &pressed);
    QApplication::processEvents();
}

// Opened as a run that was traced would be, looked over, and left.
void look_at_ten_million_spans(TimedApplication& application, Workbench& workbench, const Simulator& simulator, MainWindow& window,
                               const std::function<void(const char*)>& tell) {
    window.show_view("timeline");
    settle(workbench, simulator);
    application.take_longest();
    auto measured = freed_in_background(Measured{"long.h5", nullptr, lay_out(long_trace(10'000'000))});
    application.time([&] { workbench.add(*workbench.session(), [&](Session& s) { s.measured = std::exchange(measured, nullptr); }); });
    settle(workbench, simulator);
    tell("opening");
    auto& canvas = *window.findChild<TimelineCanvas*>(QStringLiteral("timeline"));
    for (const Qt::Key key : {Qt::Key_W, Qt::Key_W, Qt::Key_D, Qt::Key_Down, Qt::Key_S, Qt::Key_F, Qt::Key_W, Qt::Key_A})
        press(canvas, key);
    tell("looking");
    application.time([&] { canvas.choose(ChosenSpan{Origin::measured, 5'000'000}); });
    settle(workbench, simulator);
    for (const Qt::Key key : {Qt::Key_Period, Qt::Key_R, Qt::Key_BracketLeft}) press(canvas, key);
    settle(workbench, simulator);
    tell("choosing");
    application.time([&] { window.findChild<QCheckBox*>(QStringLiteral("critical_path"))->setChecked(true); });
    press(canvas, Qt::Key_F);
    tell("its path");
    application.time([&] { window.findChild<QLineEdit*>(QStringLiteral("timeline_search"))->setText(QStringLiteral("forward")); });
    settle(workbench, simulator);
    tell("searching");
    application.time([&] { workbench.add(*workbench.session(), [](Session& s) { s.measured = nullptr; }); });
    settle(workbench, simulator);
    tell("leaving");
}

}  // namespace

int main(int argc, char** argv) {
    setenv("QT_QPA_PLATFORM", "offscreen", 0);
    qInstallMessageHandler([](QtMsgType, const QMessageLogContext&, const QString&) {});  // of what a window lacks that nobody sees
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
    application.take_longest();
    predictor.open(scenario);
    while (!workbench.session()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    settle(workbench, simulator);
    bool all_within = true;
    const auto tell = [&](const Busy& busy) {
        all_within = all_within && busy.own <= limit_ms;
        std::printf("%8.1f %9.1f %8.1f", busy.own, busy.processor, busy.wall);
    };
    std::printf("the longest event, in ms: its own time, of that the processor's, and by the clock\n");
    std::printf("%-12s   when shown                       dragged                    until it shows    exported\n", "");
    std::printf("%-12s", "opening");
    tell(application.take_longest());
    std::printf("   %s\n", scenario.c_str());
    auto& slider = *window.findChild<QSlider*>(QStringLiteral("what_if.compute"));
    for (const ViewInfo& info : all_views()) {
        application.time([&] { window.show_view(info.name); });
        if (info.place == Place::centre) application.time([&] { window.view(info.name).begin(); });
        settle(workbench, simulator);
        std::printf("%-12s", info.name.c_str());
        tell(application.take_longest());
        const double median = drag(application, workbench, slider);
        settle(workbench, simulator);
        std::printf("   ");
        tell(application.take_longest());
        std::printf("   %8.1f   ", median);
        if (info.place == Place::centre) {  // what stands at the side no menu exports
            export_view(application, window, workbench, selection, info);
            settle(workbench, simulator);
            tell(application.take_longest());
        }
        std::printf("\n");
    }
    std::printf("a timeline of ten million spans\n");
    look_at_ten_million_spans(application, workbench, simulator, window, [&](const char* what) {
        std::printf("%-12s", what);
        tell(application.take_longest());
        std::printf("\n");
    });
    std::printf(all_within ? "nothing took longer than %.0f ms\n" : "something took longer than %.0f ms\n", limit_ms);
    return all_within ? 0 : 1;
}
