#include "model/io/format/chart.hpp"
#include "model/io/format/html.hpp"
#include "model/io/format/svg.hpp"
#include "model/io/measurement/validation_writer.hpp"

#include "model/base/quantity_text.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

namespace sextant {
namespace {

using svg::escaped;
using svg::number;

constexpr std::string_view style = R"(
:root { --judge: #0a67c2; --fit: #a3adb7; --middle: #c2410c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa5b1; --rule: #343b43; --paper: #14181c; --panel: #1b2026; --judge: #6db3f8; --fit: #5f6a75; --middle: #f59e5b; } }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 20px; } @media (max-width: 820px) { .pair { grid-template-columns: 1fr; } }
svg { display: block; width: 100%; height: auto; } svg text { fill: var(--soft); font: 11px system-ui, sans-serif; } svg text.title { fill: var(--ink); font-weight: 600; font-size: 12.5px; } svg text.far { fill: var(--ink); }
.grid { stroke: var(--rule); } .even { stroke: var(--ink); } .band { stroke: var(--soft); stroke-dasharray: 3 4; } .middle { stroke: var(--middle); fill: none; stroke-width: 2; }
circle.n { fill: var(--judge); fill-opacity: .5; } circle.f { fill: var(--fit); fill-opacity: .6; }
.key span { white-space: nowrap; margin-right: 14px; } .key i { display: inline-block; width: 10px; height: 10px; border-radius: 50%; margin-right: 5px; } .key i.line { border-radius: 0; height: 2px; width: 18px; vertical-align: 4px; }
)";

// A field of a picture on which both axes count factors.
class Plot {
public:
    struct Span {
        double low = std::numeric_limits<double>::infinity(), high = 0;
        void include(double v) { low = std::min(low, v), high = std::max(high, v); }
    };
    Plot(std::string_view title, Span x, Span y) : x_(x), y_(y) {
        body_ = "<text class=\"title\" x=\"" + number(left) + "\" y=\"16\">" + escaped(title) + "</text>\n";
    }
    void mark_x(double x, std::string_view name) {
        line({x, y_.low}, {x, y_.high}, "grid");
        body_ +=
            "<text x=\"" + number(across(x)) + "\" y=\"" + number(bottom + 16) + "\" text-anchor=\"middle\">" + escaped(name) + "</text>\n";
    }
    void mark_y(double y, std::string_view name) {
        line({x_.low, y}, {x_.high, y}, "grid");
        body_ += "<text x=\"" + number(left - 6) + "\" y=\"" + number(up(y) + 4) + "\" text-anchor=\"end\">" + escaped(name) + "</text>\n";
    }
    struct At {
        double x, y;
    };
    void line(At a, At b, std::string_view kind) { path({a, b}, kind); }
    void path(const std::vector<At>& points, std::string_view kind) {
        body_ += "<polyline class=\"" + std::string(kind) + "\" fill=\"none\" points=\"";
        for (const At& p : points) body_ += number(across(p.x)) + "," + number(up(p.y)) + " ";
        body_ += "\"/>\n";
    }
    void point(At p, bool fitted, std::string_view tip) {
        body_ += "<circle class=\"" + std::string(fitted ? "f" : "n") + "\" cx=\"" + number(across(p.x)) + "\" cy=\"" + number(up(p.y)) +
                 "\" r=\"2.6\"><title>" + escaped(tip) + "</title></circle>\n";
    }
    void name_point(At p, std::size_t name) {
        body_ += "<text class=\"far\" x=\"" + number(across(p.x) + 4) + "\" y=\"" + number(up(p.y) - 3) + "\">" + std::to_string(name) +
                 "</text>\n";
    }
    [[nodiscard]] std::string figure(std::string_view x_title, std::string_view y_title) const {
        return "<figure><svg viewBox=\"0 0 520 400\" role=\"img\">\n" + body_ + "<text x=\"" + number(right) + "\" y=\"" +
               number(bottom + 34) + "\" text-anchor=\"end\">" + escaped(x_title) + "</text>\n<text transform=\"translate(12 " +
               number(top) + ") rotate(-90)\" text-anchor=\"end\">" + escaped(y_title) + "</text>\n</svg></figure>\n";
    }

private:
    static constexpr double left = 62, right = 496, top = 28, bottom = 356;
    static double along(const Span& s, double v) { return std::log(std::clamp(v, s.low, s.high) / s.low) / std::log(s.high / s.low); }
    [[nodiscard]] double across(double x) const { return left + along(x_, x) * (right - left); }
    [[nodiscard]] double up(double y) const { return bottom - along(y_, y) * (bottom - top); }

