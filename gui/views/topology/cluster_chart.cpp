#include "gui/views/topology/cluster_chart.hpp"

#include "gui/models/text.hpp"
#include "gui/models/timeline/segments.hpp"
#include "gui/views/paint/axis.hpp"
#include "gui/views/topology/cluster_layout.hpp"

#include <QLinearGradient>
#include <QPainterPath>

#include <algorithm>
#include <cmath>
#include <set>

namespace sextant::gui {
namespace {

using namespace units;

// 1 pixel for a slow Ethernet, 6 for the port of an NVSwitch: the logarithm of the bandwidth.
double thickness(Bandwidth b) {
    if (!std::isfinite(b.si()) || b <= Bandwidth{}) return 1;
    return std::clamp(1.0 + 1.75 * std::log10(b / (1 * GB / units::s)), 1.0, 6.0);
}

QString title_of(const ShownNode& n, const Placement& placement) {
    const bool serves = std::ranges::find(placement.node_of_server, n.node) != placement.node_of_server.end();
    if (n.stands_for == 1) return (serves ? QStringLiteral("server, node %1") : QStringLiteral("node %1")).arg(n.node);
    return serves ? QStringLiteral("%1 servers").arg(grouped(n.stands_for))
                  : QStringLiteral("%1 nodes like node %2").arg(grouped(n.stands_for)).arg(n.node);
}

// One painting of the picture.
class Painting {
public:
    Painting(const ClusterChart& chart, QPainter& painter, const QRectF& area, const Look& look)
        : chart_(chart),
          map_(*chart.map),
          topology_(*map_.machine.topology),
          painter_(painter),
          look_(look),
          layout_(lay_out(map_, area.width(), chart.rank)) {
        painter.translate(area.topLeft());
    }

    std::vector<Hit> paint() {
        for (const NodeBox& box : layout_.boxes) paint_box(box);
        for (const int l : map_.fabric_links) paint_link(l);
        for (const NodeBox& box : layout_.boxes)
            for (const int l : map_.links_of_node[static_cast<std::size_t>(box.shown.node)]) paint_link(l);
        paint_storage();
        for (const auto& [vertex, place] : layout_.place) paint_vertex(vertex, place);
        paint_legend();
        std::ranges::stable_sort(ranks_, {}, &Hit::key);
        ranks_.insert(ranks_.end(), links_.begin(), links_.end());
        return std::move(ranks_);
    }

private:
    const TopologyVertex& vertex(int v) const { return topology_.vertices()[static_cast<std::size_t>(v)]; }
    const TopologyLink& link(int l) const { return topology_.links()[static_cast<std::size_t>(l)]; }

    void paint_box(const NodeBox& box) {
        painter_.setPen(QPen(look_.border, 1));
        painter_.setBrush(look_.background);
        if (box.shown.stands_for > 1)  // those behind it
            for (const double by : {6.0, 3.0}) painter_.drawRoundedRect(box.area.translated(by, -by).adjusted(0, 0, -6, 0), 6, 6);
        painter_.drawRoundedRect(box.area.adjusted(0, 0, -6, 0), 6, 6);
        const double below = names_ranks(map_) ? ranks_line : 0;
        if (below > 0)
            paint_text(painter_, box.area.adjusted(10, 0, -14, -5), Qt::AlignBottom | Qt::AlignHCenter, ranks_of(box.shown.node),
                       font_of(Type::small), look_.faint);
        const QRectF line = box.area.adjusted(10, 0, -14, -5 - below);
        paint_text(painter_, line, Qt::AlignBottom | Qt::AlignHCenter, title_of_box(box, line.width()), font_of(Type::strong), look_.text);
    }

    // Where a machine has two kinds.
    QString kind_of_device(int rank) const {
        const std::optional<Straggler>& others = map_.scenario.straggler;
        if (!others || !others->device) return {};
        return q(rank < others->devices ? others->device->name : map_.scenario.cluster.node.device.name);
    }

