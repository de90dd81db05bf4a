#include "gui/views/timeline/picture.hpp"

#include "gui/models/text.hpp"
#include "gui/views/paint/axis.hpp"
#include "model/io/trace/span_style.hpp"

#include <QPaintEngine>
#include <QPainterPath>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace sextant::gui {
namespace {

constexpr std::size_t most_links = 10;
constexpr double link_height = 18, links_heading_height = 20, name_height = 14, narrowest_label = 18;  // a name has letters below its line
constexpr double least_named = 9, thin_name_height = 11;  // of letters that are smaller than elsewhere

std::uint64_t key(Origin origin, LaneIndex lane) { return std::uint64_t{lane} * 2 + (origin == Origin::measured ? 1 : 0); }

// Pieces of a lane in their colours. Onto a screen they are written pixel by pixel, which is many times faster than thousands of
// rectangles; in a drawing they are rectangles, those of one colour together.
class ColourRow {
public:
    ColourRow(QPainter& painter, const QRectF& area, bool divided) : painter_(painter), area_(area) {
        if (painter.paintEngine()->type() != QPaintEngine::Raster || area.width() < 1) return;
        pixels_ = QImage(static_cast<int>(area.width()), divided ? LanePiece::parts : 1, QImage::Format_ARGB32_Premultiplied);
        pixels_.fill(Qt::transparent);
    }

    void add(const LanePiece& piece, int width, const QColor& colour) {
        if (pixels_.isNull()) {
            const double part = area_.height() / LanePiece::parts;
            return rectangles_[colour.rgb()].append(
                QRectF(area_.left() + piece.left, area_.top() + part * piece.top, width, part * (piece.bottom - piece.top)));
        }
        for (int y = piece.top; y < std::min(piece.bottom, pixels_.height()); ++y) {
            auto* line = reinterpret_cast<QRgb*>(pixels_.scanLine(y));
            std::fill(line + piece.left, line + std::min(piece.left + width, pixels_.width()), colour.rgb());
        }
    }

    void paint() {
        if (!pixels_.isNull()) painter_.drawImage(QRectF(area_.left(), area_.top(), pixels_.width(), area_.height()), pixels_);
        painter_.setPen(Qt::NoPen);
        for (const auto& [colour, rectangles] : rectangles_) {
            painter_.setBrush(QColor(colour));
            painter_.drawRects(rectangles);
        }
    }

private:
    QPainter& painter_;
    QRectF area_;
    QImage pixels_;
    std::map<QRgb, QList<QRectF>> rectangles_;
};

// Of a kind, by the eighths of the time that it covers.
using Shades = EnumArray<SpanKind, std::array<QColor, 9>, span_kind_count>;

Shades shades_of(double strength, const Look& look) {
    Shades shades;
    for (const SpanKind k : all_span_kinds) {
        const Fill fill = fill_of(k);
        for (std::size_t covered = 0; covered < shades[k].size(); ++covered)
            shades[k][covered] =
                mixed(look.sunken, fill.colour, strength * (0.3 + 0.0875 * static_cast<double>(covered)) * (fill.hatched ? 0.6 : 1));
    }
    return shades;
}

}  // namespace

std::shared_ptr<const TimelineContent> content_of(std::shared_ptr<const Simulated> simulated, std::shared_ptr<const Measured> measured) {
    auto content = std::make_shared<TimelineContent>();
    content->ranks = rank_rows(simulated->timeline, measured ? &measured->timeline : nullptr);
    content->links = busiest_links(*simulated->report, most_links);
    content->end = simulated->report->trace.end;
    content->pipelined = is_pipelined(*simulated->timeline.trace);
    if (measured) content->end = max(content->end, measured->timeline.trace->end);
    content->simulated = std::move(simulated);
    content->measured = std::move(measured);
    return content;
}

TimelinePicture::TimelinePicture(const TimelineContent& content, const TimelineAspect& aspect, const QRectF& area)
    : content_(content),
      aspect_(aspect),
      area_(area),
      body_(area.adjusted(gutter, ruler, 0, 0)),
      window_{aspect.from, aspect.to, std::max(1, static_cast<int>(body_.width()))} {
    place_rows();
}

