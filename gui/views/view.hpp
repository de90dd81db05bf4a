// A view shows one aspect of the session. It gets the workbench and the selection, and knows no other view.
//
// To add one: a file with a function `ViewInfo x_view()`, and a line in view_list.cpp. Menus, the rail, --view, screenshots, exports and
// tests find it there.
#pragma once

#include "gui/models/selection.hpp"
#include "gui/models/workbench.hpp"

#include <QAbstractItemModel>
#include <QWidget>

#include <functional>
#include <memory>
#include <string>
#include <vector>

class QVBoxLayout;

namespace sextant::gui {

class ChartWidget;

// A table that a view can export as CSV.
struct NamedTable {
    QString name;
    const QAbstractItemModel* model = nullptr;  // lives as long as the view
};

class View : public QWidget {
    Q_OBJECT

public:
    View(Workbench&, Selection&);

    // The whole contents of the view, including what must be scrolled to be seen. An export shows this widget.
    [[nodiscard]] virtual QWidget& page() { return *this; }
    [[nodiscard]] virtual std::vector<NamedTable> tables() const { return {}; }

    // Whether the contents are complete. Emits `completed` when they become so; an export waits for that.
    [[nodiscard]] virtual bool is_complete() const { return true; }

    // Whether a program is running that would end with the view.
    [[nodiscard]] virtual bool runs_program() const { return false; }

    // The widget that gets the keyboard focus when the view is chosen; null where it does not matter.
    [[nodiscard]] virtual QWidget* takes_keys() { return nullptr; }

    // Starts work that a user would otherwise ask for, such as a search, so that a screenshot can show its results.
    virtual void begin() {}

signals:
    // The user wants to open this file; the window does it.
    void wants_to_open(const QString& path);
    void wants_in_place(const sextant::gui::SessionPtr&);  // of what is open
    void wants_to_show(const QString& view);
    void completed();

protected:
    [[nodiscard]] Workbench& workbench() const { return workbench_; }
    [[nodiscard]] Selection& selection() const { return selection_; }

    // Whether the simulation that the view shows is there, or is not possible.
    [[nodiscard]] bool is_played() const;

    // Choosing a term in the chart selects it, and the chart emphasizes the one that is selected.
    void shares_term(ChartWidget&);

    // Called whenever the session has changed, and when the view is shown: for what is not part of the answer.
    virtual void follow(const Session&) {}
    // Called for each new answer while the view is shown, and when it is shown for the first time.
    virtual void show_answer(const Session&, const Answer&) {}
    void showEvent(QShowEvent*) override;
    void changeEvent(QEvent*) override;

private:
    void refresh();

    Workbench& workbench_;
    Selection& selection_;
    std::shared_ptr<const Answer> shown_;
};

// A scrolling view of cards below one another, each as high as it needs to be.
class PageView : public View {
    Q_OBJECT

public:
    PageView(Workbench&, Selection&);
    [[nodiscard]] QWidget& page() override { return *page_; }

protected:
    [[nodiscard]] QVBoxLayout& column() const { return *column_; }

private:
    QWidget* page_;
    QVBoxLayout* column_;
};

enum class Place {
    centre,  // one of them at a time
    left,    // beside whatever is in the centre
    right,
};

// What is known of a view before it is made.
struct ViewInfo {
    std::string name;  // in --view: "summary"
    QString title;     // "Summary"
    QString tip;       // in a sentence, what it answers
    std::string icon;  // SVG elements in a square of 24, drawn with a pen
    Place place = Place::centre;
    bool needs_scenario = true;  // there is nothing to see without one
    bool open_at_first = true;   // of one at the side
    std::function<std::unique_ptr<View>(Workbench&, Selection&)> make;
};

}  // namespace sextant::gui