    Span x_, y_;
    std::string body_;
};

using Rows = std::vector<const RowResult*>;

std::string tip_of(const RowResult& r) {
    return r.id + ": measured " + to_text(*r.measured_step) + ", predicted " + to_text(*r.predicted_step) + " (" +
           signed_percent_text(*r.step_error()) + ")" + (r.fitted ? ", fitted" : "");
}

// Whole powers of ten around all of it.
Plot::Span decades(const Rows& rows) {
    Plot::Span span;
    for (const RowResult* r : rows) span.include(r->measured_step->si()), span.include(r->predicted_step->si());
    return {std::pow(10, std::floor(std::log10(span.low))), std::pow(10, std::floor(std::log10(span.high)) + 1)};
}
std::vector<double> powers_of_ten(const Plot::Span& span) {
    std::vector<double> at;
    for (double e = std::round(std::log10(span.low)); e <= std::log10(span.high) + 0.1; ++e) at.push_back(std::pow(10, e));
    return at;
}

// Those that are off by the largest factor, the farthest first.
Rows farthest_of(Rows rows) {
    constexpr std::size_t most = 5;
    const auto factor = [](const RowResult* r) { return std::abs(std::log(*r->predicted_step / *r->measured_step)); };
    std::ranges::stable_sort(rows, std::ranges::greater(), factor);
    rows.resize(std::min(rows.size(), most));
    return rows;
}

template <class Place>
void name_farthest(Plot& plot, const Rows& farthest, const Place& at) {
    for (std::size_t i = 0; i < farthest.size(); ++i) plot.name_point(at(*farthest[i]), i + 1);
}

std::string farthest_table(const Rows& farthest) {
    html::Rows rows{{"farthest off", "measured", "predicted", "error"}};
    for (std::size_t i = 0; i < farthest.size(); ++i) {
        const RowResult& r = *farthest[i];
        rows.push_back({std::to_string(i + 1) + "  " + r.id + (r.fitted ? " (fitted)" : ""), to_text(*r.measured_step),
                        to_text(*r.predicted_step), signed_percent_text(*r.step_error())});
    }
    return html::table(rows);
}

std::string scatter(const Rows& rows, const Rows& farthest) {
    const Plot::Span span = decades(rows);
    Plot plot("Predicted over measured", span, span);
    for (const double t : powers_of_ten(span)) plot.mark_x(t, svg::time_mark(t)), plot.mark_y(t, svg::time_mark(t));
    constexpr double off = 1.2;
    plot.line({span.low, span.low}, {span.high, span.high}, "even");
    plot.line({span.low, span.low * off}, {span.high / off, span.high}, "band");
    plot.line({span.low * off, span.low}, {span.high, span.high / off}, "band");
    const auto at = [](const RowResult& r) { return Plot::At{r.measured_step->si(), r.predicted_step->si()}; };
    for (const RowResult* r : rows) plot.point(at(*r), r->fitted, tip_of(*r));
    name_farthest(plot, farthest, at);
    return plot.figure("measured time; dashed: 20 % off", "predicted time");
}

// The median of the ratios at about the same x.
std::vector<Plot::At> medians(const std::vector<Plot::At>& points) {
    std::map<int, std::vector<double>> by_octave;
    for (const Plot::At& p : points) by_octave[static_cast<int>(std::lround(std::log2(p.x)))].push_back(p.y);
    std::vector<Plot::At> line;
    for (auto& [octave, ratios] : by_octave) {
        const auto half = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
        std::ranges::nth_element(ratios, half);
        line.push_back({std::exp2(octave), *half});
    }
    return line;
}

constexpr double most_off = 4;  // points beyond stand at the edge

std::string residuals(const Rows& rows, const Rows& farthest) {
    Plot::Span x;
    for (const RowResult* r : rows)
        if (r->extent) x.include(*r->extent);
    const bool by_extent = x.high > x.low;
    if (!by_extent) x = decades(rows);
    const bool bytes = by_extent && rows.front()->series.starts_with("collectives");
    Plot plot(bytes       ? "Error over size of the message"
              : by_extent ? "Error over devices"
                          : "Error over time of a step",
              x, {1 / most_off, most_off});
    if (by_extent) {
        const double octaves = std::log2(x.high / x.low), every = std::max(1.0, std::ceil(octaves / 8));
        for (double e = std::ceil(std::log2(x.low)); e <= std::log2(x.high); e += every)
            plot.mark_x(std::exp2(e), bytes ? svg::bytes_mark(std::exp2(e)) : number(std::exp2(e)));
    } else {
        for (const double t : powers_of_ten(x)) plot.mark_x(t, svg::time_mark(t));
    }
    for (const auto& [ratio, name] :
         {std::pair{0.25, "1/4"}, {0.5, "half"}, {0.8, "-20 %"}, {1.25, "+25 %"}, {2.0, "double"}, {4.0, "4 x"}})
        plot.mark_y(ratio, name);
    plot.line({x.low, 1}, {x.high, 1}, "even");
    const auto at = [&](const RowResult& r) {
        return Plot::At{by_extent ? r.extent.value_or(x.low) : r.measured_step->si(), *r.predicted_step / *r.measured_step};
    };
    std::vector<Plot::At> judging;
    for (const RowResult* r : rows) {
        plot.point(at(*r), r->fitted, tip_of(*r));
        if (!r->fitted) judging.push_back(at(*r));
    }
    plot.path(medians(judging), "middle");
    name_farthest(plot, farthest, at);
    return plot.figure(bytes ? "size of the message" : by_extent ? "devices" : "measured time of a step", "predicted / measured");
}

std::vector<std::string> error_cells(const ErrorStatistics& s) {
    if (s.rows == 0) return {"0", "", "", "", ""};
    return {std::to_string(s.rows), percent_text(s.mape, 3), percent_text(s.median_ape, 3), signed_percent_text(s.bias),
            percent_text(s.max_ape, 3)};
}

std::string error_table(const std::string& head, const std::vector<std::pair<std::string, ErrorStatistics>>& lines) {
    html::Rows rows{{head, "rows", "MAPE", "median", "bias", "max"}};
    for (const auto& [name, s] : lines) {
        std::vector<std::string> line{name};
        std::ranges::move(error_cells(s), std::back_inserter(line));
        rows.push_back(std::move(line));
    }
    return html::table(rows);
}

std::string section(const std::string& series, const Validation& v) {
    Rows rows;
    std::vector<std::pair<std::string, ErrorStatistics>> lines;
    for (const FileValidation& file : v.files) {
        std::vector<double> fitted, judging;
        for (const RowResult& r : file.results) {
            const auto e = r.step_error();
            if (!e || !r.counted || r.series != series || !(r.predicted_step->si() > 0)) continue;
            rows.push_back(&r);
            (r.fitted ? fitted : judging).push_back(*e);
        }
        if (!judging.empty()) lines.emplace_back(file.file, statistics_of(std::move(judging)));
        if (!fitted.empty()) lines.emplace_back(file.file + " (fitted)", statistics_of(std::move(fitted)));
    }
    if (rows.empty()) return {};
    const Rows farthest = farthest_of(rows);
    return "<h2>" + escaped(series) + "</h2>\n<div class=\"pair\">\n" + scatter(rows, farthest) + residuals(rows, farthest) + "</div>\n" +
           farthest_table(farthest) + error_table("file", lines);
}

}  // namespace

std::string validation_html(const Validation& v) {
    std::string out =
        "<h1>How far predictions are off</h1>\n<p>Each point is a published measurement compared with what Sextant predicts from "
        "everything "
        "that its source says about it. "
        "Only complete rows that are not suspect are shown. An error is predicted / measured - 1; MAPE is the mean of its absolute "
        "value.</p>\n<p class=\"key\"><span><i style=\"background:var(--judge)\"></i>held out</span> "
        "<span><i style=\"background:var(--fit)\"></i>parameters were fitted to it</span> "
        "<span><i class=\"line\" style=\"background:var(--middle)\"></i>median of held-out rows</span> "
        "<span>1 to 5: those farthest off, named below</span></p>\n";
    std::vector<std::pair<std::string, ErrorStatistics>> means;
    for (const SeriesMean& m : v.unseen().series()) means.emplace_back(m.series, ErrorStatistics{m.rows, m.mape, m.median_ape, m.bias, 0});
    html::Rows rows{{"mean over files, held-out rows", "rows", "MAPE", "median", "bias"}};
    for (const auto& [name, s] : means) {
        std::vector<std::string> line{name};
        std::ranges::move(error_cells(s), std::back_inserter(line));
        line.pop_back();
        rows.push_back(std::move(line));
    }
    out += html::table(rows);
    for (const SeriesMean& m : v.series()) out += section(m.series, v);
    return html::page("Sextant: validation", style, out);
}

}  // namespace sextant