void TimelinePicture::place_rows() {
    const double begin = body_.top() - aspect_.top, side = std::max(4.0, std::round(0.64 * aspect_.row_height));
    const double between = aspect_.row_height < 12 ? 2 : 7;
    double y = begin + 4;
    for (const RankRows& rank : content_.ranks) {
        for (const StreamRow& stream : rank.streams) {
            if (!stream.is_main && !aspect_.all_streams) continue;
            const double height = stream.is_main ? aspect_.row_height : side;
            row_of_lane_[key(stream.origin, stream.lane)] = rows_.size();
            rows_.push_back({y, height, &rank, &stream, nullptr});
            y += height + 1;
        }
        y += between;
    }
    if (aspect_.links && !content_.links.empty()) {
        links_at_ = y;
        y += links_heading_height;
        for (const UtilizationSeries* link : content_.links) {
            rows_.push_back({y, link_height, nullptr, nullptr, link});
            y += link_height + 3;
        }
    }
    height_ = y - begin;
}

void TimelinePicture::paint(QPainter& painter, const Look& look) const {
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.fillRect(area_, look.surface);
    paint_scale(painter, look);
    painter.save();
    painter.setClipRect(QRectF(area_.left(), body_.top(), area_.width(), body_.height()), Qt::IntersectClip);
    double named_to = -INFINITY;  // of thin rows as many have a name as there is room for
    for (const Row& row : rows_) {
        if (row.y + row.height < body_.top() || row.y > body_.bottom()) continue;
        if (row.y >= named_to) named_to = paint_name(painter, row, look);
        if (row.stream)
            paint_stream(painter, row, look);
        else
            paint_link(painter, row, look);
    }
    if (links_at_)
        paint_text(painter, {area_.left() + gap, *links_at_, gutter, links_heading_height}, Qt::AlignVCenter,
                   QStringLiteral("links in use"), font_of(Type::strong), look.text);
    painter.setClipRect(body_, Qt::IntersectClip);
    painter.setRenderHint(QPainter::Antialiasing);
    if (aspect_.critical_path) paint_path(painter, look);
    paint_choice(painter, look);
    painter.restore();
    paint_range(painter, look);
}

// Round numbers between two times.
void TimelinePicture::paint_scale(QPainter& painter, const Look& look) const {
    const AxisUnit unit = unit_for(aspect_.to);
    const double range = (aspect_.to - aspect_.from).si() / unit.si;
    const double step = svg::round_step(range, std::max(2.0, body_.width() / 110));
    const int decimals = decimals_of(step);
    const QFont font = font_of(Type::small);
    const double from = aspect_.from.si() / unit.si;
    for (double i = std::ceil(from / step); i * step <= from + range; ++i) {
        const double x = x_of(Seconds::from_si(i * step * unit.si));
        painter.setPen(QPen(look.grid, 1));
        painter.drawLine(QPointF(std::round(x) + 0.5, body_.top() - 4), QPointF(std::round(x) + 0.5, body_.bottom()));
        const QString label = QString::number(i * step, 'f', decimals) + QLatin1Char(' ') + unit.name;
        if (x + 4 + text_width(label, font) < body_.right())
            paint_text(painter, {x + 4, area_.top(), 120, ruler - 4}, Qt::AlignVCenter, label, font, look.faint);
    }
    painter.setPen(QPen(look.border, 1));
    painter.drawLine(QPointF(area_.left(), body_.top() - 0.5), QPointF(area_.right(), body_.top() - 0.5));
    if (aspect_.pointer) paint_pointer(painter, unit, look);
}

