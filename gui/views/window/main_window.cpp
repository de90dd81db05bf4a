#include "gui/views/window/main_window.hpp"

#include "gui/models/text.hpp"
#include "gui/views/paint/card.hpp"
#include "gui/views/paint/icon.hpp"
#include "gui/views/view_list.hpp"
#include "gui/views/window/answer_bar.hpp"

#include <QActionGroup>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QScreen>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolBar>
#include <QVBoxLayout>

namespace sextant::gui {

MainWindow::MainWindow(Workbench& workbench, Selection& selection, Predictor& predictor, bool dark)
    : workbench_(workbench), selection_(selection), dark_(dark), files_(*this, workbench, predictor) {
    apply(dark ? dark_look() : light_look(), *qApp);
    setWindowIcon(program_icon());
    setAcceptDrops(true);
    resize(1280, 800);

    auto* centre = new QWidget;
    auto* column = bare_layout<QVBoxLayout>(centre, 0);
    column->addWidget(new AnswerBar(workbench));
    stack_ = new QStackedWidget;
    column->addWidget(stack_, 1);
    nothing_ = with_name("nothing", text_label(Type::heading, "faint"));
    nothing_->setAlignment(Qt::AlignCenter);
    column->addWidget(nothing_, 1);
    setCentralWidget(centre);

    statusBar()->hide();
    connect(statusBar(), &QStatusBar::messageChanged, this, [this](const QString& what) { statusBar()->setVisible(!what.isEmpty()); });
    connect(&files_, &FileActions::exported, this, [this](const QString& path) { tell(tr("Written to %1").arg(path)); });
    connect(&files_, &FileActions::copied, this, [this] { tell(tr("Copied")); });
    choices_ = new QActionGroup(this);
    add_rail();
    add_side_views();
    add_menus();
    refresh_icons();
    refresh_title();
    connect(&workbench, &Workbench::changed, this, &MainWindow::refresh_title);
    connect(&workbench, &Workbench::changed, this, &MainWindow::refresh_centre);
    connect(&workbench, &Workbench::lesson_opened, this, [this] { show_view("lessons"); });
    connect(&workbench, &Workbench::field_wanted, this, [this] { show_view("editor"); });
    connect(&workbench, &Workbench::opened, &selection, &Selection::clear);
    connect(&workbench, &Workbench::opened, this, [this] {
        refresh_choices();
        // In an event of its own: the editor and the first view are much to lay out at once.
        QMetaObject::invokeMethod(
            this,
            [this] {
                if (!shown().needs_scenario) show_first(true);
            },
            Qt::QueuedConnection);
    });
    refresh_choices();
    show_first(false);
}

MainWindow::~MainWindow() = default;

void MainWindow::add_rail() {
    auto* rail = rail_ = new QToolBar(tr("Views"));
    rail->setObjectName(QStringLiteral("rail"));
    rail->setMovable(false);
    rail->setIconSize({22, 22});
    rail->setContextMenuPolicy(Qt::PreventContextMenu);
    addToolBar(Qt::LeftToolBarArea, rail);
    int number = 0;
    const auto add = [&](const ViewInfo& info) {
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
    };
    for (const ViewInfo& info : all_views())
        if (info.place == Place::centre) add(info);
    auto* space = new QWidget;
    space->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Expanding);
    rail->addWidget(space);
    for (const ViewInfo& info : all_views())
        if (info.place != Place::centre) add(info);
}

// In a low window the entries leave out their icons, so that all of them stay in sight, also above a message.
void MainWindow::resizeEvent(QResizeEvent* e) {
    constexpr int height_with_icons = 760;
    rail_->setToolButtonStyle(height() < height_with_icons ? Qt::ToolButtonTextOnly : Qt::ToolButtonTextUnderIcon);
    QMainWindow::resizeEvent(e);
    place_side_views();
}

void MainWindow::add_side_views() {
    for (const ViewInfo& info : all_views()) {
        if (info.place == Place::centre) continue;
        auto* dock = with_name(q(info.name), new QDockWidget(info.title));
        dock->setWidget(&view(info.name));
        dock->setFeatures(QDockWidget::DockWidgetMovable | QDockWidget::DockWidgetFloatable);
        addDockWidget(info.place == Place::left ? Qt::LeftDockWidgetArea : Qt::RightDockWidgetArea, dock);
        QAction* choice = choice_of_.at(info.name);
        choice->setChecked(info.open_at_first);
        connect(choice, &QAction::toggled, this, &MainWindow::refresh_choices);
        connect(choice, &QAction::triggered, dock, &QDockWidget::raise);
        side_[info.name] = dock;
    }
}

// In a narrow window they take turns on the left, so that the view between them keeps its room.
void MainWindow::place_side_views() {
    constexpr int width_for_both = 1200;
    const bool both = width() >= width_for_both;
    if (both == side_by_side_) return;
    side_by_side_ = both;
    QDockWidget* first = nullptr;
    for (const ViewInfo& info : all_views()) {
        if (info.place == Place::centre || side_.at(info.name)->isFloating()) continue;
        QDockWidget* dock = side_.at(info.name);
        if (both)
            addDockWidget(info.place == Place::left ? Qt::LeftDockWidgetArea : Qt::RightDockWidgetArea, dock);
        else if (first)
            tabifyDockWidget(first, dock);
        else
            addDockWidget(Qt::LeftDockWidgetArea, first = dock);
    }
}

