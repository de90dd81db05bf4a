#include "gui/views/timeline/canvas.hpp"

#include "gui/models/text.hpp"

#include <QApplication>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace sextant::gui {
namespace {

constexpr double normal_row = 22, highest_fitted_row = 30, least_fitted_row = 9;
constexpr double least_named_row = 14;            // whose streams have names
constexpr double key_zoom = 1.4, key_pan = 0.15;  // of what is shown
constexpr double finest = 1e-9;                   // of the step: where zooming ends

}  // namespace

TimelineCanvas::TimelineCanvas() {
    setObjectName(QStringLiteral("timeline"));
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(320, 140);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void TimelineCanvas::show_content(std::shared_ptr<const TimelineContent> content) {
    const bool all = !content_ || (aspect_.from <= Seconds{} && aspect_.to >= content_->end);
    content_ = std::move(content);
    aspect_.chosen.reset();
    aspect_.ties.clear();
    if (all) {
        aspect_.from = {};
        aspect_.to = content_->end;
    }
    outdated_ = false;
    fit_rows();
    keep_in_bounds();
    updateGeometry();
}

double TimelineCanvas::height_of_rows() const { return content_ ? picture().height() : 0; }

// Rows as high as there is room for, as long as nobody has chosen another height.
void TimelineCanvas::fit_rows() {
    if (!content_ || !rows_fit_) return;
    const auto fits = [&](double row) {
        aspect_.row_height = row;
        return picture().height() <= height() - TimelinePicture::ruler;
    };
    const auto has_streams = [](const RankRows& rank) { return rank.streams.size() > 1; };
    const bool names_streams = aspect_.all_streams && std::ranges::any_of(content_->ranks, has_streams);
    double fitting = names_streams ? least_named_row : least_fitted_row, above = highest_fitted_row + 1;
    while (above - fitting > 1) {
        const double middle = std::floor((fitting + above) / 2);
        (fits(middle) ? fitting : above) = middle;
    }
    aspect_.row_height = fitting;
}

void TimelineCanvas::keep_in_bounds() {
    if (!content_) return;
    const Seconds most = content_->end;
    const Seconds length = min(most, max(aspect_.to - aspect_.from, finest * most));
    aspect_.from = max(Seconds{}, min(aspect_.from, most - length));
    aspect_.to = aspect_.from + length;
    const double room = height() - TimelinePicture::ruler;
    aspect_.top = std::clamp(aspect_.top, 0.0, std::max(0.0, picture().height() - room));
    update();
    emit moved();
}

void TimelineCanvas::set_outdated(bool outdated) {
    outdated_ = outdated;
    update();
}

void TimelineCanvas::set_streams(bool all) {
    aspect_.all_streams = all;
    fit_rows();
    keep_in_bounds();
}

void TimelineCanvas::set_links(bool shown) {
    aspect_.links = shown;
    fit_rows();
    keep_in_bounds();
}

void TimelineCanvas::set_critical_path(bool shown) {
    aspect_.critical_path = shown;
    update();
}

void TimelineCanvas::emphasize(std::optional<SpanKind> kind) {
    aspect_.emphasized = kind;
    update();
}

void TimelineCanvas::set_range(std::optional<TimeRange> range) {
    aspect_.range = range;
    update();
}

void TimelineCanvas::set_ties(std::vector<Tie> ties) {
    aspect_.ties = std::move(ties);
    update();
}

void TimelineCanvas::choose(std::optional<ChosenSpan> span) {
    if (!content_ || span == aspect_.chosen) return;
    aspect_.chosen = span;
    aspect_.ties.clear();
    if (span) {
        const Span& s = content_->of(span->origin).trace->spans[span->span];
        const Seconds length = aspect_.to - aspect_.from;
        if (s.end <= aspect_.from || s.start >= aspect_.to) {
            aspect_.from = s.start - 0.5 * (length - min(length, s.end - s.start));
            aspect_.to = aspect_.from + length;
        }
        const QRectF body = picture().body();
        if (const auto row = picture().row_of(*span)) {
            if (row->top() < body.top()) aspect_.top -= body.top() - row->top() + 2 * gap;
            if (row->bottom() > body.bottom()) aspect_.top += row->bottom() - body.bottom() + 2 * gap;
        }
    }
    keep_in_bounds();
    emit chosen(span);
}

void TimelineCanvas::fit() {
    if (!content_) return;
    rows_fit_ = true;
    fit_rows();
    if (aspect_.range) return show_times(aspect_.range->from, aspect_.range->to);
    show_times({}, content_->end);
}

void TimelineCanvas::show_times(Seconds from, Seconds to) {
    aspect_.from = from;
    aspect_.to = to;
    keep_in_bounds();
}

void TimelineCanvas::zoom(double factor, double at_x) {
    if (!content_) return;
    const TimelinePicture now = picture();
    const double x = std::clamp(at_x, now.body().left(), now.body().right());
    const Seconds fixed = now.time_at(x);
    const double part = (x - now.body().left()) / std::max(1.0, now.body().width());
    const Seconds length = max(finest * content_->end, min(content_->end, (aspect_.to - aspect_.from) / factor));
    show_times(fixed - part * length, fixed + (1 - part) * length);
}

void TimelineCanvas::pan(double pixels) {
    const Seconds by = pixels / std::max(1.0, picture().body().width()) * (aspect_.to - aspect_.from);
    show_times(aspect_.from + by, aspect_.to + by);
}

void TimelineCanvas::scroll_to(double top) {
    if (top == aspect_.top) return;
    aspect_.top = top;
    keep_in_bounds();
}

void TimelineCanvas::change_row_height(double factor) {
    rows_fit_ = false;
    aspect_.row_height = std::clamp(std::round(aspect_.row_height * factor), TimelinePicture::least_row, TimelinePicture::highest_row);
    keep_in_bounds();
}

QSize TimelineCanvas::sizeHint() const {
    // With room for rows of their usual height.
    TimelineAspect usual = aspect_;
    if (rows_fit_) usual.row_height = normal_row;
    const double rows = content_ ? TimelinePicture(*content_, usual, rect()).height() : 0;
    return {800, static_cast<int>(std::clamp(rows + TimelinePicture::ruler, 240.0, 4000.0))};
}

void TimelineCanvas::paintEvent(QPaintEvent* e) {
    QPainter painter(this);
    const Look& look = look_of(*this);
    if (!content_) return painter.fillRect(rect(), look.surface);
    e->rect().bottom() < TimelinePicture::ruler ? picture().paint_ruler(painter, look) : picture().paint(painter, look);
    if (outdated_) painter.fillRect(rect(), veil_of(look));
    if (hasFocus()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(look.accent, 1));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void TimelineCanvas::resizeEvent(QResizeEvent* e) {
    QWidget::resizeEvent(e);
    fit_rows();
    keep_in_bounds();
}

// Over the names the wheel scrolls the rows; over the rest it zooms, and with Shift or sideways it moves through time.
void TimelineCanvas::wheelEvent(QWheelEvent* e) {
    if (!content_) return;
    constexpr double notch = 120;
    const QPoint turned = e->angleDelta();
    const double down = turned.y() / notch, sideways = turned.x() / notch;
    if (e->modifiers() & Qt::ControlModifier)
        change_row_height(std::pow(1.15, down));
    else if (e->modifiers() & Qt::ShiftModifier || std::abs(sideways) > std::abs(down))
        pan(-(down + sideways) * 60);
    else if (e->position().x() < TimelinePicture::gutter)
        scroll_to(std::max(0.0, aspect_.top - down * 60));
    else
        zoom(std::pow(1.25, down), e->position().x());
    e->accept();
}

void TimelineCanvas::mousePressEvent(QMouseEvent* e) {
    if (!content_ || e->button() != Qt::LeftButton) return;
    drag_ = Drag{e->position(), e->position(), (e->modifiers() & Qt::ShiftModifier) != 0, false};
}

void TimelineCanvas::point_at(std::optional<double> x) {
    aspect_.pointer = x;
    update(0, 0, width(), static_cast<int>(TimelinePicture::ruler));
}

void TimelineCanvas::leaveEvent(QEvent* e) {
    point_at(std::nullopt);
    QWidget::leaveEvent(e);
}

void TimelineCanvas::mouseMoveEvent(QMouseEvent* e) {
    if (!content_) return;
    point_at(e->position().x() < TimelinePicture::gutter ? std::nullopt : std::optional(e->position().x()));
    if (!drag_) {
        const bool on_something = picture().spot_at(e->position()).span.has_value();
        return setCursor(on_something ? Qt::PointingHandCursor : Qt::ArrowCursor);
    }
    const QPointF by = e->position() - drag_->last;
    drag_->has_moved = drag_->has_moved || (e->position() - drag_->from).manhattanLength() >= QApplication::startDragDistance();
    if (!drag_->has_moved) return;
    drag_->last = e->position();
    if (drag_->selects) {
        const TimelinePicture now = picture();
        const auto time = [&](double x) { return now.time_at(std::clamp(x, now.body().left(), now.body().right())); };
        const Seconds a = time(drag_->from.x()), b = time(e->position().x());
        return set_range(TimeRange{min(a, b), max(a, b)});
    }
    setCursor(Qt::ClosedHandCursor);
    aspect_.top -= by.y();
    pan(-by.x());
}

void TimelineCanvas::mouseReleaseEvent(QMouseEvent* e) {
    if (!drag_ || e->button() != Qt::LeftButton) return;
    const Drag drag = *std::exchange(drag_, std::nullopt);
    setCursor(Qt::ArrowCursor);
    if (drag.has_moved && drag.selects) emit range_selected(aspect_.range);
    if (!drag.has_moved && drag.selects) emit range_selected(std::nullopt);
    if (!drag.has_moved && !drag.selects) choose(picture().spot_at(e->position()).span);
}

void TimelineCanvas::mouseDoubleClickEvent(QMouseEvent* e) {
    if (!content_) return;
    const auto span = picture().spot_at(e->position()).span;
    if (!span) return;
    const Span& s = content_->of(span->origin).trace->spans[span->span];
    const Seconds margin = 0.5 * (s.end - s.start);
    show_times(s.start - margin, s.end + margin);
}

bool TimelineCanvas::move_by_key(int key) {
    const QRectF body = picture().body();
    switch (key) {
        case Qt::Key_A:
        case Qt::Key_Left: return pan(-key_pan * body.width()), true;
        case Qt::Key_D:
        case Qt::Key_Right: return pan(key_pan * body.width()), true;
        case Qt::Key_W:
        case Qt::Key_Plus:
        case Qt::Key_Equal: return zoom(key_zoom, body.center().x()), true;
        case Qt::Key_S:
        case Qt::Key_Minus: return zoom(1 / key_zoom, body.center().x()), true;
        case Qt::Key_Up: return scroll_to(std::max(0.0, aspect_.top - 40)), true;
        case Qt::Key_Down: return scroll_to(aspect_.top + 40), true;
        case Qt::Key_PageUp: return scroll_to(std::max(0.0, aspect_.top - body.height())), true;
        case Qt::Key_PageDown: return scroll_to(aspect_.top + body.height()), true;
        case Qt::Key_Home: return show_times({}, aspect_.to - aspect_.from), true;
        case Qt::Key_End: return show_times(content_->end - (aspect_.to - aspect_.from), content_->end), true;
        case Qt::Key_F: return fit(), true;
        case Qt::Key_BracketLeft: return follow_tie(TieKind::cause), true;
        case Qt::Key_BracketRight: return follow_tie(TieKind::effect), true;
        case Qt::Key_Comma: return choose_beside(-1), true;
        case Qt::Key_Period: return choose_beside(1), true;
        case Qt::Key_R: return select_range(range_of_choice()), true;
        default: return false;
    }
}

// To what let the chosen one begin, or to the first that it let begin.
void TimelineCanvas::follow_tie(TieKind kind) {
    const auto tie = std::ranges::find(aspect_.ties, kind, &Tie::kind);
    if (aspect_.chosen && tie != aspect_.ties.end())
        choose(ChosenSpan{aspect_.chosen->origin, kind == TieKind::cause ? tie->from : tie->to});
}

// The segment before or behind the chosen one in its lane; without one, the first in the uppermost lane of what is shown.
void TimelineCanvas::choose_beside(int step) {
    const StreamRow& uppermost = content_->ranks.front().streams.front();
    const Origin origin = aspect_.chosen ? aspect_.chosen->origin : uppermost.origin;
    const Timeline& timeline = content_->of(origin);
    const auto lane = timeline.lanes.spans(aspect_.chosen ? timeline.lanes.lane_of(aspect_.chosen->span) : uppermost.lane);
    const auto start = [&](SpanIndex s) { return timeline.trace->spans[s].start; };
    const auto now =
        aspect_.chosen ? std::ranges::find(lane, aspect_.chosen->span) : std::ranges::lower_bound(lane, aspect_.from, {}, start);
    const auto next = now - lane.begin() + (aspect_.chosen ? step : 0);
    if (next >= 0 && next < std::ssize(lane)) choose(ChosenSpan{origin, lane[static_cast<std::size_t>(next)]});
}

void TimelineCanvas::select_range(std::optional<TimeRange> range) {
    set_range(range);
    emit range_selected(range);
}

// Of the chosen segment, else of all that is shown.
TimeRange TimelineCanvas::range_of_choice() const {
    if (!aspect_.chosen) return {aspect_.from, aspect_.to};
    const Span& span = content_->of(aspect_.chosen->origin).trace->spans[aspect_.chosen->span];
    return {span.start, span.end};
}

void TimelineCanvas::keyPressEvent(QKeyEvent* e) {
    if (!content_ || e->modifiers() & (Qt::ControlModifier | Qt::AltModifier)) return QWidget::keyPressEvent(e);
    if (move_by_key(e->key())) return;
    if (e->key() != Qt::Key_Escape) return QWidget::keyPressEvent(e);
    if (aspect_.chosen) return choose(std::nullopt);
    select_range(std::nullopt);
}

QString TimelineCanvas::tip_at(QPointF p) const {
    const TimelinePicture::Spot spot = picture().spot_at(p);
    if (spot.span) {
        const Trace& trace = *content_->of(spot.span->origin).trace;
        const Span& span = trace.spans[spot.span->span];
        return QStringLiteral("<b>%1</b><br>%2")
            .arg(title_of(trace, span).toHtmlEscaped(), figures_of(span, content_->step_of(spot.span->origin)));
    }
    if (spot.link) {
        const Seconds end = content_->simulated->report->trace.end;
        const QString alike = spot.link->count > 1 ? tr(", and %n more that are used alike", nullptr, spot.link->count - 1) : QString();
        return tr("<b>%1</b>%2<br>%3 of its bandwidth in use in what is shown, %4 over the step")
            .arg(q(spot.link->name).toHtmlEscaped(), alike, percent(mean_within(*spot.link, end, aspect_.from, aspect_.to)),
                 percent(mean_of(*spot.link)));
    }
    if (!spot.rank || p.x() >= TimelinePicture::gutter) return {};
    return spot.stream->is_main ? spot.rank->tip : tr("%1: %2").arg(spot.stream->name, spot.rank->tip);
}

bool TimelineCanvas::event(QEvent* e) {
    if (e->type() != QEvent::ToolTip || !content_) return QWidget::event(e);
    const auto* help = static_cast<QHelpEvent*>(e);
    const QString tip = tip_at(help->pos());
    tip.isEmpty() ? QToolTip::hideText() : QToolTip::showText(help->globalPos(), tip, this);
    return true;
}

}  // namespace sextant::gui
