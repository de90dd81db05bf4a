// Opening, saving and exporting, with the questions and messages that go with them. Whatever fails, what is open stays open.
#pragma once

#include "gui/jobs/predictor.hpp"
#include "gui/models/selection.hpp"
#include "gui/views/export.hpp"

#include <QObject>
#include <QStringList>

#include <filesystem>

namespace sextant::gui {

class FileActions : public QObject {
    Q_OBJECT

public:
    // `remembers`: which files were open.
    FileActions(QWidget& window, Workbench&, Predictor&, bool remembers);

    void open(const QString& path);
    void ask_and_open();
    bool save();  // whether it is saved
    bool save_to(const QString& path);
    bool ask_and_save();
    // Asks about what is not saved; false: stay.
    bool may_leave();
    void ask_and_export(const ViewInfo&, Selection&, const PictureFormat&);
    void ask_and_export_tables(const View&);

    [[nodiscard]] QStringList recent() const;

private:
    void show_refusal(const QString& path, const std::vector<Diagnostic>&, const SessionPtr& mendable);
    void complain(const QString& title, const QString& what);
    void add_recent();
    [[nodiscard]] QString suggested(const QString& ending) const;

    QWidget& window_;
    Workbench& workbench_;
    Predictor& predictor_;
    bool remembers_;
};

}  // namespace sextant::gui
