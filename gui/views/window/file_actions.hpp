// Opens, saves and exports files, with the dialogs that belong to it. If something fails, what is open stays open.
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
    // Asks about unsaved changes. Returns false where the user wants to stay.
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
    // Asks first where another program has changed the file since it was read or written here.
    bool may_replace(const std::filesystem::path&);
    // Calls `then` with the session when everything that was typed has been answered.
    void when_answered(const std::function<void(const SessionPtr&)>& then);
    // Tells the user where there is nothing to draw, and does not call `then`.
    void draw(const ViewInfo&, Selection&, const std::function<void(const Drawing&)>& then);
    [[nodiscard]] QString ask_for_path(const QString& title, const QString& ending, const QString& filter);
    // Tells the user where there is none.
    std::vector<NamedTable> tables_of(const View&);
    // Computes the contents and writes the file in another thread.
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
