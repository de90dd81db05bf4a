#include "gui/screenshot.hpp"

#include "gui/views/window/main_window.hpp"
#include "model/io/replace_file.hpp"

#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>
#include <QThreadPool>

#include <iostream>

namespace sextant::gui {

int take_screenshot(const CommandLine& options) {
    const QTemporaryDir settings;  // none of the user's, and none are left
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, settings.path());
    Workbench workbench;
    Selection selection;
    try {
        Library library = open_library();
        auto session = std::make_shared<const Session>(answered(library, {.document = open_document(options.scenario->toStdString())}));
        if (!session->answer) throw InputError(session->problems);
        Predictor predictor(workbench);
        MainWindow window(workbench, selection, predictor, options.dark);
        workbench.open(session);
        window.resize(options.size);
        if (!options.view.empty()) window.show_view(options.view);
        window.setAttribute(Qt::WA_DontShowOnScreen);
        window.show();
        if (!options.view.empty()) window.view(options.view).begin();
        // Lists that fill later, searches, and what follows from them.
        do {
            QThreadPool::globalInstance()->waitForDone();
            QApplication::processEvents();
        } while (QThreadPool::globalInstance()->activeThreadCount() > 0 || workbench.session()->state == AnswerState::pending);
        constexpr int nested_layouts = 8;  // each settles after the one around it
        for (int i = 0; i < nested_layouts; ++i) QApplication::processEvents();
        replace_file(options.screenshot->toStdString(), [&](const std::filesystem::path& aside) {
            if (!window.grab().save(QString::fromStdString(aside.string()), "PNG"))
                throw BackendError("cannot write " + options.screenshot->toStdString());
        });
        return 0;
    } catch (const InputError& e) {
        std::cerr << e.what() << '\n';
        return 2;
    } catch (const BackendError& e) {
        std::cerr << "sextant-gui: " << e.what() << '\n';
        return 3;
    }
}

}  // namespace sextant::gui
