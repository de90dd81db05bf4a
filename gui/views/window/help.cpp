// The help menu: what a stranger asks for first.
#include "gui/models/bundled.hpp"
#include "gui/models/scenario_words.hpp"
#include "gui/models/text.hpp"
#include "gui/views/paint/card.hpp"
#include "gui/views/window/main_window.hpp"

#include <QApplication>
#include <QClipboard>
#include <QDesktopServices>
#include <QDialogButtonBox>
#include <QDir>
#include <QMenuBar>
#include <QMessageBox>
#include <QStandardPaths>
#include <QSysInfo>
#include <QTextBrowser>
#include <QThread>
#include <QUrl>
#include <QVBoxLayout>

namespace sextant::gui {
namespace {

QString row(const QString& keys, const QString& what) {
    return QStringLiteral("<tr><td style='padding-right:16px'><b>%1</b></td><td>%2</td></tr>")
        .arg(keys.toHtmlEscaped(), what.toHtmlEscaped());
}

QString heading(const QString& text) { return QStringLiteral("<tr><td colspan='2'><h4>%1</h4></td></tr>").arg(text); }

// What menus and rail say of themselves, below the menu that has it.
QString keys_of_menus(const QMenuBar& bar) {
    QString rows;
    for (const QAction* menu : bar.actions()) {
        QString of_menu;
        for (const QAction* action : menu->menu()->actions())
            if (!action->shortcut().isEmpty())
                of_menu += row(action->shortcut().toString(QKeySequence::NativeText), action->text().remove(QLatin1Char('&')));
        if (!of_menu.isEmpty()) rows += heading(menu->text().remove(QLatin1Char('&'))) + of_menu;
    }
    return rows;
}

QString keys_of_timeline() {
    static constexpr std::pair<const char*, const char*> keys[] = {
        {"Wheel, W, S, +, \u2212", "zoom"},
        {"Drag, A, D, arrows, Shift and wheel", "move"},
        {"Home, End", "to the beginning, to the end"},
        {"Ctrl and wheel", "higher or lower rows"},
        {"F", "all of it, or the range that is selected"},
        {"Shift and drag", "select a range, for all views"},
        {"R", "the range of the chosen segment, or of all that is shown"},
        {"Comma, period", "the segment before, the next one"},
        {"[ and ]", "what it waited for, what it let begin"},
        {"Ctrl+F, F3, Shift+F3", "search, the next one, the one before"},
        {"Esc", "give up the choice, then the range"},
    };
    QString rows = heading(QStringLiteral("Timeline"));
    for (const auto& [key, what] : keys) rows += row(QString::fromUtf8(key), QString::fromUtf8(what));
    return rows + heading(QStringLiteral("Pictures and tables")) + row(QStringLiteral("Arrows"), QStringLiteral("from part to part")) +
           row(QStringLiteral("Enter"), QStringLiteral("open what is chosen"));
}

void show_keys(MainWindow& window) {
    auto* dialog = with_name("keys", new QDialog(&window));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(QObject::tr("Keyboard shortcuts"));
    dialog->resize(520, 560);
    auto* text = with_name("keys.text", new QTextBrowser);
    text->setAccessibleName(dialog->windowTitle());
    text->setHtml(QStringLiteral("<table>") + keys_of_menus(*window.menuBar()) + keys_of_timeline() + QStringLiteral("</table>"));
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    auto* column = new QVBoxLayout(dialog);
    column->addWidget(text);
    column->addWidget(buttons);
    dialog->open();
}

void tell(MainWindow& window, const QString& title, const QString& html) {
    auto* box = with_name("help", new QMessageBox(QMessageBox::NoIcon, title, html, QMessageBox::Close, &window));
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setTextFormat(Qt::RichText);
    box->setTextInteractionFlags(Qt::TextBrowserInteraction);
    box->open();
}

QString link_to(const std::filesystem::path& place) {
    const QString path = QString::fromStdString(place.string());
    return QStringLiteral("<a href='%1'>%2</a>").arg(QUrl::fromLocalFile(path).toString(), path.toHtmlEscaped());
}

std::filesystem::path data_root() {
    try {
        return open_library().root;
    } catch (const std::exception&) {
        return {};  // nothing is installed beside this program
    }
}

void show_documentation(MainWindow& window) {
    const auto page = documentation(data_root());
    if (page && QDesktopServices::openUrl(QUrl::fromLocalFile(QString::fromStdString(page->string())))) return;
    tell(window, QObject::tr("Documentation"),
         page ? QObject::tr("It begins with %1, and goes on in the folder docs beside it.").arg(link_to(*page))
              : QObject::tr("It is not installed here. It stands in the folder docs of the source tree; `sextant --help` says what each "
                            "command does."));
}

void show_places(MainWindow& window) {
    const std::filesystem::path root = data_root(), own = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation).toStdString();
    tell(window, QObject::tr("Where profiles are"),
         QObject::tr("<p>Devices, nodes, clusters and storage:<br>%1</p><p>Frameworks:<br>%2</p><p>Scenarios and lessons:<br>%3<br>%4</p>"
                     "<p>What <i>Calibrate</i> measures on this machine:<br>%5</p>"
                     "<p>A scenario names a profile by its name, or by the path of a file of your own.</p>")
             .arg(link_to(root / "hardware_profiles"), link_to(root / "frameworks"), link_to(root / "scenarios"), link_to(root / "lessons"),
                  link_to(own)));
}

// What whoever mends it has to know.
QString facts(const SessionPtr& session) {
    QString text = QStringLiteral("Sextant %1, Qt %2 (%3), %4, %5, %6 cores\n")
                       .arg(QApplication::applicationVersion(), QLatin1String(qVersion()), QApplication::platformName(),
                            QSysInfo::prettyProductName(), QSysInfo::currentCpuArchitecture())
                       .arg(QThread::idealThreadCount());
    if (!session) return text;
    text += predict_command(session->document) + QLatin1Char('\n');
    for (const Diagnostic& d : session->problems) text += q(d.what) + QLatin1Char('\n');
    return text;
}

void show_facts(MainWindow& window, const SessionPtr& session) {
    const QString text = facts(session);
    QApplication::clipboard()->setText(text);
    tell(window, QObject::tr("Report a problem"),
         QObject::tr("<p>Tell whoever you have Sextant from what you did, what you expected and what happened instead, and send the "
                     "scenario with it. These lines belong to it; they are on the clipboard:</p><pre>%1</pre>")
             .arg(text.toHtmlEscaped()));
}

}  // namespace

void MainWindow::add_help_menu() {
    QMenu& menu = *menuBar()->addMenu(tr("&Help"));
    const auto add = [&](const QString& text, auto what) { connect(menu.addAction(text), &QAction::triggered, this, what); };
    add(tr("&Documentation"), [this] { show_documentation(*this); });
    add(tr("&Lessons"), [this] { show_view("lessons"); });
    add(tr("&Keyboard shortcuts"), [this] { show_keys(*this); });
    add(tr("&Where profiles are"), [this] { show_places(*this); });
    add(tr("&Report a problem"), [this] { show_facts(*this, workbench_.session()); });
    menu.addSeparator();
    add(tr("&About Sextant"), [this] {
        QMessageBox::about(this, tr("Sextant"),
                           tr("<h3>Sextant %1</h3>Predicts how fast a deep-learning training job runs under a parallel plan on given "
                              "hardware, whether it fits, and what holds it back.")
                               .arg(QApplication::applicationVersion()));
    });
    menu.actions().front()->setShortcut(QKeySequence::HelpContents);
}

}  // namespace sextant::gui
