#include "gui/views/window/main_window.hpp"

#include "gui/models/text.hpp"
#include "gui/views/paint/icon.hpp"
#include "gui/views/view_list.hpp"
#include "gui/views/window/answer_bar.hpp"

#include <QActionGroup>
#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QMenuBar>
#include <QMimeData>
#include <QSettings>
#include <QStackedWidget>
#include <QToolBar>
#include <QVBoxLayout>

namespace sextant::gui {

MainWindow::MainWindow(Workbench& workbench, Selection& selection, Predictor& predictor, const WindowOptions& options)
    : workbench_(workbench), selection_(selection), options_(options), files_(*this, workbench, predictor, options.remembers) {
    apply(options.dark ? dark_look() : light_look(), *qApp);
    setWindowIcon(program_icon());
    setAcceptDrops(true);
    resize(1280, 800);

    auto* centre = new QWidget;
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(new AnswerBar(workbench));
    stack_ = new QStackedWidget;
    column->addWidget(stack_, 1);
    setCentralWidget(centre);

    choices_ = new QActionGroup(this);
    add_rail();
    add_side_views();
    add_menus();
    refresh_icons();
    refresh_title();
    connect(&workbench, &Workbench::changed, this, &MainWindow::refresh_title);
    connect(&workbench, &Workbench::opened, &selection, &Selection::clear);
    if (options.remembers) recall();
}

MainWindow::~MainWindow() = default;

void MainWindow::add_rail() {
    auto* rail = new QToolBar(tr("Views"));
    rail->setObjectName(QStringLiteral("rail"));
    rail->setMovable(false);
    rail->setToolButtonStyle(Qt::ToolButtonTextUnderIcon);
    rail->setIconSize({22, 22});
    rail->setContextMenuPolicy(Qt::PreventContextMenu);
    addToolBar(Qt::LeftToolBarArea, rail);
    int number = 0;
    for (const ViewInfo& info : all_views()) {
        auto* choice = new QAction(info.title, this);
        choice->setCheckable(true);
        choice->setToolTip(info.tip);
        if (++number <= 9) choice->setShortcut(QKeySequence(QStringLiteral("Ctrl+%1").arg(number)));
        if (info.place == Place::centre) {
            choices_->addAction(choice);
            connect(choice, &QAction::triggered, this, [this, name = info.name] { show_view(name); });
        }
        rail->addAction(choice);
        choice_of_[info.name] = choice;
    }
}

void MainWindow::add_side_views() {
    for (const ViewInfo& info : all_views()) {
        if (info.place != Place::side) continue;
        auto* dock = new QDockWidget(info.title);
        dock->setObjectName(q(info.name));
        dock->setWidget(&view(info.name));
        dock->setFeatures(QDockWidget::DockWidgetMovable | QDockWidget::DockWidgetFloatable);
        addDockWidget(Qt::LeftDockWidgetArea, dock);
        QAction* choice = choice_of_.at(info.name);
        connect(choice, &QAction::toggled, dock, &QWidget::setVisible);
        choice->setChecked(true);
        side_[info.name] = dock;
    }
}

View& MainWindow::view(const std::string& name) {
    if (const auto found = made_.find(name); found != made_.end()) return *found->second;
    const ViewInfo& info = *find_view(name);
    View* made = info.make(workbench_, selection_).release();
    made->setObjectName(q(name) + QStringLiteral("_view"));
    connect(made, &View::wants_to_open, &files_, &FileActions::open);
    if (info.place == Place::centre) stack_->addWidget(made);
    return *(made_[name] = made);
}

void MainWindow::show_view(const std::string& name) {
    choice_of_.at(name)->setChecked(true);
    if (const auto side = side_.find(name); side != side_.end())
        side->second->show();
    else
        stack_->setCurrentWidget(&view(name));
}

const ViewInfo& MainWindow::shown() const {
    for (const ViewInfo& info : all_views())
        if (info.place == Place::centre && choice_of_.at(info.name)->isChecked()) return info;
    return all_views().front();
}

void MainWindow::refresh_title() {
    const SessionPtr session = workbench_.session();
    if (!session) return setWindowTitle(QStringLiteral("Sextant"));
    setWindowTitle(q(session->document.file.filename().string()) + QStringLiteral("[*] \u2013 Sextant"));
    setWindowModified(!workbench_.history().is_saved());
}

void MainWindow::refresh_icons() {
    const Look& look = options_.dark ? dark_look() : light_look();
    for (const ViewInfo& info : all_views()) choice_of_.at(info.name)->setIcon(icon_of(info.icon, look));
}

void MainWindow::set_dark(bool dark) {
    options_.dark = dark;
    apply(dark ? dark_look() : light_look(), *qApp);
    refresh_icons();
}

void MainWindow::remember() const {
    QSettings settings;
    settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
    settings.setValue(QStringLiteral("window/state"), saveState());
    settings.setValue(QStringLiteral("window/view"), q(shown().name));
    settings.setValue(QStringLiteral("window/dark"), options_.dark);
}

void MainWindow::recall() {
    const QSettings settings;
    restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
    restoreState(settings.value(QStringLiteral("window/state")).toByteArray());
    for (const auto& [name, dock] : side_) choice_of_.at(name)->setChecked(!dock->isHidden());
    if (const std::string name = settings.value(QStringLiteral("window/view")).toString().toStdString(); find_view(name)) show_view(name);
}

void MainWindow::closeEvent(QCloseEvent* e) {
    if (!files_.may_leave()) return e->ignore();
    if (options_.remembers) remember();
    e->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* e) {
    if (e->mimeData()->hasUrls() && e->mimeData()->urls().front().isLocalFile()) e->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* e) { files_.open(e->mimeData()->urls().front().toLocalFile()); }

}  // namespace sextant::gui
