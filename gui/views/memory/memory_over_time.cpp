#include "gui/views/memory/memory_over_time.hpp"

#include "gui/models/text.hpp"
#include "gui/views/paint/axis.hpp"
#include "model/base/evenly_spread.hpp"

#include <QPolygonF>

#include <algorithm>

namespace sextant::gui {
namespace {

constexpr double row_height = 52, row_gap = 10;
constexpr std::size_t most_rows = 8;

struct Band {
    Bytes height;
    Fill fill;
};
struct StageRow {
    QString label, note, tip;
    std::vector<Band> base;      // from the bottom up
    std::vector<Bytes> highest;  // above it, in equal intervals of the step
};

class MemoryCurves : public Chart {
public:
    std::vector<StageRow> rows;
    Bytes capacity, most;
    Seconds end;
    std::optional<TimeRange> range;

    [[nodiscard]] double height_for(double) const override {
        return static_cast<double>(rows.size()) * (row_height + row_gap) - row_gap + axis_height + 4;
    }

    std::vector<Hit> paint(QPainter& painter, const QRectF& area, const Look& look, std::optional<int>) const override {
        std::vector<Hit> hits;
        const double left = area.left() + room_beside(rows, &StageRow::label, Type::body),
                     right = area.right() - room_beside(rows, &StageRow::note, Type::strong);
        const double bottom = area.top() + height_for(area.width()) - axis_height - 4;
        paint_axis(painter, Scale{end.si(), left, right}, unit_for(end), area.top(), bottom, look);
        double y = area.top();
        for (const StageRow& row : rows) {
            const QRectF box(left, y, right - left, row_height);
            paint_row(painter, row, box, look);
            paint_range(painter, box, look);
            paint_text(painter, {area.left(), y, left - area.left() - 12, row_height}, Qt::AlignVCenter, row.label, font_of(Type::body),
                       look.text);
            paint_text(painter, {right + 12, y, area.right() - right - 12, row_height}, Qt::AlignVCenter, row.note, font_of(Type::strong),
                       look.text);
            hits.push_back({box, 0, row.tip, false});
            y += row_height + row_gap;
        }
        return hits;
    }

private:
    void paint_range(QPainter& painter, const QRectF& box, const Look& look) const {
        if (!range) return;
        const auto x_of = [&](Seconds t) { return box.left() + std::clamp(t / end, 0.0, 1.0) * box.width(); };
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(look.text, 1.5));
        painter.drawRect(QRectF(QPointF(x_of(range->from), box.top()), QPointF(x_of(range->to), box.bottom())));
    }

    void paint_row(QPainter& painter, const StageRow& row, const QRectF& box, const Look& look) const {
        const auto y_of = [&](Bytes b) { return box.bottom() - b / most * box.height(); };
        painter.fillRect(box, look.sunken);
        Bytes below;
        for (const Band& band : row.base) {
            const double top = y_of(below + band.height), bottom = y_of(below);
            if (bottom > top) paint_fill(painter, {box.left(), top, box.width(), bottom - top}, band.fill, look);
            below += band.height;
        }
        QPolygonF curve;
        curve << QPointF(box.left(), y_of(below));
        const double width = box.width() / static_cast<double>(row.highest.size());
        for (std::size_t i = 0; i < row.highest.size(); ++i) {
            const double x = box.left() + static_cast<double>(i) * width, y = y_of(below + row.highest[i]);
            curve << QPointF(x, y) << QPointF(x + width, y);
        }
        curve << QPointF(box.right(), y_of(below));
        painter.setPen(Qt::NoPen);
        painter.setBrush(fill_of(MemoryKind::activations).colour);
        painter.drawPolygon(curve);
        if (capacity > most) return;
        paint_limit_line(painter, {{box.left(), y_of(capacity)}, {box.right(), y_of(capacity)}}, look);
    }
};

// The most of the intervals that a range touches.
Bytes highest_within(const std::vector<Bytes>& highest, Seconds end, const TimeRange& range) {
    const auto count = static_cast<double>(highest.size());
    const auto at = [&](Seconds t) { return static_cast<std::ptrdiff_t>(std::clamp(t / end * count, 0.0, count - 1)); };
    return *std::max_element(highest.begin() + at(range.from), highest.begin() + at(range.to) + 1);
}

StageRow row_of(const MemoryTimeline& memory, std::vector<Bytes> highest, std::size_t stages, Bytes most) {
    StageRow row;
    row.label = stages > 1 ? QStringLiteral("stage %1").arg(memory.stage) : QString();
    row.note = quantity(memory.base.total() + most);
    QStringList held;
    for (const MemoryKind kind : all_memory_kinds) {
        if (!(memory.base[kind] > Bytes{})) continue;
        row.base.push_back({memory.base[kind], fill_of(kind)});
        held += QStringLiteral("%1 %2").arg(words_of(kind), quantity(memory.base[kind]));
    }
    row.tip = QStringLiteral("<b>At most %1</b>, first after %2 of the step<br>all the time: %3<br>what comes and goes: up to %4")
                  .arg(quantity(memory.peak()), quantity(memory.highest_at), held.join(QStringLiteral(", ")), quantity(memory.highest));
    row.highest = std::move(highest);
    return row;
}

}  // namespace

std::vector<std::size_t> stages_to_draw(const SimulationReport& played) {
    const auto fullest = std::ranges::max_element(played.memory, {}, &MemoryTimeline::peak) - played.memory.begin();
    return evenly_spread(played.memory.size(), most_rows, static_cast<std::size_t>(fullest));
}

std::shared_ptr<Chart> memory_over_time(const Simulated& simulated, const std::vector<std::size_t>& stages,
                                        const std::optional<TimeRange>& range) {
    const SimulationReport& played = *simulated.report;
    auto chart = std::make_shared<MemoryCurves>();
    chart->end = played.trace.end;
    chart->capacity = played.report.estimate.device_memory;
    chart->range = range;
    for (const std::size_t s : stages) {
        const Bytes most = range ? highest_within(simulated.memory[s], chart->end, *range) : played.memory[s].highest;
        chart->rows.push_back(row_of(played.memory[s], simulated.memory[s], played.memory.size(), most));
        chart->most = max(chart->most, played.memory[s].peak());
    }
    if (is_within_reach(chart->capacity, chart->most)) chart->most = max(chart->most, chart->capacity);
    chart->most *= 1.04;  // room above the line of the capacity
    return chart;
}

}  // namespace sextant::gui
