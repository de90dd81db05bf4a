// Opening, saving and exporting, with the questions and messages that go with them. Whatever fails, what is open stays open.
#pragma once

#include "gui/jobs/predictor.hpp"
#include "gui/models/selection.hpp"
#include "gui/views/export.hpp"
#include "gui/views/window/plan_export.hpp"

#include <QObject>

#include <filesystem>
#include <functional>
#include <string>

namespace sextant::gui {

class FileActions : public QObject {
    Q_OBJECT

public:
    FileActions(QWidget& window, Workbench&, Predictor&);

    void open(const QString& path);
    void open(const SessionPtr&);
    void ask_and_open();
    void open_again();  // as it is on the disk by now
    bool save();        // whether it is saved
    bool save_to(const QString& path);
    bool ask_and_save();
    // Asks about what is not saved; false: stay.
    bool may_leave();
    void ask_and_export(const ViewInfo&, Selection&, const PictureFormat&);
    void export_picture(const QString& path, const ViewInfo&, Selection&, const PictureFormat&);
    void ask_and_export_tables(const View&);
    void copy_picture(const ViewInfo&, Selection&);
    void copy_tables(const View&);
    void ask_and_export_plan(const PlanLanguage&);
    void write_plan(const QString& path, const PlanLanguage&);
    // `topology`: the view that is drawn into the page, where the step was played.
    void ask_and_export_report(const ViewInfo& topology, Selection&);
    void export_report(const QString& path, const ViewInfo& topology, Selection&);

signals:
    void exported(const QString& path);
    void copied();

private:
    // Asks where the file is not as it was when it was read or written here.
    bool may_replace(const std::filesystem::path&);
    // The session, once what was typed and asked has its answer.
    void when_answered(const std::function<void(const SessionPtr&)>& then);
    // Nothing, and the user is told, where there is none to draw.
    void draw(const ViewInfo&, Selection&, const std::function<void(const Drawing&)>& then);
    [[nodiscard]] QString ask_for_path(const QString& title, const QString& ending, const QString& filter);
    // Says so where there is none.
    std::vector<NamedTable> tables_of(const View&);
    // What the file is to hold is worked out, and written, in a thread of its own.
    void write(const QString& path, std::function<std::string()> contents);
    void write_report(const QString& path, const SessionPtr&, const ViewInfo& topology, Selection&);
    void show_refusal(const QString& path, const std::vector<Diagnostic>&, const SessionPtr& mendable);
    void complain(const QString& title, const QString& what);
    void remember_file();
    [[nodiscard]] QString suggested(const QString& ending) const;

    QWidget& window_;
    Workbench& workbench_;
    Predictor& predictor_;
    std::optional<QByteArray> on_disk_;  // the file, when it was opened or saved here
};

}  // namespace sextant::gui