// When it is below the pointer, to a pixel.
void TimelinePicture::paint_pointer(QPainter& painter, const AxisUnit& unit, const Look& look) const {
    const double x = std::clamp(*aspect_.pointer, body_.left(), body_.right());
    const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(window_.pixel().si() / unit.si))), 0, 9);
    const QString label = QString::number(time_at(x).si() / unit.si, 'f', decimals) + QLatin1Char(' ') + unit.name;
    const QFont font = font_of(Type::small);
    const double width = text_width(label, font) + gap, left = std::clamp(x - width / 2, body_.left(), body_.right() - width);
    painter.fillRect(QRectF(left, area_.top() + 1, width, ruler - 6), look.accent_ground);
    paint_text(painter, {left, area_.top(), width, ruler - 4}, Qt::AlignCenter, label, font, look.accent);
    painter.fillRect(QRectF(x, body_.top() - 5, 1, 4), look.accent);
}

void TimelinePicture::paint_ruler(QPainter& painter, const Look& look) const {
    painter.fillRect(QRectF(area_.left(), area_.top(), area_.width(), ruler), look.surface);
    paint_scale(painter, look);
    paint_range(painter, look);
}

double TimelinePicture::paint_name(QPainter& painter, const Row& row, const Look& look) const {
    const QRectF place(area_.left() + gap, row.y, gutter - 2 * gap, row.height);
    if (row.link) {
        paint_text(painter, place, Qt::AlignVCenter, name_of(*row.link), font_of(Type::small), look.faint);
        return place.bottom();
    }
    QFont font = font_of(row.height < 16 ? Type::small : Type::strong);
    const bool is_thin = row.height < name_height;
    if (is_thin) font.setPixelSize(static_cast<int>(thin_name_height) - 1);
    // The first row of a rank names it; rows that are too thin give their room to it.
    const bool first = row.stream == &row.rank->streams.front() || (row.stream->is_main && !aspect_.all_streams);
    if (first) {
        const QRectF higher(place.left(), row.y, place.width(), std::max(row.height, is_thin ? thin_name_height : name_height));
        const QColor ink = row.rank->origin == Origin::measured ? look.accent : look.text;
        paint_text(painter, higher, Qt::AlignVCenter, row.rank->name, font, ink);
        return higher.bottom();
    }
    if (row.height < least_named) return row.y;
    paint_text(painter, place, Qt::AlignVCenter | Qt::AlignRight, row.stream->name, is_thin ? font : font_of(Type::small), look.faint);
    return place.bottom();
}

void TimelinePicture::paint_stream(QPainter& painter, const Row& row, const Look& look) const {
    const Timeline& timeline = content_.of(row.stream->origin);
    painter.fillRect(area_of(row), look.sunken);
    paint_pieces(painter, row, timeline.lanes.pieces(row.stream->lane, window_), aspect_.critical_path, look);
    if (aspect_.critical_path) paint_pieces(painter, row, timeline.critical.pieces(row.stream->lane, window_), false, look);
}

void TimelinePicture::paint_pieces(QPainter& painter, const Row& row, const std::vector<LanePiece>& pieces, bool dimmed,
                                   const Look& look) const {
    const Shades full = shades_of(1, look), faint = shades_of(0.22, look);
    const auto is_faded = [&](const LanePiece& p) { return dimmed || (aspect_.emphasized && *aspect_.emphasized != p.kind); };
    const auto colour_of = [&](const LanePiece& p) {
        return (is_faded(p) ? faint : full)[p.kind][static_cast<std::size_t>(8 * p.covered)];
    };
    const auto width_of = [](const LanePiece& p) { return p.right - p.left - (p.span && p.right - p.left > 4 ? 1 : 0); };  // a seam between
    const bool divided = std::ranges::any_of(pieces, [](const LanePiece& p) { return p.bottom - p.top < LanePiece::parts; });
    ColourRow colours(painter, area_of(row), divided);
    for (const LanePiece& piece : pieces) colours.add(piece, width_of(piece), colour_of(piece));
    colours.paint();
    for (const LanePiece& piece : pieces) {
        const int width = width_of(piece);
        if (!piece.span || is_faded(piece) || width < narrowest_label) continue;
        const QRectF box(body_.left() + piece.left, row.y, width, row.height);
        const Fill fill = fill_of(piece.kind);
        if (fill.hatched)
            paint_fill(painter, box, fill, look);
        else if (row.height >= name_height)
            paint_label(painter, row, piece, box, colour_of(piece));
    }
}

