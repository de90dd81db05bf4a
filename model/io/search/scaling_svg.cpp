#include "model/base/grouped_digits.hpp"
#include "model/base/quantity_text.hpp"
#include "model/io/format/chart.hpp"
#include "model/io/search/plan_columns.hpp"
#include "model/io/search/scaling_writer.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

constexpr svg::Colour measured{76, 130, 184}, ideal{158, 158, 158}, limit{192, 57, 43};

}  // namespace

std::string scaling_svg(const Scaling& s) {
    const Scenario& job = s.request.search.job;
    std::vector<const ScalingPoint*> points;
    for (const ScalingPoint& p : s.points)
        if (p.best) points.push_back(&p);
    svg::Axis x{"devices", 1, 2, true, {}}, y{std::string(job.workload.sample_word()) + "s/s", 1, 2, true, {}};
    const std::string kind =
        s.request.weak ? "Weak scaling: the global batch grows with the devices." : "Strong scaling: the global batch stays as it is.";
    if (points.empty()) return svg::Chart(job.name, kind + " No plan fits.", x, y).document();
    const ScalingPoint &first = *points.front(), &last = *points.back();
    const double start = first.best->samples_per_s.si(), grown = start * last.devices / first.devices;
    x.low = first.devices;
    x.high = std::max(2 * x.low, 1.0 * last.devices);
    for (const ScalingPoint* p : points) x.at.push_back(p->devices);
    y.low = std::exp2(std::floor(std::log2(0.99 * start)));
    y.high = std::exp2(std::ceil(std::log2(1.01 * std::max(start, grown))));
    const std::string verdict = s.too_many ? " More than " + grouped_digits(*s.pays_up_to) + " devices do not pay." : "";
    svg::Chart chart(job.name, kind + verdict, x, y);
    chart.line({{x.low, start}, {1.0 * last.devices, grown}}, ideal, true);
    std::vector<svg::ChartPoint> line;
    line.reserve(points.size());
    for (const ScalingPoint* p : points) line.push_back({1.0 * p->devices, p->best->samples_per_s.si()});
    chart.line(line, measured);
    for (std::size_t i = 0; i < points.size(); ++i)
        chart.point(line[i], measured, 5, plan_line(points[i]->best->plan), percent_text(points[i]->efficiency, 2));
    if (s.too_many) chart.mark_x(*s.pays_up_to, limit, "pays up to here");
    chart.legend("best plan, and its efficiency", measured);
    chart.legend("as many times the throughput as devices", ideal);
    return chart.document();
}

}  // namespace sextant
