// A picture of timelines: rows of ranks and their streams, and of links, on one time axis. A value that paints itself and knows no widget.
#pragma once

#include "gui/models/selection.hpp"
#include "gui/models/simulated.hpp"
#include "gui/models/timeline/rows.hpp"
#include "gui/models/timeline/segments.hpp"
#include "gui/views/paint/axis.hpp"
#include "gui/views/paint/look.hpp"

#include <QPainter>

#include <memory>
#include <optional>
#include <unordered_map>

namespace sextant::gui {

// What the picture shows.
struct TimelineContent {
    std::shared_ptr<const Simulated> simulated;
    std::shared_ptr<const Measured> measured;  // null where there is nothing to compare with
    std::vector<RankRows> ranks;
    std::vector<const UtilizationSeries*> links;
    Seconds end;             // of whichever ends last
    bool pipelined = false;  // several stages: a number on a segment is that of its micro-batch

    [[nodiscard]] const Timeline& of(Origin o) const { return o == Origin::predicted ? simulated->timeline : measured->timeline; }
    // Of one step: where workers go on without each other, several are played.
    [[nodiscard]] Seconds step_of(Origin o) const {
        if (o == Origin::predicted) return simulated->report->report.estimate.step;
        return measured->run ? measured->run->step() : measured->timeline.trace->end;
    }
};
std::shared_ptr<const TimelineContent> content_of(std::shared_ptr<const Simulated>, std::shared_ptr<const Measured>);

struct ChosenSpan {
    Origin origin = Origin::predicted;
    SpanIndex span = 0;
    friend bool operator==(const ChosenSpan&, const ChosenSpan&) = default;
};

// Which part of it is shown, and how.
struct TimelineAspect {
    Seconds from, to;
    double top = 0;          // of the rows, how much is above the picture
    double row_height = 22;  // of a main stream
    bool all_streams = true, links = true, critical_path = false;
    std::optional<SpanKind> emphasized;
    std::optional<ChosenSpan> chosen;
    std::vector<Tie> ties;  // of what is chosen
    std::optional<TimeRange> range;
    std::optional<double> pointer;  // where it is, from the left
};

class TimelinePicture {
public:
    static constexpr double gutter = 200, ruler = 24, least_row = 5, highest_row = 60;

    TimelinePicture(const TimelineContent&, const TimelineAspect&, const QRectF& area);

    void paint(QPainter&, const Look&) const;
    void paint_ruler(QPainter&, const Look&) const;  // alone: it follows the pointer

    [[nodiscard]] double height() const { return height_; }  // of all rows
    // What is at a place.
    struct Spot {
        std::optional<ChosenSpan> span;
        const RankRows* rank = nullptr;
        const StreamRow* stream = nullptr;
        const UtilizationSeries* link = nullptr;
        QRectF row;
    };
    [[nodiscard]] Spot spot_at(QPointF) const;
    [[nodiscard]] Seconds time_at(double x) const { return window_.time_at(x - body_.left()); }
    [[nodiscard]] const QRectF& body() const { return body_; }  // without names and scale
    // Where the row of a span is, whether or not it can be seen.
    [[nodiscard]] std::optional<QRectF> row_of(const ChosenSpan&) const;

private:
    struct Row {
        double y = 0, height = 0;
        const RankRows* rank = nullptr;
        const StreamRow* stream = nullptr;
        const UtilizationSeries* link = nullptr;
    };
    void place_rows();
    [[nodiscard]] QRectF area_of(const Row& row) const { return {body_.left(), row.y, body_.width(), row.height}; }
    [[nodiscard]] double x_of(Seconds t) const { return body_.left() + window_.x_of(t); }
    [[nodiscard]] QRectF box_of(const ChosenSpan&, const QRectF& row) const;

    void paint_scale(QPainter&, const Look&) const;
    void paint_pointer(QPainter&, const AxisUnit&, const Look&) const;
    [[nodiscard]] double paint_name(QPainter&, const Row&,
                                    const Look&) const;  // where it ends; no lower than the row begins where it has none
    void paint_stream(QPainter&, const Row&, const Look&) const;
    void paint_pieces(QPainter&, const Row&, const std::vector<LanePiece>&, bool dimmed, const Look&) const;
    void paint_label(QPainter&, const Row&, const LanePiece&, const QRectF& box, const QColor& ground) const;
    void paint_link(QPainter&, const Row&, const Look&) const;
    void paint_path(QPainter&, const Look&) const;
    void paint_range(QPainter&, const Look&) const;
    void paint_choice(QPainter&, const Look&) const;
    void paint_tie(QPainter&, const Tie&, const Look&) const;

    const TimelineContent& content_;
    const TimelineAspect& aspect_;
    QRectF area_, body_;
    Window window_;
    std::vector<Row> rows_;
    double height_ = 0;
    std::optional<double> links_at_;  // the heading above them
    std::unordered_map<std::uint64_t, std::size_t> row_of_lane_;
};

}  // namespace sextant::gui
