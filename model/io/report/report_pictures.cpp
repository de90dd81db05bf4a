#include "model/io/report/report_pictures.hpp"

#include "model/base/evenly_spread.hpp"
#include "model/base/quantity_text.hpp"
#include "model/io/format/chart.hpp"
#include "model/io/format/text_table.hpp"
#include "model/io/trace/span_style.hpp"
#include "model/report/worth_telling.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

constexpr double width = 1080, text_size = 12;
constexpr svg::Colour held{102, 157, 206}, too_much{192, 57, 43}, line{60, 68, 77};

}  // namespace

std::string terms_svg(const Estimate& e) {
    constexpr double top = 8, height = 34, line_height = 20, mark = 11;
    std::string bar, legend;
    double x = 0, legend_x = 0, legend_y = top + height + 14;
    for (const Term term : all_terms) {
        const double share = e.terms[term] / e.step, wide = share * width;
        if (share < worth_telling) continue;
        const svg::Colour colour = colour_of(term);
        const std::string name = words(to_text(term)), time = to_text(e.terms[term]);
        bar += svg::rectangle(x, top, wide, height, colour.hex(), std::string(name).append(": ").append(time));
        if (svg::width_of(time, text_size) + 8 < wide)
            bar += svg::text(x + wide / 2, top + height / 2 + 4, time, {text_size, colour.text_on_it(), svg::Anchor::middle, false});
        x += wide;
        const std::string entry = name + " " + percent_text(share, 2);
        const double room = mark + 6 + svg::width_of(entry, text_size) + 14;
        if (legend_x + room > width && legend_x > 0) {
            legend_x = 0;
            legend_y += line_height;
        }
        legend += svg::rectangle(legend_x, legend_y, mark, mark, colour.hex()) +
                  svg::text(legend_x + mark + 6, legend_y + mark - 1, entry, {.size = text_size});
        legend_x += room;
    }
    return svg::document(width, legend_y + line_height, "Where a step goes", bar + legend);
}

std::string memory_svg(const Estimate& e) {
    constexpr std::size_t most = 16;
    constexpr double left = 90, bar_height = 18, row = 24, top = 26;
    // Totals stand beside the bars, in a column that the line of the device does not cross.
    const double scale = (width - left - 90) / std::max(e.device_memory, e.peak_memory).si();
    std::string body;
    double y = top;
    for (const std::size_t stage : evenly_spread(e.memory.size(), most)) {
        const Bytes total = e.memory[stage].total();
        body += svg::text(left - 8, y + 13, "stage " + std::to_string(stage), {text_size, "#333333", svg::Anchor::end, false});
        body += svg::rectangle(left, y, total.si() * scale, bar_height, (total > e.device_memory ? too_much : held).hex(), to_text(total));
        body += svg::text(width - 80, y + 13, to_text(total), {.size = text_size});
        y += row;
    }
    const double limit = left + e.device_memory.si() * scale;
    body += svg::line(limit, top - 6, limit, y, line.hex(), 1.5);
    body += svg::text(limit, top - 10, "a device has " + to_text(e.device_memory), {text_size, "#333333", svg::Anchor::end, true});
    return svg::document(width, y + 6, "Memory of each stage", body);
}

std::string roofline_svg(const Roofline& r) {
    const auto highest = std::ranges::find_if(r.roofs, &Roof::used);
    if (highest == r.roofs.end() || r.kernels.empty()) return {};
    const double peak = highest->peak.si(), stream = r.stream.si();
    const auto rate = [](const RooflineKernel& k) { return (k.kernel.flops / k.time).si(); };
    double least = peak / stream, most = 4 * peak / stream, slowest = peak;
    Seconds longest;
    for (const RooflineKernel& k : r.kernels)
        if (const auto intensity = k.intensity()) {
            least = std::min(least, *intensity);
            most = std::max(most, *intensity);
            slowest = std::min(slowest, rate(k));
            longest = max(longest, k.in_step());
        }
    const auto below = [](double v) { return std::exp2(std::floor(std::log2(v))); };
    const double unit = 1e12;
    svg::Chart chart("Operators on the device", "Larger points take longer in a step; kernels without matrix work are left out.",
                     {"operations for a byte (FLOP/B)", below(least), 2 * below(most), true, {}},
                     {"attained TFLOP/s", below(slowest / unit), 2 * below(peak / unit), true, {}});
    const double foot = std::max(below(least), below(slowest / unit) * unit / stream);  // where it enters the chart
    chart.line({{foot, foot * stream / unit}, {peak / stream, peak / unit}}, line);
    const double end = 2 * below(most);
    for (const Roof& roof : r.roofs) {
        if (!roof.used) continue;
        const double level = roof.peak.si() / unit;
        chart.line({{roof.peak.si() / stream, level}, {end, level}}, line);
        chart.point({end, level}, line, 0, "", std::string(to_text(roof.type)) + ": " + to_text(roof.peak));
    }
    for (const RooflineKernel& k : r.kernels)
        if (const auto intensity = k.intensity())
            chart.point(
                {*intensity, rate(k) / unit}, k.kernel.kind == KernelKind::gemm ? held : colour_of(Term::optimizer),
                2.5 + 9 * std::sqrt(k.in_step() / longest),
                k.kernel.name + ", " + words(to_text(k.phase)) + ", " + shape_text(k.kernel) + ": " + to_text(k.in_step()) + " a step");
    chart.legend("matrix products", held);
    chart.legend("convolutions, attention", colour_of(Term::optimizer));
    return chart.document();
}

std::string busy_svg(const std::vector<double>& busy) {
    constexpr double strip = 320, height = 16;
    std::string body;
    const double wide = strip / static_cast<double>(std::max<std::size_t>(1, busy.size()));
    for (std::size_t i = 0; i < busy.size(); ++i)
        if (busy[i] > 0) body += svg::rectangle(static_cast<double>(i) * wide, height * (1 - busy[i]), wide, height * busy[i], held.hex());
    return svg::document(strip, height, "busy over time", body);
}

}  // namespace sextant
