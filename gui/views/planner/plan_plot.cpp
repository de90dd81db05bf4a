#include "gui/views/planner/plan_plot.hpp"

#include "gui/models/text.hpp"
#include "gui/views/paint/axis.hpp"
#include "model/io/search/plan_axis.hpp"
#include "model/io/search/plan_columns.hpp"

#include <algorithm>

namespace sextant::gui {
namespace {

constexpr double room_for_names = 1.1;  // above the highest point

class PlanPlot {
public:
    PlanPlot(const PlanFindings& findings, std::optional<std::size_t> open, PlanAxis axis, const Look& look)
        : f_(findings), job_(findings.answer.request.job), open_(open), axis_(axis), look_(look), memory_{device_memory()} {}

    std::shared_ptr<Chart> chart() {
        auto plot = std::make_shared<Plot>();
        double widest = 0, highest = 0;
        for (const FoundPlan& p : f_.plans) {
            widest = std::max(widest, x_of(p));
            highest = std::max(highest, p.choice.samples_per_s.si());
        }
        const bool has_limit = axis_ == PlanAxis::memory && memory_.shows_device(Bytes::from_si(widest));
        if (has_limit) widest = std::max(widest, memory_.device.si());
        plot->x = even_axis(x_title(has_limit), widest, axis_ == PlanAxis::memory ? AxisUnit{QStringLiteral("GB"), 1e9} : AxisUnit{});
        if (axis_ == PlanAxis::memory &&
            std::ranges::any_of(f_.plans, [&](const FoundPlan& p) { return memory_.is_beyond(p.choice.memory); }))
            plot->x.broken_at = memory_.broken_at().si();
        plot->y = even_axis(q(job_.workload.sample_word()) + QStringLiteral("s/s"), room_for_names * highest);
        if (has_limit)
            plot->limits.push_back({memory_.device.si(), look_.bad, QStringLiteral("a device has %1").arg(quantity(memory_.device))});
        plot->lines.push_back(front());
        add_points(*plot);
        const bool has_diamonds = std::ranges::any_of(f_.plans, [](const FoundPlan& p) { return p.on_front && !p.rank && !p.is_own; });
        plot->legend = {
            {QStringLiteral("the best"), look_.accent, Mark::disc},
            {QStringLiteral("the Pareto front: none beats these in everything"), look_.good, has_diamonds ? Mark::diamond : Mark::line},
            {name_of_own(), look_.warning, Mark::square}};
        return plot;
    }

private:
    [[nodiscard]] Bytes device_memory() const { return f_.plans.empty() ? Bytes{} : f_.plans.front().estimate.device_memory; }

    [[nodiscard]] QString name_of_own() const {
        return is_own_open(f_, open_) ? QStringLiteral("the scenario's own") : QStringLiteral("the plan as it was before");
    }

    [[nodiscard]] double x_of(const FoundPlan& p) const {
        switch (axis_) {
            case PlanAxis::memory: return memory_.place_of(p.choice.memory).si();
            case PlanAxis::cost: return p.choice.cost_per_sample ? price(*p.choice.cost_per_sample) : 0;
            case PlanAxis::devices: break;
        }
        return p.choice.devices;
    }
    // Of a million tokens, or samples where there are none.
    [[nodiscard]] double price(Money of_sample) const {
        return of_sample.si() * 1e6 / static_cast<double>(std::max<std::int64_t>(1, job_.workload.tokens_per_sample()));
    }
    [[nodiscard]] QString x_title(bool has_limit) const {
        return axis_ == PlanAxis::memory ? has_limit
                                               ? QStringLiteral("peak memory of a device in GB")
                                               : QStringLiteral("peak memory in GB of a device that has %1").arg(quantity(memory_.device))
               : axis_ == PlanAxis::cost ? q(price_unit(job_))
                                         : QStringLiteral("devices");
    }

    // As the axis shows it: from the left, what nobody beats at less.
    [[nodiscard]] PlotLine front() const {
        std::vector<QPointF> all;
        for (const FoundPlan& p : f_.plans)
            if (p.on_front) all.emplace_back(x_of(p), p.choice.samples_per_s.si());
        std::ranges::sort(all, {}, [](const QPointF& p) { return std::pair(p.x(), -p.y()); });
        PlotLine line{.points = {}, .colour = look_.good, .stepped = true};
        for (const QPointF& p : all)
            if (line.points.empty() || p.y() > line.points.back().y()) line.points.push_back(p);
        return line;
    }

    void add_points(Plot& plot) const {
        for (std::size_t i = f_.plans.size(); i-- > 0;) {
            const FoundPlan& p = f_.plans[i];
            PlotPoint point{.x = x_of(p), .y = p.choice.samples_per_s.si(), .key = static_cast<int>(i)};
            point.colour = p.is_own ? look_.warning : p.rank ? look_.accent : look_.good;
            point.mark = p.is_own ? Mark::square : p.rank ? Mark::disc : Mark::diamond;
            point.radius = p.rank == 0 ? 7.5 : p.rank ? 5.5 : 4.5;
            point.tip = QStringLiteral("<b>%1</b><br>%2<br>%3 a step, %4")
                            .arg(capitalized(name_of(f_, i, open_)), q(plan_line(p.choice.plan)), quantity(p.choice.step),
                                 quantity(p.choice.memory));
            if (p.rank == 0 || p.is_own || open_ == i) point.name = name_of(f_, i, open_);
            // It may stand at the edge, and not where its memory is.
            if (p.choice.memory > memory_.device) point.name = QStringLiteral("needs %1").arg(quantity(p.choice.memory));
            plot.points.push_back(std::move(point));
        }
        // The scenario's own is seen whatever is near it.
        std::ranges::stable_partition(plot.points, [&](const PlotPoint& p) { return !f_.plans[static_cast<std::size_t>(p.key)].is_own; });
    }

    const PlanFindings& f_;
    const Scenario& job_;
    std::optional<std::size_t> open_;
    PlanAxis axis_;
    const Look& look_;
    PlanMemoryAxis memory_;
};

}  // namespace

std::shared_ptr<Chart> plan_plot(const PlanFindings& findings, std::optional<std::size_t> open, PlanAxis axis, const Look& look) {
    return PlanPlot(findings, open, axis, look).chart();
}

}  // namespace sextant::gui
