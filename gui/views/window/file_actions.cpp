#include "gui/views/window/file_actions.hpp"

#include "gui/jobs/background.hpp"
#include "gui/models/bundled.hpp"
#include "gui/models/csv.hpp"
#include "gui/models/lesson_state.hpp"
#include "gui/models/recent_files.hpp"
#include "gui/models/simulated.hpp"
#include "gui/models/stated_schema.hpp"
#include "gui/models/text.hpp"
#include "gui/models/timeline/timeline.hpp"
#include "gui/views/paint/card.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/report/report_html.hpp"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>

namespace sextant::gui {
namespace {

std::filesystem::path path_of(const QString& text) { return text.toStdString(); }

std::optional<QByteArray> contents_of(const std::filesystem::path& path) {
    QFile file(QString::fromStdString(path.string()));
    return file.open(QIODevice::ReadOnly) ? std::optional(file.readAll()) : std::nullopt;
}

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
    const std::filesystem::path file = path_of(path);
    const bool leaves_scenario = !holds_measurement(file) && !holds_lesson(file) && !holds_model(file);
    if (!leaves_scenario || may_leave()) predictor_.open(file);
}

void FileActions::open(const SessionPtr& session) {
    if (may_leave()) workbench_.open(session);
}

void FileActions::ask_and_open() {
    const QString path =
        QFileDialog::getOpenFileName(&window_, tr("Open a scenario, a model, a lesson, or a run to compare with"), suggested({}),
                                     tr("Scenarios, models, lessons, runs and traces (*.json *.h5);;All files (*)"));
    if (!path.isEmpty()) open(path);
}

void FileActions::open_again() {
    if (const SessionPtr session = workbench_.session()) open(QString::fromStdString(session->document.file.string()));
}

bool FileActions::save() {
    const SessionPtr session = workbench_.session();
    if (!session) return false;
    if (is_bundled(session->document.file) || row_named(session->document.file)) return ask_and_save();
    return may_replace(session->document.file) && save_to(QString::fromStdString(session->document.file.string()));
}

// What somebody else wrote there meanwhile is not lost unasked.
bool FileActions::may_replace(const std::filesystem::path& file) {
    const auto now = contents_of(file);
    if (!now || now == on_disk_) return true;
    const QString name = QString::fromStdString(file.filename().string());
    const auto answer = QMessageBox::question(
        &window_, tr("Save over it?"),
        tr("%1 has changed on the disk since it was opened here. Save over it? To keep both, cancel and save this one as another file.")
            .arg(name),
        QMessageBox::Save | QMessageBox::Cancel, QMessageBox::Cancel);
    return answer == QMessageBox::Save;
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
    const QString path = ask_for_path(tr("Save the scenario"), QStringLiteral("json"), tr("Scenarios (*.json)"));
    return !path.isEmpty() && save_to(path);
}

bool FileActions::may_leave() {
    workbench_.take_typed();
    if (!workbench_.session() || workbench_.session()->is_exercise || workbench_.history().is_saved()) return true;
    const QString name = QString::fromStdString(workbench_.session()->document.file.filename().string());
    const auto answer = QMessageBox::question(&window_, tr("Save the changes?"), tr("%1 was changed. Save it?").arg(name),
                                              QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, QMessageBox::Save);
    if (answer == QMessageBox::Save) return save();
    return answer == QMessageBox::Discard;
}

void FileActions::when_answered(const std::function<void(const SessionPtr&)>& then) {
    workbench_.take_typed();
    const SessionPtr session = workbench_.session();
    if (session && session->state != AnswerState::pending) return then(session);
    connect(
        &workbench_, &Workbench::changed, this, [this, then] { when_answered(then); }, Qt::SingleShotConnection);
}

void FileActions::draw(const ViewInfo& info, Selection& selection, const std::function<void(const Drawing&)>& then) {
    when_answered([this, info, &selection, then](const SessionPtr& session) {
        if (session->state == AnswerState::refused && info.needs_scenario)
            return complain(tr("Not drawn"), tr("The scenario has to be mended first."));
        draw_page(window_, info, workbench_, selection, then);
    });
}

void FileActions::ask_and_export(const ViewInfo& info, Selection& selection, const PictureFormat& format) {
    const QString path = ask_for_path(tr("Export as %1").arg(format.name), q(info.name) + QLatin1Char('.') + format.suffix,
                                      QStringLiteral("%1 (*.%2)").arg(format.name, format.suffix));
    if (!path.isEmpty()) export_picture(path, info, selection, format);
}

void FileActions::export_picture(const QString& path, const ViewInfo& info, Selection& selection, const PictureFormat& format) {
    draw(info, selection,
         [this, path, format](const Drawing& drawing) { write(path, [drawing, format] { return format.file(drawing); }); });
}

void FileActions::copy_picture(const ViewInfo& info, Selection& selection) {
    draw(info, selection, [this](const Drawing& drawing) {
        in_background(
            this, [drawing] { return image_of(drawing); },
            [this](const QImage& image) {
                QApplication::clipboard()->setImage(image);
                emit copied();
            });
    });
}

void FileActions::ask_and_export_tables(const View& view) {
    for (const NamedTable& table : tables_of(view)) {
        const QString path = ask_for_path(tr("Export %1").arg(table.name), table.name + QStringLiteral(".csv"), tr("Tables (*.csv)"));
        if (path.isEmpty()) return;
        write(path, [text = csv_of(*table.model)] { return text.toStdString(); });
    }
}

void FileActions::copy_tables(const View& view) {
    QStringList tables;
    for (const NamedTable& table : tables_of(view)) tables += csv_of(*table.model);
    if (tables.isEmpty()) return;
    QApplication::clipboard()->setText(tables.join(QLatin1Char('\n')));
    emit copied();
}

std::vector<NamedTable> FileActions::tables_of(const View& view) {
    std::vector<NamedTable> tables = view.tables();
    std::erase_if(tables, [](const NamedTable& table) { return table.model->rowCount() == 0; });
    if (tables.empty()) complain(tr("No tables"), tr("There is no table in this view, or none yet."));
    return tables;
}

void FileActions::ask_and_export_plan(const PlanLanguage& language) {
    const QString path = ask_for_path(tr("Export the plan for %1").arg(language.name), language.word + QLatin1Char('.') + language.ending,
                                      QStringLiteral("%1 (*.%2)").arg(language.name, language.ending));
    if (!path.isEmpty()) write_plan(path, language);
}

void FileActions::write_plan(const QString& path, const PlanLanguage& language) {
    when_answered([this, path, language](const SessionPtr& session) {
        export_plan(path, language, *session, this, [this, path](const PlanExported& result) {
            if (result.written) emit exported(path);
            if (!result.said.isEmpty()) complain(result.written ? tr("Exported") : tr("Not exported"), result.said);
        });
    });
}

void FileActions::ask_and_export_report(const ViewInfo& topology, Selection& selection) {
    const QString path = ask_for_path(tr("Export the whole report"), QStringLiteral("report.html"), tr("Pages (*.html)"));
    if (!path.isEmpty()) export_report(path, topology, selection);
}

void FileActions::export_report(const QString& path, const ViewInfo& topology, Selection& selection) {
    when_answered([this, path, topology, &selection](const SessionPtr& session) {
        if (session->state == AnswerState::refused) return complain(tr("Not exported"), tr("The scenario has to be mended first."));
        write_report(path, session, topology, selection);
    });
}

// The step is played for it where it was not yet.
void FileActions::write_report(const QString& path, const SessionPtr& session, const ViewInfo& topology, Selection& selection) {
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

void FileActions::remember_file() {
    const std::filesystem::path& file = workbench_.session()->document.file;
    on_disk_ = contents_of(file);
    add_recent_file(QString::fromStdString(file.string()));
}

void FileActions::show_refusal(const QString& path, const std::vector<Diagnostic>& problems, const SessionPtr& mendable) {
    auto* box = with_name("refusal", new QMessageBox(QMessageBox::Warning, tr("Cannot be opened"), {}, QMessageBox::Close, &window_));
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
    auto* box = with_name("complaint", new QMessageBox(QMessageBox::Warning, title, what, QMessageBox::Close, &window_));
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
}

// With its suffix, whether it was typed or not. Empty: none was chosen.
QString FileActions::ask_for_path(const QString& title, const QString& ending, const QString& filter) {
    workbench_.take_typed();
    QFileDialog dialog(&window_, title, {}, filter);
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setDefaultSuffix(ending.section(QLatin1Char('.'), -1));
    const QFileInfo file(suggested(ending));
    dialog.setDirectory(file.path());
    dialog.selectFile(file.fileName());
    return dialog.exec() == QDialog::Accepted ? dialog.selectedFiles().value(0) : QString();
}

// Beside the scenario, with its name; of what comes with the program, where a user has files.
QString FileActions::suggested(const QString& ending) const {
    const SessionPtr session = workbench_.session();
    if (!session) return {};
    const QFileInfo file(QString::fromStdString(session->document.file.string()));
    const auto row = row_named(session->document.file);
    const QString folder = row || is_bundled(session->document.file) ? QDir::homePath() : file.absolutePath();
    const QString name = row ? q(row->id).replace(QLatin1Char('/'), QLatin1Char('-')) : file.completeBaseName();
    if (ending.isEmpty()) return file.absolutePath();
    return folder + QLatin1Char('/') + name + (ending == QLatin1String("json") ? QStringLiteral(".json") : QLatin1Char('-') + ending);
}

}  // namespace sextant::gui
