#include "gui/views/window/file_actions.hpp"

#include "gui/jobs/background.hpp"
#include "gui/models/csv.hpp"
#include "gui/models/recent_files.hpp"
#include "gui/models/simulated.hpp"
#include "gui/models/text.hpp"
#include "gui/models/timeline/timeline.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/report/report_html.hpp"

#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>

#include <ostream>

namespace sextant::gui {
namespace {

std::filesystem::path path_of(const QString& text) { return text.toStdString(); }

QString html_of(const Diagnostic& d) {
    QString text = QStringLiteral("<p><b>%1</b>").arg(q(d.what).toHtmlEscaped());
    if (!d.hint.empty()) text += QStringLiteral("<br>") + q(d.hint).toHtmlEscaped();
    if (!d.file.empty())
        text += QStringLiteral("<br><small>%1</small>").arg(q(d.file + (d.pointer.empty() ? "" : ": " + d.pointer)).toHtmlEscaped());
    return text + QStringLiteral("</p>");
}

}  // namespace

FileActions::FileActions(QWidget& window, Workbench& workbench, Predictor& predictor)
    : window_(window), workbench_(workbench), predictor_(predictor) {
    connect(&predictor, &Predictor::refused, this, &FileActions::show_refusal);
    connect(&workbench, &Workbench::opened, this, &FileActions::remember_file);
    connect(&workbench, &Workbench::saved, this, &FileActions::remember_file);
}

void FileActions::open(const QString& path) {
    if (holds_measurement(path_of(path)) || may_leave()) predictor_.open(path_of(path));
}

void FileActions::open(const SessionPtr& session) {
    if (may_leave()) workbench_.open(session);
}

void FileActions::ask_and_open() {
    const QString path = QFileDialog::getOpenFileName(&window_, tr("Open a scenario, or a run to compare with"), suggested({}),
                                                      tr("Scenarios, runs and traces (*.json *.h5);;All files (*)"));
    if (!path.isEmpty()) open(path);
}

bool FileActions::save() {
    const SessionPtr session = workbench_.session();
    return session && save_to(QString::fromStdString(session->document.file.string()));
}

bool FileActions::save_to(const QString& path) {
    try {
        workbench_.save(path_of(path));
        return true;
    } catch (const BackendError& e) {
        complain(tr("Not saved"), tr("%1. Nothing is lost: what was edited is still here, and the file is as it was.").arg(q(e.what())));
        return false;
    }
}

bool FileActions::ask_and_save() {
    const QString path =
        QFileDialog::getSaveFileName(&window_, tr("Save the scenario"), suggested(QStringLiteral("json")), tr("Scenarios (*.json)"));
    return !path.isEmpty() && save_to(path);
}

bool FileActions::may_leave() {
    if (!workbench_.session() || workbench_.history().is_saved()) return true;
    const QString name = QString::fromStdString(workbench_.session()->document.file.filename().string());
    const auto answer = QMessageBox::question(&window_, tr("Save the changes?"), tr("%1 was changed. Save it?").arg(name),
                                              QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, QMessageBox::Save);
    if (answer == QMessageBox::Save) return save();
    return answer == QMessageBox::Discard;
}

void FileActions::ask_and_export(const ViewInfo& info, Selection& selection, const PictureFormat& format) {
    const QString path = QFileDialog::getSaveFileName(&window_, tr("Export as %1").arg(format.name),
                                                      suggested(q(info.name) + QLatin1Char('.') + format.suffix),
                                                      QStringLiteral("%1 (*.%2)").arg(format.name, format.suffix));
    if (!path.isEmpty()) export_picture(path, info, selection, format);
}

void FileActions::export_picture(const QString& path, const ViewInfo& info, Selection& selection, const PictureFormat& format) {
    draw_page(window_, info, workbench_, selection,
              [this, path, format](const Drawing& drawing) { write(path, [drawing, format] { return format.file(drawing); }); });
}

void FileActions::copy_picture(const ViewInfo& info, Selection& selection) {
    draw_page(window_, info, workbench_, selection, [this](const Drawing& drawing) {
        in_background(
            this, [drawing] { return image_of(drawing); }, [](const QImage& image) { QApplication::clipboard()->setImage(image); });
    });
}

void FileActions::ask_and_export_tables(const View& view) {
    for (const NamedTable& table : tables_of(view)) {
        const QString path = QFileDialog::getSaveFileName(&window_, tr("Export %1").arg(table.name),
                                                          suggested(table.name + QStringLiteral(".csv")), tr("Tables (*.csv)"));
        if (!path.isEmpty()) write(path, [text = csv_of(*table.model)] { return text.toStdString(); });
    }
}

void FileActions::copy_tables(const View& view) {
    QStringList tables;
    for (const NamedTable& table : tables_of(view)) tables += csv_of(*table.model);
    if (!tables.isEmpty()) QApplication::clipboard()->setText(tables.join(QLatin1Char('\n')));
}

std::vector<NamedTable> FileActions::tables_of(const View& view) {
    std::vector<NamedTable> tables = view.tables();
    if (tables.empty()) complain(tr("No tables"), tr("There is no table in this view, or none yet."));
    return tables;
}

void FileActions::ask_and_export_report(const ViewInfo& topology, Selection& selection) {
    const QString path = QFileDialog::getSaveFileName(&window_, tr("Export the whole report"), suggested(QStringLiteral("report.html")),
                                                      tr("Pages (*.html)"));
    if (!path.isEmpty()) export_report(path, topology, selection);
}

// The step is played for it where it was not yet.
void FileActions::export_report(const QString& path, const ViewInfo& topology, Selection& selection) {
    const SessionPtr session = workbench_.session();
    if (!session || !session->answer) return complain(tr("Not exported"), tr("There is no answer yet."));
    const auto write_page = [this, path, session](const std::optional<Drawing>& cluster) {
        write(path, [session, cluster] {
            std::vector<PageFigure> figures;
            if (cluster) figures.push_back({"The cluster", svg_of(*cluster)});
            const auto now = session->simulated ? session->simulated : std::make_shared<const Simulated>(simulated(*session));
            return report_html(session->answer->job, session->answer->report, now->report.get(), figures);
        });
    };
    if (!session->simulated || !session->simulated->report) return write_page({});
    draw_page(window_, topology, workbench_, selection, write_page);
}

void FileActions::write(const QString& path, std::function<std::string()> contents) {
    in_background(
        this,
        [file = path_of(path), contents = std::move(contents)]() -> QString {
            try {
                const std::string all = contents();
                replace_text_file(file, all);
                return {};
            } catch (const std::exception& e) {
                return q(e.what());
            }
        },
        [this, path](const QString& problem) { problem.isEmpty() ? emit exported(path) : complain(tr("Not exported"), problem); });
}

void FileActions::remember_file() { add_recent_file(QString::fromStdString(workbench_.session()->document.file.string())); }

void FileActions::show_refusal(const QString& path, const std::vector<Diagnostic>& problems, const SessionPtr& mendable) {
    auto* box = new QMessageBox(QMessageBox::Warning, tr("Cannot be opened"), {}, QMessageBox::Close, &window_);
    box->setObjectName(QStringLiteral("refusal"));
    box->setAttribute(Qt::WA_DeleteOnClose);
    constexpr std::size_t readable = 6;
    QString html = QStringLiteral("<h4>%1</h4>").arg(tr("%1 cannot be opened").arg(QFileInfo(path).fileName().toHtmlEscaped()));
    for (std::size_t i = 0; i < std::min(readable, problems.size()); ++i) html += html_of(problems[i]);
    if (problems.size() > readable) html += tr("<p>and %n more</p>", nullptr, static_cast<int>(problems.size() - readable));
    box->setText(html);
    if (mendable) {
        QPushButton* mend = box->addButton(tr("Open to mend it"), QMessageBox::AcceptRole);
        connect(mend, &QPushButton::clicked, this, [this, mendable] { workbench_.open(mendable); });
    }
    box->open();
}

void FileActions::complain(const QString& title, const QString& what) {
    auto* box = new QMessageBox(QMessageBox::Warning, title, what, QMessageBox::Close, &window_);
    box->setObjectName(QStringLiteral("complaint"));
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
}

// Beside the scenario, with its name.
QString FileActions::suggested(const QString& ending) const {
    const SessionPtr session = workbench_.session();
    if (!session) return {};
    const QFileInfo file(QString::fromStdString(session->document.file.string()));
    if (ending.isEmpty()) return file.absolutePath();
    if (ending == QLatin1String("json")) return file.absoluteFilePath();
    return file.absolutePath() + QLatin1Char('/') + file.completeBaseName() + QLatin1Char('-') + ending;
}

}  // namespace sextant::gui