    // With the kind of its devices, where they are of one and there is room for it.
    QString title_of_box(const NodeBox& box, double room) const {
        QString title = title_of(box.shown, map_.machine.placement);
        const int of_node = topology_.devices_per_node(), first = box.shown.node * of_node;
        std::set<QString> kinds;
        for (int d = first; d < first + of_node; ++d)
            if (const auto r = map_.rank_of_device[static_cast<std::size_t>(d)]) kinds.insert(kind_of_device(*r));
        if (kinds.size() != 1 || kinds.begin()->isEmpty()) return title;
        QString longer = title + QStringLiteral(": ") + *kinds.begin();
        if (text_width(longer, font_of(Type::strong)) <= room) return longer;
        return title;
    }

    // None of a node that serves parameters.
    QString ranks_of(int node) const {
        std::vector<int> ranks;
        const int of_node = topology_.devices_per_node(), first = node * of_node;
        for (int d = first; d < first + of_node; ++d)
            if (const auto r = map_.rank_of_device[static_cast<std::size_t>(d)]) ranks.push_back(*r);
        if (ranks.empty()) return {};
        const auto [least, most] = std::ranges::minmax(ranks);
        return QStringLiteral("ranks %1 to %2").arg(grouped(least), grouped(most));
    }

    void paint_link(int l) {
        const auto from = layout_.place.find(link(l).from), to = layout_.place.find(link(l).to);
        if (from == layout_.place.end() || to == layout_.place.end()) return;
        const double use = use_of(map_, l, chart_.range);
        const bool is_used = map_.series(l) || map_.series(l ^ 1);
        const QPainterPath way = way_of(from->second, to->second);
        painter_.setBrush(Qt::NoBrush);
        painter_.setPen(QPen(is_used ? colour_of_utilization(use, look_) : look_.border, is_used ? thickness(link(l).bandwidth) : 1,
                             is_used ? Qt::SolidLine : Qt::DotLine, Qt::FlatCap));
        painter_.drawPath(way);
        const QString tip = link_tip(l);
        constexpr int spots = 10;
        constexpr double reach = 5;
        for (int i = 1; i < spots; ++i) {
            const QPointF p = way.pointAtPercent(static_cast<double>(i) / spots);
            links_.push_back({QRectF(p.x() - reach, p.y() - reach, 2 * reach, 2 * reach), -1, tip, false});
        }
    }

    // From edge to edge where one is above the other; in an arc below where they stand in one level.
    static QPainterPath way_of(const QRectF& a, const QRectF& b) {
        const bool beside = std::abs(a.top() - b.top()) < 1;
        if (const double between = std::max(a.left(), b.left()) - std::min(a.right(), b.right()); beside && between < 16) {
            QPainterPath line({std::min(a.right(), b.right()), a.center().y()});
            line.lineTo(std::max(a.left(), b.left()), a.center().y());
            return line;
        }
        if (beside) {
            QPainterPath arc({a.center().x(), a.bottom()});
            const double sag = std::min(26.0, 8 + std::abs(a.center().x() - b.center().x()) / 9);
            arc.quadTo({(a.center().x() + b.center().x()) / 2, a.bottom() + 2 * sag}, {b.center().x(), b.bottom()});
            return arc;
        }
        const QRectF& upper = a.top() < b.top() ? a : b;
        const QRectF& lower = a.top() < b.top() ? b : a;
        // A wide one is left straight above.
        const double x = std::clamp(lower.center().x(), upper.left() + 4, std::max(upper.left() + 4, upper.right() - 4));
        const double below = std::clamp(upper.center().x(), lower.left() + 4, std::max(lower.left() + 4, lower.right() - 4));
        QPainterPath line({x, upper.bottom()});
        line.lineTo(upper.width() > lower.width() ? lower.center().x() : below, lower.top());
        return line;
    }

    QString link_tip(int l) const {
        QStringList lines{QStringLiteral("<b>%1 \u2013 %2</b>").arg(q(vertex(link(l).from).name), q(vertex(link(l).to).name))};
        const Bandwidth bandwidth = link(l).bandwidth;
        lines += std::isfinite(bandwidth.si()) ? QStringLiteral("%1, %2 each way").arg(gui::name_of(link(l).category), quantity(bandwidth))
                                               : QStringLiteral("%1, never limits").arg(gui::name_of(link(l).category));
        for (const int direction : {l, l ^ 1}) {
            const UtilizationSeries* s = map_.series(direction);
            if (!s) continue;
            const double use = use_of(map_, *s, chart_.range);
            lines += QStringLiteral("%1 \u2192 %2: %3 in use")
                         .arg(q(vertex(link(direction).from).name), q(vertex(link(direction).to).name), percent(use)) +
                     (chart_.range ? QString() : QStringLiteral(" at most, on average over ") + name_of_interval(map_));
        }
        if (lines.size() == 2) lines += QStringLiteral("carries nothing");
        return lines.join(QStringLiteral("<br>"));
    }

