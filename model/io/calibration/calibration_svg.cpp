#include "model/base/grouped_digits.hpp"
#include "model/base/quantity_text.hpp"
#include "model/io/calibration/calibration_picture.hpp"
#include "model/io/calibration/calibration_writer.hpp"
#include "model/io/format/chart.hpp"
#include "model/io/format/text_table.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace sextant {
namespace {

using svg::Colour;

// Okabe and Ito's colours, which the colour-blind tell apart (jfly.uni-koeln.de/color), without yellow.
constexpr Colour palette[] = {{0, 114, 178}, {213, 94, 0}, {0, 158, 115}, {204, 121, 167}, {86, 180, 233}, {230, 159, 0}, {90, 90, 90}};
constexpr Colour grey{150, 150, 150};
Colour colour(std::size_t i) { return palette[i % std::size(palette)]; }

std::string ratio_name(double ratio) {
    const double off = std::round(100 * (ratio - 1));
    return off == 0 ? "as measured" : (off > 0 ? "+" : "") + svg::number(off) + " %";
}

std::string tip_of(const CalibratedTerm& t) {
    const double off = t.predicted / t.measured - 1;
    return t.of + ", " + words(t.name) + ": measured " + to_text(t.measured) + ", predicted " + to_text(t.predicted) + " (" +
           signed_percent_text(off, 2) + ")" + (t.left_out ? ", left out" : "");
}

std::vector<double> marks(double low, double high, double factor) {
    std::vector<double> at;
    for (double v = low; v <= high * 1.0001; v *= factor) at.push_back(v);
    return at;
}

// Whole powers of ten around all times.
svg::Axis time_axis(std::string title, const std::vector<const CalibratedTerm*>& terms) {
    double low = 1e300, high = 0;
    for (const CalibratedTerm* t : terms)
        for (const double v : {t->measured.si(), t->predicted.si()})
            if (v > 0) {
                low = std::min(low, v);
                high = std::max(high, v);
            }
    svg::Axis axis{std::move(title), std::pow(10, std::floor(std::log10(low))), std::pow(10, std::ceil(std::log10(high) + 1e-9)), true, {}};
    axis.at = marks(axis.low, axis.high, 10);
    axis.name = svg::time_mark;
    return axis;
}

void add_left_out(svg::Chart& chart, const std::vector<const CalibratedTerm*>& terms) {
    if (std::ranges::any_of(terms, &CalibratedTerm::left_out)) chart.legend("left out of the fit", grey);
}

std::string curves_chart(const Cluster& cluster, const std::vector<const CalibratedTerm*>& terms) {
    std::map<std::string, std::vector<const CalibratedTerm*>> curves;
    double low = 1e300, high = 0;
    for (const CalibratedTerm* t : terms) {
        curves[t->of].push_back(t);
        low = std::min(low, t->size->si());
        high = std::max(high, t->size->si());
    }
    svg::Axis x{"message", std::exp2(std::floor(std::log2(low))), std::exp2(std::ceil(std::log2(high))), true, {}};
    const double octaves = std::max(1.0, std::log2(x.high / x.low));
    x.at = marks(x.low, x.high, std::exp2(std::max(1.0, std::round(octaves / 8))));
    x.name = svg::bytes_mark;
    svg::Chart chart(cluster.title, "Points: measured. Lines: as the profile predicts.", x, time_axis("time of a call", terms));
    std::size_t i = 0;
    for (auto& [name, points] : curves) {
        std::ranges::sort(points, {}, [](const CalibratedTerm* t) { return *t->size; });
        std::vector<svg::ChartPoint> line;
        for (const CalibratedTerm* t : points) line.push_back({t->size->si(), t->predicted.si()});
        chart.line(line, colour(i));
        for (const CalibratedTerm* t : points)
            chart.point({t->size->si(), t->measured.si()}, t->left_out ? grey : colour(i), 4, tip_of(*t));
        chart.legend(name, colour(i++));
    }
    add_left_out(chart, terms);
    return chart.document();
}

std::string terms_chart(const Cluster& cluster, std::vector<const CalibratedTerm*> terms) {
    constexpr double far = 2, remarkable = 1.25;  // points beyond stand at the edge; names where there is something to see
    svg::Axis y{"predicted, against measured", 1 / far, far, true, {0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2}, ratio_name};
    svg::Axis x = time_axis("measured", terms);
    svg::Chart chart(cluster.title, stamp_line(*cluster.calibration), x, y);
    chart.line({{x.low, 1}, {x.high, 1}}, grey);
    for (const double off : {1 / 1.1, 1.1}) chart.line({{x.low, off}, {x.high, off}}, grey, true);
    std::map<std::string, std::size_t> places;
    // Those that are off most choose the places of their names first.
    std::ranges::stable_sort(terms, std::ranges::greater(),
                             [](const CalibratedTerm* t) { return std::abs(std::log(t->predicted / t->measured)); });
    for (const CalibratedTerm* t : terms) {
        const auto [place, is_new] = places.try_emplace(t->name, places.size());
        const Colour c = colour(place->second);
        if (is_new) chart.legend(words(t->name), c);
        const double ratio = std::clamp(t->predicted / t->measured, 1 / far, far);
        const bool named = ratio > remarkable || ratio < 1 / remarkable;
        chart.line({{t->measured.si(), std::clamp(ratio / (1 + t->noise), 1 / far, far)},
                    {t->measured.si(), std::clamp(ratio * (1 + t->noise), 1 / far, far)}},
                   c.towards_white(0.4));
        chart.point({t->measured.si(), ratio}, t->left_out ? grey : c, 4.5, tip_of(*t), named ? t->of : "");
    }
    add_left_out(chart, terms);
    return chart.document();
}

}  // namespace

std::string stamp_line(const CalibrationStamp& s) {
    return "measured" + (s.host.empty() ? std::string() : " on " + s.host) + ", " + s.date + ", from " + counted(s.runs, "run") +
           ": median error " + percent_text(s.median_error, 2) + ", noise " + percent_text(s.noise, 2) + (s.edited ? "; edited since" : "");
}

std::vector<std::string> calibration_charts(const Cluster& cluster) {
    std::vector<const CalibratedTerm*> curves, others;
    for (const CalibratedTerm& t : cluster.calibration->terms)
        if (t.measured > Seconds{} && t.predicted > Seconds{}) (t.size && *t.size > Bytes{} ? curves : others).push_back(&t);
    std::vector<std::string> charts;
    if (!curves.empty()) charts.push_back(curves_chart(cluster, curves));
    if (!others.empty()) charts.push_back(terms_chart(cluster, others));
    return charts;
}

std::string calibration_svg(const Cluster& cluster) {
    const std::vector<std::string> charts = calibration_charts(cluster);
    if (charts.size() == 1) return charts.front();
    std::string body;
    for (std::size_t i = 0; i < charts.size(); ++i)
        body += "<g transform=\"translate(0 " + svg::number(static_cast<double>(i) * svg::Chart::height_of_document()) + ")\">\n" +
                charts[i] + "</g>\n";
    return svg::document(svg::Chart::width_of_document(), svg::Chart::height_of_document() * static_cast<double>(charts.size()),
                         cluster.title, body);
}

}  // namespace sextant
