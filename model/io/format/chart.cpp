#include "model/io/format/chart.hpp"

#include "model/base/quantity_text.hpp"

#include <cmath>

namespace sextant::svg {
namespace {

constexpr double width = 820, height = 520, left = 84, right = width - 24, top = 92, bottom = height - 58;
constexpr std::string_view faint = "#e4e4e4", grey = "#666666";

std::string tick(const Axis& axis, double value) {
    if (axis.name) return axis.name(value);
    return value == 0 || (value >= 0.1 && value < 1e6) ? number(value) : number_text(value);
}

double along(const Axis& axis, double value) {
    if (!axis.doubles) return (value - axis.low) / (axis.high - axis.low);
    return std::log2(value / axis.low) / std::log2(axis.high / axis.low);
}

std::vector<double> marks(const Axis& axis, double count) {
    if (!axis.at.empty()) return axis.at;
    std::vector<double> at;
    if (axis.doubles) {
        for (double v = axis.low; v <= axis.high * (1 + 1e-9); v *= 2) at.push_back(v);
        return at;
    }
    const double step = round_step(axis.high - axis.low, count);
    for (double i = std::ceil(axis.low / step); i * step <= axis.high * (1 + 1e-9); ++i) at.push_back(i * step);
    return at;
}

}  // namespace

Chart::Chart(std::string title, std::string note, Axis x, Axis y)
    : title_(std::move(title)), note_(std::move(note)), x_(std::move(x)), y_(std::move(y)) {
    for (Axis* axis : {&x_, &y_})
        if (!(axis->high > axis->low)) axis->high = axis->low + 1;
}

double Chart::x_of(double x) const { return left + along(x_, x) * (right - left); }
double Chart::y_of(double y) const { return bottom - along(y_, y) * (bottom - top); }

void Chart::line(const std::vector<ChartPoint>& points, Colour colour, bool dashed) {
    std::string list;
    for (const ChartPoint& p : points) list += (list.empty() ? "" : " ") + number(x_of(p.x)) + "," + number(y_of(p.y));
    lines_ += "<polyline points=\"" + list + "\" fill=\"none\" stroke=\"" + colour.hex() + "\" stroke-width=\"1.6\"" +
              (dashed ? " stroke-dasharray=\"6 4\"" : "") + "/>\n";
}

void Chart::point(ChartPoint p, Colour colour, double radius, std::string_view tip, std::string_view name) {
    const double x = x_of(p.x), y = y_of(p.y);
    points_ += "<circle cx=\"" + number(x) + "\" cy=\"" + number(y) + "\" r=\"" + number(radius) + "\" fill=\"" + colour.hex() +
               "\" stroke=\"#ffffff\" stroke-width=\"1\"><title>" + escaped(tip) + "</title></circle>\n";
    if (name.empty()) return;
    const bool on_the_left = x + radius + 5 + width_of(name, 11) > right;
    names_ +=
        text(on_the_left ? x - radius - 5 : x + radius + 5, y + 4, name, {.size = 11, .anchor = on_the_left ? Anchor::end : Anchor::start});
}

void Chart::mark_x(double x, Colour colour, std::string_view name) {
    const bool on_the_left = x_of(x) + 6 + width_of(name, 11) > right;
    lines_ += svg::line(x_of(x), top, x_of(x), bottom, colour.hex(), 1.5);
    names_ += text(x_of(x) + (on_the_left ? -6 : 6), top + 12, name,
                   {.size = 11, .fill = grey, .anchor = on_the_left ? Anchor::end : Anchor::start});
}

void Chart::legend(std::string_view name, Colour colour) { legend_.emplace_back(name, colour); }

std::string Chart::axes() const {
    std::string out;
    for (const double x : marks(x_, 8)) {
        out += svg::line(x_of(x), top, x_of(x), bottom + 4, faint);
        out += text(x_of(x), bottom + 18, tick(x_, x), {.size = 11, .fill = grey, .anchor = Anchor::middle});
    }
    for (const double y : marks(y_, 6)) {
        out += svg::line(left - 4, y_of(y), right, y_of(y), faint);
        out += text(left - 8, y_of(y) + 4, tick(y_, y), {.size = 11, .fill = grey, .anchor = Anchor::end});
    }
    out += text(right, bottom + 38, x_.title, {.size = 12, .fill = grey, .anchor = Anchor::end});
    return out + text(left - 64, top - 10, y_.title, {.size = 12, .fill = grey});
}

double Chart::width_of_document() { return width; }
double Chart::height_of_document() { return height; }

// Beside the title of the vertical axis; what is too long for that, in the corner where curves that rise leave room.
std::string Chart::legend_text() const {
    constexpr double mark = 18, between = 14, axis_title = 220;
    const auto entry = [](double x, double y, const auto& e) {
        return text(x + mark, y, e.first, {.size = 12}) + rectangle(x, y - 11, 13, 13, e.second.hex());
    };
    double wide = 0;
    for (const auto& [name, colour] : legend_) wide += mark + width_of(name, 12) + between;
    const bool in_a_line = wide < right - left - axis_title;
    double x = in_a_line ? right - wide + between : left + 14, y = in_a_line ? top - 10 : top + 24;
    std::string out;
    for (const auto& e : legend_) {
        out += entry(x, y, e);
        (in_a_line ? x : y) += in_a_line ? mark + width_of(e.first, 12) + between : 19;
    }
    return out;
}

std::string Chart::document() const {
    std::string out = text(20, 34, shortened(title_, 1.13 * 17, width - 40), {.size = 17, .fill = "#111111", .bold = true});
    out += text(20, 54, shortened(note_, 12, width - 40), {.size = 12, .fill = grey});
    out += legend_text();
    return svg::document(width, height, title_, out + axes() + lines_ + points_ + names_);
}

}  // namespace sextant::svg
