#include "tests/gui/desk.hpp"

#include "gui/views/view_list.hpp"

#include <QAbstractButton>
#include <QApplication>
#include <QLabel>
#include <QSettings>
#include <QTest>
#include <QThreadPool>
#include <QTimer>

#include <fstream>
#include <stdexcept>

namespace sextant::gui {

std::vector<std::string> view_names() {
    std::vector<std::string> names;
    for (const ViewInfo& view : all_views()) names.push_back(view.name);
    return names;
}

Desk::OwnSettings::OwnSettings(const QTemporaryDir& folder) {
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder.path());
}

Desk::Desk() { window.show(); }

void Desk::wait_for(const std::function<bool()>& done) {
    if (!QTest::qWaitFor(done, 60'000)) throw std::runtime_error("waited in vain");
}

void Desk::settle() {
    wait_for([this] { return workbench.session() && workbench.session()->state != AnswerState::pending && !simulator.is_running(); });
    constexpr int most_in_turn = 4;  // what is made of it, and how that is laid out
    for (int i = 0; i < most_in_turn; ++i) {
        QThreadPool::globalInstance()->waitForDone();
        QCoreApplication::processEvents();
    }
}

void Desk::answer_next(QMessageBox::StandardButton button) {
    asked.clear();
    auto* waiting = new QTimer(&window);
    QObject::connect(waiting, &QTimer::timeout, &window, [this, waiting, button] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (!box) return;
        waiting->deleteLater();
        asked = box->text();
        box->button(button)->click();
    });
    waiting->start(20);
}

void Desk::open(const std::string& name) {
    predictor.open(bundled(name).toStdString());
    wait_for([&] { return workbench.session() && workbench.session()->document.file == bundled(name).toStdString(); });
    settle();
}

void Desk::edit(const Edits& edits) {
    workbench.edit(edits);
    settle();
}

void Desk::show_view(const std::string& name) {
    window.show_view(name);
    settle();
}

QString Desk::bundled(const std::string& name) {
    return QStringLiteral(SEXTANT_SOURCE_DIR "/scenarios/") + QString::fromStdString(name) + QStringLiteral(".json");
}

QString Desk::write_file(const char* name, const std::string& text) {
    QString path = folder.filePath(QString::fromLatin1(name));
    std::ofstream(path.toStdString()) << text;
    return path;
}

QString Desk::shown_step() { return find<QLabel>("bar_step_time").text(); }

}  // namespace sextant::gui