// The longest name that there is room for.
void TimelinePicture::paint_label(QPainter& painter, const Row& row, const LanePiece& piece, const QRectF& box,
                                  const QColor& ground) const {
    const Trace& trace = *content_.of(row.stream->origin).trace;
    const Span& span = trace.spans[*piece.span];
    const QFont font = font_of(Type::small);
    const double letters = (box.width() - 6) / 6.2;  // about as wide as one is; to measure each text would take longer than to paint it
    QString label;
    const bool is_of_two_kinds = span.kind == SpanKind::read || span.kind == SpanKind::decode;  // one work of loaders
    const QString kind = q(style_of(span.kind).name);
    const QString shortest = content_.pipelined && is_of_micro_batch(span) ? QString::number(span.micro_batch) : kind;
    for (const QString& name : {is_of_two_kinds ? kind : work_of(trace, span), kind, shortest}) {
        label = name;
        if (static_cast<double>(label.size()) <= letters) break;
    }
    if (static_cast<double>(label.size()) > letters + 1) return;
    painter.setFont(font);
    painter.setPen(text_on(ground));
    painter.drawText(box, Qt::AlignCenter | Qt::TextSingleLine | Qt::TextDontClip, label);
}

void TimelinePicture::paint_link(QPainter& painter, const Row& row, const Look& look) const {
    const QRectF area = area_of(row);
    painter.fillRect(area, look.sunken);
    const Seconds end = content_.simulated->report->trace.end;
    const auto count = static_cast<double>(row.link->busy.size());
    const auto first = static_cast<std::size_t>(std::clamp(std::floor(aspect_.from / end * count), 0.0, count));
    for (std::size_t i = first; i < row.link->busy.size(); ++i) {
        const double left = std::max(body_.left(), x_of(static_cast<double>(i) / count * end));
        const double right = std::min(body_.right(), x_of(static_cast<double>(i + 1) / count * end));
        if (left >= body_.right()) break;
        const double busy = std::clamp(row.link->busy[i], 0.0, 1.0), height = busy > 0 ? std::max(1.0, busy * row.height) : 0;
        painter.fillRect(QRectF(std::round(left), row.y + row.height - height, std::round(right) - std::round(left), height),
                         colour_of_utilization(busy, look));
    }
    constexpr double hardly = 0.1;
    if (const double most = highest_of(*row.link); most < hardly)
        paint_text(painter, area.adjusted(gap, 0, 0, -1), Qt::AlignVCenter,
                   QStringLiteral("at most %1, on average over 1/%2 of the time").arg(percent(most)).arg(row.link->busy.size()),
                   font_of(Type::small), look.faint);
}

std::optional<QRectF> TimelinePicture::row_of(const ChosenSpan& chosen) const {
    const Timeline& timeline = content_.of(chosen.origin);
    if (const auto found = row_of_lane_.find(key(chosen.origin, timeline.lanes.lane_of(chosen.span))); found != row_of_lane_.end())
        return area_of(rows_[found->second]);
    // Of a stream that is not shown: its rank.
    const GraphRank rank = timeline.trace->spans[chosen.span].rank;
    for (const Row& row : rows_)
        if (row.rank && row.rank->origin == chosen.origin && row.rank->rank == rank) return area_of(row);
    return std::nullopt;
}

QRectF TimelinePicture::box_of(const ChosenSpan& chosen, const QRectF& row) const {
    const Span& span = content_.of(chosen.origin).trace->spans[chosen.span];
    const double left = x_of(span.start), right = std::max(left + 2, x_of(span.end));
    return {left, row.top(), right - left, row.height()};
}