    std::optional<int> rank_at(int v) const {
        if (vertex(v).kind != VertexKind::device) return std::nullopt;
        const int device = *vertex(v).node * topology_.devices_per_node() + vertex(v).index;
        return map_.rank_of_device[static_cast<std::size_t>(device)];
    }

    // As long as there is room for.
    QString label_of(int v, double room, const QFont& font) const {
        const TopologyVertex& at = vertex(v);
        const auto fitting = [&](const QString& longer, const QString& shorter) {
            return text_width(longer, font) <= room ? longer : shorter;
        };
        switch (at.kind) {
            case VertexKind::device: return rank_at(v) ? fitting(QString::number(*rank_at(v)), {}) : QStringLiteral("\u2013");
            case VertexKind::pcie_switch: return fitting(QStringLiteral("PCIe"), {});
            case VertexKind::socket: return fitting(QStringLiteral("socket %1").arg(at.index), QStringLiteral("S%1").arg(at.index));
            case VertexKind::host_memory: return fitting(QStringLiteral("RAM"), QStringLiteral("M"));
            case VertexKind::nic: return fitting(QStringLiteral("NIC"), QString::number(at.index));
            case VertexKind::peer_switch: return fitting(QStringLiteral("NVSwitch"), {});
            case VertexKind::leaf: return room > 54 ? QStringLiteral("leaf %1").arg(at.index) : QString::number(at.index);
            case VertexKind::spine: return QStringLiteral("spine");
        }
        return {};
    }

    void paint_vertex(int v, const QRectF& place) {
        const auto rank = rank_at(v);
        const bool in_group = rank && chart_.group.contains(*rank), is_rank = rank && rank == chart_.rank;
        QColor ground = look_.surface;
        if (rank) ground = colour_of_utilization(use_of_rank(map_, *rank, chart_.range), look_);
        painter_.setPen(is_rank || in_group ? QPen(look_.warning, is_rank ? 4 : 2.5) : QPen(look_.faint, 1));
        painter_.setBrush(ground);
        painter_.drawRoundedRect(place, 3, 3);
        QFont font = font_of(Type::small);
        if (rank && text_width(QString::number(*rank), font) > place.width() - 3) font.setPixelSize(font.pixelSize() - 2);
        paint_text(painter_, place.adjusted(-4, 0, 4, 0), Qt::AlignCenter, label_of(v, place.width() - 2, font), font,
                   rank ? text_on(ground) : look_.text);
        ranks_.push_back({place, rank.value_or(-1), vertex_tip(v), rank.has_value()});
    }

    QString vertex_tip(int v) const {
        const auto rank = rank_at(v);
        if (!rank) return QStringLiteral("<b>%1</b>").arg(q(vertex(v).name));
        const QString place = place_in_words(map_, *rank);
        const QString kind = kind_of_device(*rank);
        return QStringLiteral("<b>rank %1</b> on %2%3%4<br>kernels run for %5 of the time")
            .arg(*rank)
            .arg(q(vertex(v).name), kind.isEmpty() ? kind : QStringLiteral(", ") + kind,
                 place.isEmpty() ? QString() : QStringLiteral("<br>") + place, percent(use_of_rank(map_, *rank, chart_.range)));
    }