View& MainWindow::view(const std::string& name) {
    if (const auto found = made_.find(name); found != made_.end()) return *found->second;
    const ViewInfo& info = *find_view(name);
    View* made = make(info);
    if (info.place == Place::centre) stack_->addWidget(made);
    return *(made_[name] = made);
}

View* MainWindow::make(const ViewInfo& info) {
    View* made = info.make(workbench_, selection_).release();
    made->setObjectName(q(info.name) + QStringLiteral("_view"));
    connect(made, &View::wants_to_open, &files_, qOverload<const QString&>(&FileActions::open));
    connect(made, &View::wants_in_place, &files_, qOverload<const SessionPtr&>(&FileActions::open));
    connect(made, &View::wants_to_show, this, [this](const QString& name) {
        if (find_view(name.toStdString())) show_view(name.toStdString());
    });
    return made;
}

void MainWindow::show_view(const std::string& name) {
    workbench_.take_typed();  // a button of the rail takes no focus from the field
    choice_of_.at(name)->setChecked(true);
    if (side_.contains(name))
        side_.at(name)->raise();
    else
        stack_->setCurrentWidget(&view(name));
    refresh_centre();
    if (QWidget* first = view(name).takes_keys()) first->setFocus();
}

// What was opened only to be mended has no answer that a view could show.
void MainWindow::refresh_centre() {
    const bool has_something = !shown().needs_scenario || workbench_.answer();
    stack_->setVisible(has_something);
    nothing_->setVisible(!has_something);
    nothing_->setText(workbench_.session() ? tr("There is no answer yet: mend what is marked in the editor.")
                                           : tr("There is no scenario yet: choose one at Start, or open a file."));
}

void MainWindow::show_first(bool with_scenario) {
    for (const ViewInfo& info : all_views())
        if (info.place == Place::centre && info.needs_scenario == with_scenario) return show_view(info.name);
}

// What needs a scenario waits for one.
void MainWindow::refresh_choices() {
    const bool is_open = workbench_.session() != nullptr;
    for (const ViewInfo& info : all_views()) choice_of_.at(info.name)->setEnabled(is_open || !info.needs_scenario);
    for (const auto& [name, dock] : side_)
        dock->setVisible((is_open || !find_view(name)->needs_scenario) && choice_of_.at(name)->isChecked());
}

const ViewInfo& MainWindow::shown() const {
    for (const ViewInfo& info : all_views())
        if (info.place == Place::centre && choice_of_.at(info.name)->isChecked()) return info;
    return all_views().front();
}

QString MainWindow::name_of_file() const {
    const SessionPtr session = workbench_.session();
    return session ? q(session->document.file.filename().string()) : QString();
}

void MainWindow::refresh_title() {
    const QString name = name_of_file();
    if (name.isEmpty()) return setWindowTitle(QStringLiteral("Sextant"));
    setWindowTitle(name + QStringLiteral("[*] \u2013 Sextant"));
    setWindowModified(!workbench_.history().is_saved());
}

void MainWindow::tell(const QString& what) {
    constexpr int milliseconds = 8000;
    statusBar()->showMessage(what, milliseconds);
}

void MainWindow::refresh_icons() {
    const Look& look = dark_ ? dark_look() : light_look();
    for (const ViewInfo& info : all_views()) choice_of_.at(info.name)->setIcon(icon_of(info.icon, look));
}

void MainWindow::set_dark(bool dark) {
    QSettings().setValue(QStringLiteral("window/dark"), dark_ = dark);
    apply(dark ? dark_look() : light_look(), *qApp);
    refresh_icons();
}

void MainWindow::remember() const {
    QSettings settings;
    settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
    settings.setValue(QStringLiteral("window/state"), saveState());
    for (const auto& [name, dock] : side_) settings.setValue(QStringLiteral("beside/") + q(name), choice_of_.at(name)->isChecked());
}

void MainWindow::recall() {
    const QSettings settings;
    // Where it was never left: all of a screen that has no room for more than it.
    const QSize room = screen()->availableSize();
    if (!restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray()) &&
        (room.width() <= width() || room.height() <= height()))
        setWindowState(Qt::WindowMaximized);
    restoreState(settings.value(QStringLiteral("window/state")).toByteArray());
    for (const auto& [name, dock] : side_)
        choice_of_.at(name)->setChecked(settings.value(QStringLiteral("beside/") + q(name), find_view(name)->open_at_first).toBool());
    refresh_choices();
    place_side_views();
}

bool MainWindow::may_end_work() {
    if (std::ranges::none_of(findChildren<View*>(), &View::runs_program)) return true;
    QMessageBox box(QMessageBox::Question, tr("End what is under way?"),
                    tr("A program that was started here is still at work. It ends with the window, and what it did is lost."),
                    QMessageBox::Close | QMessageBox::Cancel, this);
    box.button(QMessageBox::Close)->setText(tr("End it and close"));
    box.button(QMessageBox::Cancel)->setText(tr("Keep the window open"));
    box.setDefaultButton(QMessageBox::Cancel);
    return box.exec() == QMessageBox::Close;
}

void MainWindow::closeEvent(QCloseEvent* e) {
    if (!may_end_work() || !files_.may_leave()) return e->ignore();
    remember();
    e->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* e) {
    if (e->mimeData()->hasUrls() && e->mimeData()->urls().front().isLocalFile()) e->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* e) { files_.open(e->mimeData()->urls().front().toLocalFile()); }

}  // namespace sextant::gui