// From one rank to another, where there are few enough to be told apart.
void TimelinePicture::paint_path(QPainter& painter, const Look& look) const {
    const Timeline& timeline = content_.simulated->timeline;
    const std::vector<SpanIndex>& path = timeline.path.spans;
    const auto start = [&](SpanIndex s) { return timeline.trace->spans[s].start; };
    const auto begin = std::ranges::lower_bound(path, aspect_.from, {}, start), end = std::ranges::upper_bound(path, aspect_.to, {}, start);
    constexpr std::ptrdiff_t most = 400;
    if (end - begin > most || begin == end) return;
    painter.setPen(QPen(look.text, 1.2));
    for (auto at = begin + 1; at < end; ++at) {
        if (timeline.lanes.lane_of(*at) == timeline.lanes.lane_of(*(at - 1))) continue;
        const auto above = row_of({Origin::predicted, *(at - 1)}), below = row_of({Origin::predicted, *at});
        if (!above || !below) continue;
        const double x = x_of(start(*at));
        painter.drawLine(QPointF(x, above->center().y()), QPointF(x, below->center().y()));
    }
}

void TimelinePicture::paint_range(QPainter& painter, const Look& look) const {
    if (!aspect_.range) return;
    const double left = std::max(x_of(aspect_.range->from), body_.left()), right = std::min(x_of(aspect_.range->to), body_.right());
    if (right <= left) return;
    QColor shade = look.accent;
    shade.setAlphaF(0.14F);
    painter.fillRect(QRectF(left, body_.top(), right - left, body_.height()), shade);
    painter.fillRect(QRectF(left, area_.top(), right - left, ruler - 1), look.accent_ground);
    painter.setPen(QPen(look.accent, 1));
    for (const double x : {left, right}) painter.drawLine(QPointF(x, area_.top()), QPointF(x, body_.bottom()));
    paint_text(painter, {left, area_.top(), right - left, ruler - 2}, Qt::AlignCenter, quantity(aspect_.range->to - aspect_.range->from),
               font_of(Type::small), look.accent);
}

void TimelinePicture::paint_choice(QPainter& painter, const Look& look) const {
    if (!aspect_.chosen) return;
    for (const Tie& tie : aspect_.ties) paint_tie(painter, tie, look);
    if (const auto row = row_of(*aspect_.chosen)) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(look.surface, 4));
        painter.drawRect(box_of(*aspect_.chosen, *row).adjusted(-1, -1, 1, 1));
        painter.setPen(QPen(look.text, 2));
        painter.drawRect(box_of(*aspect_.chosen, *row).adjusted(-1, -1, 1, 1));
    }
}

void TimelinePicture::paint_tie(QPainter& painter, const Tie& tie, const Look& look) const {
    const Origin origin = aspect_.chosen->origin;
    const auto above = row_of({origin, tie.from}), below = row_of({origin, tie.to});
    if (!above || !below) return;
    const QPointF from(box_of({origin, tie.from}, *above).right(), above->center().y());
    const QPointF to(box_of({origin, tie.to}, *below).left(), below->center().y());
    const QColor ink = tie.kind == TieKind::effect ? look.warning : look.accent;
    painter.setPen(QPen(ink, tie.kind == TieKind::cause ? 2.2 : 1.4, tie.kind == TieKind::needed ? Qt::DashLine : Qt::SolidLine));
    painter.setBrush(Qt::NoBrush);
    const double bend = std::max(14.0, std::abs(to.x() - from.x()) / 2);
    QPainterPath line(from);
    line.cubicTo(from + QPointF(bend, 0), to - QPointF(bend, 0), to);
    painter.drawPath(line);
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink);
    painter.drawPolygon(QPolygonF({to, to + QPointF(-7, -3.5), to + QPointF(-7, 3.5)}));
}

TimelinePicture::Spot TimelinePicture::spot_at(QPointF p) const {
    Spot spot;
    const auto row = std::ranges::find_if(rows_, [&](const Row& r) { return p.y() >= r.y - 0.5 && p.y() < r.y + r.height + 0.5; });
    if (row == rows_.end() || p.y() < body_.top()) return spot;
    spot.rank = row->rank;
    spot.stream = row->stream;
    spot.link = row->link;
    spot.row = area_of(*row);
    if (!row->stream || p.x() < body_.left()) return spot;
    constexpr double reach = 3;  // pixels
    if (const auto span = content_.of(row->stream->origin).lanes.at(row->stream->lane, time_at(p.x()), reach * window_.pixel()))
        spot.span = {row->stream->origin, *span};
    return spot;
}

}  // namespace sextant::gui
