// A view: one way to look at the session. It gets the workbench and the selection, and knows no other view.
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

// A table that a view can give away as CSV.
struct NamedTable {
    QString name;
    const QAbstractItemModel* model = nullptr;  // lives as long as the view
};

class View : public QWidget {
    Q_OBJECT

public:
    View(Workbench&, Selection&);

    // All of it, also what must be scrolled to be seen: what an export shows.
    [[nodiscard]] virtual QWidget& page() { return *this; }
    [[nodiscard]] virtual std::vector<NamedTable> tables() const { return {}; }

    // Whether all of it is there; `completed` tells when it comes to be. An export waits for that.
    [[nodiscard]] virtual bool is_complete() const { return true; }

    // Whether a program is at work that would end with the view.
    [[nodiscard]] virtual bool is_at_work() const { return false; }

    // What keys are meant for when the view is chosen, if it makes much of them.
    [[nodiscard]] virtual QWidget* takes_keys() { return nullptr; }

    // Begins the work that the view otherwise leaves to its user to ask for, such as a search: for a picture of what comes of it.
    virtual void begin() {}

signals:
    // The user wants this file; whoever has the view knows how to open one.
    void wants_to_open(const QString& path);
    void wants_in_place(const sextant::gui::SessionPtr&);  // of what is open
    void wants_to_show(const QString& view);
    void completed();

protected:
    [[nodiscard]] Workbench& workbench() const { return workbench_; }
    [[nodiscard]] Selection& selection() const { return selection_; }

    // Whether the step is played that a view is to show, or cannot be.
    [[nodiscard]] bool is_played() const;

    // Called whenever the session is another, and when the view is shown: for what is not in the answer.
    virtual void follow(const Session&) {}
    // Called when there is another answer, once the view is shown; and at once when it is shown first.
    virtual void show_answer(const Session&, const Answer&) {}
    void showEvent(QShowEvent*) override;
    void changeEvent(QEvent*) override;

private:
    void refresh();

    Workbench& workbench_;
    Selection& selection_;
    std::shared_ptr<const Answer> shown_;
};

// A view of cards below one another, as high as they need to be, that scrolls.
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

// What is known of a view without making it.
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
