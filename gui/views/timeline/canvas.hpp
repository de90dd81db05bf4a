// Shows timelines, in which wheel, pointer and keys scroll and zoom.
#pragma once

#include "gui/views/timeline/picture.hpp"

#include <QWidget>

namespace sextant::gui {

class TimelineCanvas : public QWidget {
    Q_OBJECT

public:
    TimelineCanvas();

    // Keeps the visible range, unless all of the old content was visible.
    void show_content(std::shared_ptr<const TimelineContent>);
    [[nodiscard]] const std::shared_ptr<const TimelineContent>& content() const { return content_; }
    [[nodiscard]] const TimelineAspect& aspect() const { return aspect_; }
    [[nodiscard]] double height_of_rows() const;

    void set_outdated(bool);  // the content belongs to an earlier question
    void set_streams(bool all);
    void set_links(bool);
    void set_critical_path(bool);
    void emphasize(std::optional<SpanKind>);
    void set_range(std::optional<TimeRange>);
    void set_ties(std::vector<Tie>);
    // And brings it into view.
    void choose(std::optional<ChosenSpan>);

    void fit();  // the range that is selected, or all
    void show_times(Seconds from, Seconds to);
    void zoom(double factor, double at_x);
    void scroll_to(double top);

    [[nodiscard]] QSize sizeHint() const override;

signals:
    void moved();  // another part of it is shown
    void chosen(const std::optional<sextant::gui::ChosenSpan>&);
    void range_selected(const std::optional<sextant::gui::TimeRange>&);

protected:
    void paintEvent(QPaintEvent*) override;
    void resizeEvent(QResizeEvent*) override;
    void wheelEvent(QWheelEvent*) override;
    void mousePressEvent(QMouseEvent*) override;
    void mouseMoveEvent(QMouseEvent*) override;
    void mouseReleaseEvent(QMouseEvent*) override;
    void mouseDoubleClickEvent(QMouseEvent*) override;
    void keyPressEvent(QKeyEvent*) override;
    void leaveEvent(QEvent*) override;
    bool event(QEvent*) override;

private:
    [[nodiscard]] TimelinePicture picture() const { return {*content_, aspect_, rect()}; }
    [[nodiscard]] QString tip_at(QPointF) const;
    void fit_rows();
    void point_at(std::optional<double> x);
    void pan(double pixels);
    void change_row_height(double factor);
    void keep_in_bounds();
    bool move_by_key(int key);
    void follow_tie(TieKind);
    void choose_beside(int step);
    void select_range(std::optional<TimeRange>);
    [[nodiscard]] TimeRange range_of_choice() const;

    std::shared_ptr<const TimelineContent> content_;
    TimelineAspect aspect_;
    bool outdated_ = false, rows_fit_ = true;
    // While a button is down.
    struct Drag {
        QPointF from, last;
        bool selects = false, has_moved = false;
    };
    std::optional<Drag> drag_;
};

}  // namespace sextant::gui