    void paint_storage() {
        if (layout_.storage.isEmpty()) return;
        const StorageClass& storage = *map_.scenario.data.storage;
        QPointF to = layout_.boxes.back().area.center();
        for (const auto& [v, place] : layout_.place)
            if (vertex(v).kind == VertexKind::leaf && place.right() > to.x()) to = place.center();
        painter_.setPen(QPen(look_.faint, 1.5, Qt::DashLine));
        painter_.drawLine(layout_.storage.center(), to);
        painter_.setPen(QPen(look_.faint, 1));
        painter_.setBrush(look_.surface);
        painter_.drawRoundedRect(layout_.storage, 8, 8);
        paint_text(painter_, layout_.storage.adjusted(8, 0, -8, 0), Qt::AlignCenter, q(storage.name), font_of(Type::small), look_.text);
        const QString bandwidth =
            storage.read_bandwidth ? QStringLiteral(": %1 for one stream").arg(quantity(**storage.read_bandwidth)) : QString();
        ranks_.push_back(
            {layout_.storage, -1, QStringLiteral("<b>samples come from here</b>: %1%2").arg(q(storage.name), bandwidth), false});
    }

    void paint_legend() {
        const QRectF& area = layout_.legend;
        const QFont font = font_of(Type::small);
        double x = area.left(), y = area.top() + 4;
        constexpr double line = 16, between = 16, swatch = 22;
        const auto make_room = [&](double width) {
            if (x > area.left() && x + width > area.right()) {
                x = area.left();
                y += line + 2;
            }
        };
        const auto write = [&](const QString& text) {
            const double width = text_width(text, font);
            paint_text(painter_, {x, y, width + 1, line}, Qt::AlignVCenter, text, font, look_.faint);
            x += width + 6;
        };
        write(chart_.range || map_.report().links.empty() ? QStringLiteral("in use: 0 %")
                                                          : QStringLiteral("in use over %1: 0 %").arg(name_of_interval(map_)));
        QLinearGradient ramp(x, 0, x + 120, 0);
        for (const double at : {0.0, 0.333, 0.667, 1.0}) ramp.setColorAt(at, colour_of_utilization(at, look_));
        painter_.fillRect(QRectF(x, y + 2, 120, line - 4), ramp);
        x += 126;
        write(QStringLiteral("100 %"));
        x += between;
        for (const Bandwidth b : {1 * GB / units::s, 10 * GB / units::s, 100 * GB / units::s}) {
            make_room(swatch + 5 + text_width(quantity(b), font));
            painter_.setPen(QPen(look_.faint, thickness(b), Qt::SolidLine, Qt::FlatCap));
            painter_.drawLine(QPointF(x, y + line / 2), QPointF(x + swatch, y + line / 2));
            x += swatch + 5;
            write(quantity(b));
        }
        x += between - 6;
        const QString group = QStringLiteral("group of the rank");
        make_room(swatch + text_width(group, font));
        painter_.setPen(QPen(look_.warning, 2.5));
        painter_.setBrush(Qt::NoBrush);
        painter_.drawRoundedRect(QRectF(x, y + 1, 16, line - 2), 3, 3);
        x += swatch;
        write(group);
        paint_words({area.left(), y + line + 2, area.width(), area.bottom() - y - line - 2});
    }

    void paint_words(QRectF area) {
        constexpr double line = 18;
        const QFont font = font_of(Type::small);
        if (layout_.shown.left_out > 0) {
            paint_text(painter_, {area.left(), area.top(), area.width(), line}, Qt::AlignVCenter,
                       QStringLiteral("%1 more nodes are of other kinds; click a rank, or choose one, to see its node.")
                           .arg(grouped(layout_.shown.left_out)),
                       font, look_.faint);
            area.adjust(0, line, 0, 0);
        }
        paint_two_lines(painter_, area, levels_text(map_), font, look_.faint);
    }

    const ClusterChart& chart_;
    const ClusterMap& map_;
    const Topology& topology_;
    QPainter& painter_;
    const Look& look_;
    ClusterLayout layout_;
    std::vector<Hit> ranks_, links_;
};

}  // namespace

double ClusterChart::height_for(double width) const { return lay_out(*map, width, rank).height; }

std::vector<Hit> ClusterChart::paint(QPainter& painter, const QRectF& area, const Look& look, std::optional<int>) const {
    painter.save();
    std::vector<Hit> hits = Painting(*this, painter, area, look).paint();
    painter.restore();
    for (Hit& hit : hits) hit.area.translate(area.topLeft());
    return hits;
}

}  // namespace sextant::gui
