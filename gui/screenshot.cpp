#include "gui/screenshot.hpp"

#include "gui/jobs/simulator.hpp"
#include "gui/models/timeline/timeline.hpp"
#include "gui/views/window/main_window.hpp"
#include "model/base/failure.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/format/separate_files.hpp"

#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>
#include <QThreadPool>

#include <iostream>

namespace sextant::gui {
namespace {

// What fills a view later: lists, the simulation, and what is made of it.
void finish_background_work(const Workbench& workbench) {
    constexpr int most_in_turn = 8;
    for (int i = 0; i < most_in_turn; ++i) {
        QApplication::processEvents();
        while (workbench.session()->state == AnswerState::pending) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
        QThreadPool::globalInstance()->waitForDone();
    }
    QApplication::processEvents();
}

}  // namespace

int take_screenshot(const CommandLine& options) {
    const QTemporaryDir settings;  // none of the user's, and none are left
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, settings.path());
    Workbench workbench;
    Selection selection;
    try {
        Library library = open_library();
        auto session = std::make_shared<const Session>(answered(library, question_in(library, options.scenario->toStdString())));
        if (!session->answer) throw InputError(session->problems);
        if (options.run) library.files.insert(options.run->toStdString());
        check_apart({options.screenshot->toStdString()}, library.files);
        if (options.run) {
            Session with_run = *session;
            with_run.measured = std::make_shared<const Measured>(read_measurement(options.run->toStdString()));
            session = std::make_shared<const Session>(std::move(with_run));
        }
        Predictor predictor(workbench);
        const Simulator simulator(workbench);
        MainWindow window(workbench, selection, predictor, options.dark);
        workbench.open(session);
        QApplication::processEvents();  // the window shows its first view, and then the one that is asked for
        if (options.size) window.resize(*options.size);
        window.setAttribute(Qt::WA_DontShowOnScreen);
        window.show();
        if (!options.view.empty()) {
            window.show_view(options.view);
            window.view(options.view).begin();
        }
        finish_background_work(workbench);
        replace_file(options.screenshot->toStdString(), [&](const std::filesystem::path& aside) {
            if (!window.grab().save(QString::fromStdString(aside.string()), "PNG"))
                throw BackendError("cannot write " + options.screenshot->toStdString());
        });
        return 0;
    } catch (...) {
        const Failure failure = failure_of(std::current_exception());
        std::cerr << to_text(failure) << '\n';
        return static_cast<int>(failure.code);
    }
}

}  // namespace sextant::gui
