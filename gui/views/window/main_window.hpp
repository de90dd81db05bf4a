// The window: the rail to choose a view, the view itself, the answer above it, the editor beside it, and the menus.
#pragma once

#include "gui/jobs/predictor.hpp"
#include "gui/views/view.hpp"
#include "gui/views/window/file_actions.hpp"

#include <QMainWindow>

#include <map>

class QActionGroup;
class QDockWidget;
class QLabel;
class QStackedWidget;
class QToolBar;

namespace sextant::gui {

class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    MainWindow(Workbench&, Selection&, Predictor&, bool dark);
    ~MainWindow() override;

    // Restores the place and the view of the last time.
    void recall();
    // `name`: one of view_list.hpp. A side view is shown beside the one in the centre.
    void show_view(const std::string& name);
    [[nodiscard]] View& view(const std::string& name);  // made when it is first asked for
    [[nodiscard]] FileActions& files() { return files_; }
    void set_dark(bool);

protected:
    void closeEvent(QCloseEvent*) override;
    void resizeEvent(QResizeEvent*) override;
    void dragEnterEvent(QDragEnterEvent*) override;
    void dropEvent(QDropEvent*) override;

private:
    void add_rail();
    void add_side_views();
    void place_side_views();
    void add_menus();
    void add_file_menu();
    void add_edit_menu();
    void add_view_menu();
    void add_help_menu();
    void copy_command_line();
    // Shows a message in the status bar for a while.
    void tell(const QString& what);
    [[nodiscard]] QString name_of_file() const;
    void refresh_title();
    void refresh_icons();
    void refresh_choices();
    void refresh_centre();
    [[nodiscard]] View* make(const ViewInfo&);
    // Asks about work that would end with the window. Returns false where the user wants to stay.
    bool may_end_work();
    void remember() const;
    // Shows the first view in the centre that needs, or does not need, a scenario.
    void show_first(bool with_scenario);
    [[nodiscard]] const ViewInfo& shown() const;

    Workbench& workbench_;
    Selection& selection_;
    bool dark_;
    FileActions files_;
    QToolBar* rail_;
    QStackedWidget* stack_;
    QLabel* nothing_;
    QActionGroup* choices_;
    std::map<std::string, QAction*> choice_of_;
    std::map<std::string, QDockWidget*> side_;
    bool side_by_side_ = true;  // those at the two sides; else they take turns in one place
    std::map<std::string, View*> made_;
};

}  // namespace sextant::gui
