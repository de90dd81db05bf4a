#include "gui/views/scaling/scaling_plots.hpp"

#include "gui/models/text.hpp"
#include "model/io/search/plan_columns.hpp"

#include <algorithm>
#include <cmath>

namespace sextant::gui {
namespace {

using ValueOf = std::function<double(const ScalingPoint&)>;

QColor colour_of(const Scaling& s, const Look& look) { return s.request.weak ? look.good : look.accent; }
Mark mark_of(const Scaling& s) { return s.request.weak ? Mark::diamond : Mark::disc; }

// The sizes themselves, each twice as far as its half.
PlotAxis devices_axis(const ScalingFindings& f) {
    PlotAxis axis{QStringLiteral("devices"), 0, 0, true, {}};
    for (const Scaling& s : f.kinds)
        for (const ScalingPoint& p : s.points) {
            if (axis.marks.empty() || p.devices > axis.marks.back().value)
                axis.marks.push_back({static_cast<double>(p.devices), grouped(p.devices)});
        }
    const double first = axis.marks.empty() ? 1 : axis.marks.front().value, last = axis.marks.empty() ? 2 : axis.marks.back().value;
    axis.low = first / 1.15;
    axis.high = 1.15 * std::max(last, 2 * first);
    return axis;
}

PlotAxis doubling_axis(const QString& title, double smallest, double largest) {
    const double first = std::floor(std::log2(smallest / 1.2)), last = std::ceil(std::log2(1.2 * largest));
    PlotAxis axis{title, std::exp2(first), std::exp2(last), true, {}};
    const double step = std::max(1.0, std::ceil((last - first) / 8));
    for (double power = first; power <= last; power += step) axis.marks.push_back({std::exp2(power), grouped(std::exp2(power))});
    return axis;
}

QString tip_of(const Scaling& s, const ScalingPoint& p) {
    return QStringLiteral("<b>%1 devices, %2</b><br>%3<br>%4 a step, efficiency %5")
        .arg(grouped(p.devices), name_of(s), q(plan_line(p.best->plan)), quantity(p.best->step), percent(p.efficiency, 2));
}

void add_curves(Plot& plot, const ScalingFindings& f, const ValueOf& value_of, const Look& look) {
    int row = 0;
    for (const Scaling& s : f.kinds) {
        PlotLine line{.points = {}, .colour = colour_of(s, look)};
        for (const ScalingPoint& p : s.points) {
            const int key = row++;
            if (!p.best) continue;
            line.points.emplace_back(p.devices, value_of(p));
            PlotPoint point{.x = static_cast<double>(p.devices), .y = value_of(p), .key = key, .colour = colour_of(s, look)};
            point.mark = mark_of(s);
            point.tip = tip_of(s, p);
            plot.points.push_back(std::move(point));
        }
        plot.lines.push_back(std::move(line));
        plot.legend.push_back({name_of(s), colour_of(s, look), mark_of(s)});
        if (s.too_many && !s.request.weak)
            plot.limits.push_back({static_cast<double>(*s.pays_up_to), look.bad, QStringLiteral("pays up to here")});
    }
}

template <class Of>
void each(const ScalingFindings& f, const Of& of) {
    for (const Scaling& s : f.kinds)
        for (const ScalingPoint& p : s.points)
            if (p.best) of(p);
}

}  // namespace

std::shared_ptr<Chart> throughput_plot(const ScalingFindings& f, const Look& look) {
    auto plot = std::make_shared<Plot>();
    plot->x = devices_axis(f);
    const ScalingPoint* first = nullptr;
    double least = INFINITY, most = 0, last = 1;
    each(f, [&](const ScalingPoint& p) {
        if (!first || p.devices < first->devices) first = &p;
        least = std::min(least, p.best->samples_per_s.si());
        most = std::max(most, p.best->samples_per_s.si());
        last = std::max(last, static_cast<double>(p.devices));
    });
    if (!first) return plot;
    const double start = first->best->samples_per_s.si(), ideal = start * last / first->devices;
    plot->y =
        doubling_axis(q(f.kinds.front().request.search.job.workload.sample_word()) + QStringLiteral("s/s"), least, std::max(most, ideal));
    plot->lines.push_back({.points = {{static_cast<double>(first->devices), start}, {last, ideal}},
                           .colour = look.faint,
                           .width = 1.4,
                           .style = Qt::DashLine,
                           .name = QStringLiteral("linear")});
    add_curves(
        *plot, f, [](const ScalingPoint& p) { return p.best->samples_per_s.si(); }, look);
    return plot;
}

std::shared_ptr<Chart> efficiency_plot(const ScalingFindings& f, const Look& look) {
    auto plot = std::make_shared<Plot>();
    plot->x = devices_axis(f);
    double most = 1;
    each(f, [&](const ScalingPoint& p) { most = std::max(most, p.efficiency); });
    plot->y = even_axis(QStringLiteral("throughput of a device, over that at the smallest size"), most);
    for (Tick& tick : plot->y.marks) tick.label = percent(tick.value, 2);
    add_curves(
        *plot, f, [](const ScalingPoint& p) { return p.efficiency; }, look);
    return plot;
}

std::shared_ptr<Chart> cost_plot(const ScalingFindings& f, const Look& look) {
    const Scenario& job = f.kinds.front().request.search.job;
    const double tokens = static_cast<double>(std::max<std::int64_t>(1, job.workload.tokens_per_sample()));
    const auto cost = [&](const ScalingPoint& p) { return p.best->cost_per_sample ? p.best->cost_per_sample->si() * 1e6 / tokens : 0; };
    double most = 0;
    each(f, [&](const ScalingPoint& p) { most = std::max(most, cost(p)); });
    if (!(most > 0)) return nullptr;
    auto plot = std::make_shared<Plot>();
    plot->height = 260;
    plot->x = devices_axis(f);
    plot->y = even_axis(q(price_unit(job)), most);
    add_curves(*plot, f, cost, look);
    return plot;
}

}  // namespace sextant::gui
