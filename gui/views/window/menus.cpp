// The menus of the main window.
#include "gui/models/recent_files.hpp"
#include "gui/models/scenario_words.hpp"
#include "gui/models/text.hpp"
#include "gui/views/export.hpp"
#include "gui/views/view_list.hpp"
#include "gui/views/window/main_window.hpp"

#include <QApplication>
#include <QClipboard>
#include <QMenuBar>

namespace sextant::gui {
namespace {

template <class Do>
QAction* add(QMenu& menu, const QString& text, const QKeySequence& keys, QObject* owner, Do what) {
    QAction* action = menu.addAction(text);
    action->setShortcut(keys);
    QObject::connect(action, &QAction::triggered, owner, what);
    return action;
}

}  // namespace

void MainWindow::add_menus() {
    add_file_menu();
    add_edit_menu();
    add_view_menu();
    add_help_menu();
}

void MainWindow::add_file_menu() {
    QMenu& menu = *menuBar()->addMenu(tr("&File"));
    add(menu, tr("&Open\u2026"), QKeySequence::Open, this, [this] { files_.ask_and_open(); });
    QAction* again = add(menu, tr("Open a&gain from the disk"), QKeySequence::Refresh, this, [this] { files_.open_again(); });
    QMenu* recent = menu.addMenu(tr("Open &recent"));
    connect(&menu, &QMenu::aboutToShow, this, [this, recent] {
        recent->clear();
        for (const QString& path : recent_files()) add(*recent, path, {}, this, [this, path] { files_.open(path); });
        recent->setEnabled(!recent->isEmpty());
    });
    menu.addSeparator();
    std::vector<QAction*> need_a_scenario{again};
    need_a_scenario.push_back(add(menu, tr("&Save"), QKeySequence::Save, this, [this] { files_.save(); }));
    need_a_scenario.push_back(
        add(menu, tr("Save &as\u2026"), QKeySequence(QStringLiteral("Ctrl+Shift+S")), this, [this] { files_.ask_and_save(); }));
    menu.addSeparator();
    QMenu* picture = menu.addMenu(tr("&Export the view"));
    need_a_scenario.push_back(picture->menuAction());
    for (const PictureFormat& format : picture_formats())
        add(*picture, tr("As %1\u2026").arg(format.name), {}, this, [this, format] { files_.ask_and_export(shown(), selection_, format); });
    add(*picture, tr("Tables as CSV\u2026"), {}, this, [this] { files_.ask_and_export_tables(view(shown().name)); });
    need_a_scenario.push_back(add(menu, tr("Export the &whole report\u2026"), QKeySequence(QStringLiteral("Ctrl+Shift+E")), this,
                                  [this] { files_.ask_and_export_report(*find_view("topology"), selection_); }));
    QMenu* plan = menu.addMenu(tr("Export the &plan"));
    need_a_scenario.push_back(plan->menuAction());
    for (const PlanLanguage& language : plan_languages())
        add(*plan, tr("For %1\u2026").arg(language.name), {}, this, [this, language] { files_.ask_and_export_plan(language); });
    menu.addSeparator();
    need_a_scenario.push_back(add(menu, tr("&Copy the view as a picture"), QKeySequence(QStringLiteral("Ctrl+Shift+C")), this,
                                  [this] { files_.copy_picture(shown(), selection_); }));
    need_a_scenario.push_back(add(menu, tr("Copy the &tables of the view"), QKeySequence(QStringLiteral("Ctrl+Shift+T")), this,
                                  [this] { files_.copy_tables(view(shown().name)); }));
    menu.addSeparator();
    add(menu, tr("&Quit"), QKeySequence::Quit, this, [this] { close(); });
    const auto refresh = [this, need_a_scenario] {
        for (QAction* action : need_a_scenario) action->setEnabled(workbench_.session() != nullptr);
    };
    connect(&workbench_, &Workbench::changed, this, refresh);
    refresh();
}

void MainWindow::add_edit_menu() {
    QMenu& menu = *menuBar()->addMenu(tr("&Edit"));
    QAction* undo = add(menu, tr("&Undo"), QKeySequence::Undo, this, [this] { workbench_.undo(); });
    QAction* redo = add(menu, tr("&Redo"), QKeySequence::Redo, this, [this] { workbench_.redo(); });
    menu.addSeparator();
    QAction* neutral = add(menu, tr("&End the what-if"), {}, this, [this] { workbench_.set_what_if({}); });
    QAction* command = add(menu, tr("Copy as a command &line"), {}, this, [this] { copy_command_line(); });
    const auto refresh = [this, undo, redo, neutral, command] {
        const SessionPtr session = workbench_.session();
        const auto name = [](QAction* action, const QString& verb, const std::optional<QString>& what) {
            action->setEnabled(what.has_value());
            action->setText(what ? verb + QLatin1Char(' ') + *what : verb);
        };
        name(undo, tr("&Undo"), workbench_.history().undoes());
        name(redo, tr("&Redo"), workbench_.history().redoes());
        neutral->setEnabled(session && !is_neutral(session->what_if));
        command->setEnabled(session != nullptr);
    };
    connect(&workbench_, &Workbench::changed, this, refresh);
    refresh();
}

// A what-if is nothing that a command line can ask.
void MainWindow::copy_command_line() {
    workbench_.take_typed();
    QApplication::clipboard()->setText(predict_command(workbench_.session()->document));
    tell(is_neutral(workbench_.session()->what_if) ? tr("Copied as a command line") : tr("Copied as a command line, without the what-if"));
}

void MainWindow::add_view_menu() {
    QMenu& menu = *menuBar()->addMenu(tr("&View"));
    for (const ViewInfo& info : all_views()) menu.addAction(choice_of_.at(info.name));
    menu.addSeparator();
    add(menu, tr("In a &window of its own"), QKeySequence(QStringLiteral("Ctrl+Shift+N")), this, [this] {
        View* own = make(shown());
        own->setParent(this, Qt::Window);
        own->setAttribute(Qt::WA_DeleteOnClose);
        own->setObjectName(QStringLiteral("own_window"));
        const auto name = [this, own, title = shown().title] {  // which is of the same scenario as this window
            const QString file = name_of_file();
            own->setWindowTitle((file.isEmpty() ? file : file + QStringLiteral(": ")) + title + QStringLiteral(" \u2013 Sextant"));
        };
        connect(&workbench_, &Workbench::changed, own, name);
        name();
        own->resize(900, 700);
        own->show();
    });
    QAction* dark = add(menu, tr("&Dark"), QKeySequence(QStringLiteral("Ctrl+Shift+D")), this, [] {});
    dark->setCheckable(true);
    dark->setChecked(dark_);
    connect(dark, &QAction::toggled, this, &MainWindow::set_dark);
    add(menu, tr("&Full screen"), QKeySequence(Qt::Key_F11), this, [this] { isFullScreen() ? showNormal() : showFullScreen(); });
}

}  // namespace sextant::gui
