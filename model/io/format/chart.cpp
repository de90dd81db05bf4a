#include "model/io/format/chart.hpp"

#include "model/base/list_text.hpp"
#include "model/base/quantity_text.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace sextant::svg {
namespace {

constexpr double width = 820, height = 520, left = 84, right = width - 24, bottom = height - 58, legend_line = 20;
constexpr std::string_view faint = "#e4e4e4", grey = "#666666", beyond = "#eef0f2";

struct Room {
    double left = 0, top = 0, width = 0, height = 0;
    [[nodiscard]] bool meets(const Room& o) const {
        return left < o.left + o.width && o.left < left + width && top < o.top + o.height && o.top < top + height;
    }
};

std::string tick(const Axis& axis, double value) {
    if (axis.name) return axis.name(value);
    // As it is written, where a hundredth is all of it.
    const bool is_short = std::abs(std::round(100 * value) - 100 * value) < 1e-6;
    return value < 1e6 && (is_short || value >= 0.1) ? number(value) : number_text(value);
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

std::string time_mark(double seconds) {
    const int exponent = static_cast<int>(std::lround(std::log10(seconds)));
    constexpr std::string_view units[] = {" ns", " \u00b5s", " ms", " s"};
    const int unit = std::clamp(static_cast<int>(std::floor(exponent / 3.0)) + 3, 0, 3);
    return number(std::pow(10, exponent - 3 * (unit - 3))) + std::string(units[unit]);
}

std::string bytes_mark(double bytes) {
    constexpr std::string_view units[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    std::size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < std::size(units); bytes /= 1024) ++unit;
    return number(bytes) + std::string(units[unit]);
}

// From top to bottom: title and note, the legend, the title of the vertical axis beside the names of marks, the ground of the points.
struct Chart::Drawing {
    const Chart& c;
    double top = 92;
    std::string legend{};

    explicit Drawing(const Chart& chart) : c(chart) { draw_legend(); }

    [[nodiscard]] double x_of(double x) const { return left + along(c.x_, x) * (right - left); }
    [[nodiscard]] double y_of(double y) const { return bottom - along(c.y_, y) * (bottom - top); }

    void draw_legend() {
        constexpr double mark = 18, between = 16;
        double x = 20, y = 78;
        for (const auto& [name, colour] : c.legend_) {
            const double wide = mark + width_of(name, 12);
            if (x > 20 && x + wide > right) {
                x = 20;
                y += legend_line;
            }
            legend += text(x + mark, y, name, {.size = 12}) + rectangle(x, y - 11, 13, 13, colour.hex());
            x += wide + between;
        }
        if (!c.legend_.empty()) top = y + legend_line + 14;
    }

    [[nodiscard]] std::string ground_beyond_the_break() const {
        const double at = x_of(*c.x_.broken_at);
        std::string out = rectangle(at, top, right - at, bottom - top, beyond);
        for (const double by : {-3.0, 3.0}) out += svg::line(at + by - 2, bottom + 5, at + by + 2, bottom - 5, grey, 1.2);
        return out;
    }

    [[nodiscard]] std::string axes() const {
        std::string out;
        for (const double x : marks(c.x_, 8)) {
            if (c.x_.broken_at && x > 0.97 * *c.x_.broken_at) continue;
            out += svg::line(x_of(x), top, x_of(x), bottom + 4, faint);
            out += text(x_of(x), bottom + 18, tick(c.x_, x), {.size = 11, .fill = grey, .anchor = Anchor::middle});
        }
        for (const double y : marks(c.y_, 6)) {
            out += svg::line(left - 4, y_of(y), right, y_of(y), faint);
            out += text(left - 8, y_of(y) + 4, tick(c.y_, y), {.size = 11, .fill = grey, .anchor = Anchor::end});
        }
        out += text(right, bottom + 38, c.x_.title, {.size = 12, .fill = grey, .anchor = Anchor::end});
        out += text(20, top - 10, c.y_.title, {.size = 12, .fill = grey});
        return c.x_.broken_at ? ground_beyond_the_break() + out : out;
    }

    [[nodiscard]] std::string lines() const {
        std::string out;
        for (const Line& l : c.lines_) {
            const auto at = [&](const ChartPoint& p) { return number(x_of(p.x)) + "," + number(y_of(p.y)); };
            out += "<polyline points=\"" + joined(l.points, at, " ") + "\" fill=\"none\" stroke=\"" + l.colour.hex() +
                   "\" stroke-width=\"1.6\"" + (l.dashed ? " stroke-dasharray=\"6 4\"" : "") + "/>\n";
        }
        for (const Mark& m : c.marks_) {
            const double x = x_of(m.x), half = width_of(m.name, 11) / 2, axis_title = 20 + width_of(c.y_.title, 12) + 12;
            out += svg::line(x, top, x, bottom, m.colour.hex(), 1.5);
            out += text(std::max(axis_title + half, std::min(x, right - half)), top - 10, m.name,
                        {.size = 11, .fill = grey, .anchor = Anchor::middle});
        }
        return out;
    }

    // The last that was added lies lowest: who comes first is seen, and is named.
    [[nodiscard]] std::string points() const {
        std::string out;
        for (std::size_t i = c.points_.size(); i-- > 0;) {
            const Point& p = c.points_[i];
            out += "<circle cx=\"" + number(x_of(p.at.x)) + "\" cy=\"" + number(y_of(p.at.y)) + "\" r=\"" + number(p.radius) +
                   "\" fill=\"" + p.colour.hex() + "\" stroke=\"#ffffff\" stroke-width=\"1\"><title>" + escaped(p.tip) +
                   "</title></circle>\n";
        }
        return out;
    }

    [[nodiscard]] std::string names() const {
        constexpr double size = 11, high = 15;
        std::vector<Room> taken;
        for (const Point& p : c.points_) taken.push_back({x_of(p.at.x) - p.radius, y_of(p.at.y) - p.radius, 2 * p.radius, 2 * p.radius});
        std::string out;
        for (const Point& p : c.points_) {
            if (p.name.empty()) continue;
            const double x = x_of(p.at.x), y = y_of(p.at.y), wide = width_of(p.name, size), beside = p.radius + 4;
            const double level = std::clamp(x - wide / 2, left + 2, std::max(left + 2, right - wide));
            const Room rooms[] = {{x + beside, y - high / 2, wide, high},
                                  {x - beside - wide, y - high / 2, wide, high},
                                  {level, y - beside - high, wide, high},
                                  {level, y + beside, wide, high}};
            const auto* const free = std::ranges::find_if(rooms, [&](const Room& r) {
                return r.left >= left && r.left + wide <= right && r.top >= top && r.top + high <= bottom &&
                       std::ranges::none_of(taken, [&](const Room& t) { return t.meets(r); });
            });
            if (free == std::end(rooms)) continue;
            if (!is_beyond(p.at)) out += rectangle(free->left - 1, free->top + 1, wide, high - 2, "#ffffff");  // over lines
            out += text(free->left, free->top + high - 4, p.name, {.size = size});
            taken.push_back(*free);
        }
        return out;
    }

    [[nodiscard]] bool is_beyond(ChartPoint p) const { return c.x_.broken_at && p.x > *c.x_.broken_at; }
};

Chart::Chart(std::string title, std::string note, Axis x, Axis y)
    : title_(std::move(title)), note_(std::move(note)), x_(std::move(x)), y_(std::move(y)) {
    for (Axis* axis : {&x_, &y_})
        if (!(axis->high > axis->low)) axis->high = axis->low + 1;
}

void Chart::line(std::vector<ChartPoint> points, Colour colour, bool dashed) { lines_.push_back({std::move(points), colour, dashed}); }
void Chart::point(ChartPoint at, Colour colour, double radius, std::string tip, std::string name) {
    points_.push_back({at, colour, radius, std::move(tip), std::move(name)});
}
void Chart::mark_x(double x, Colour colour, std::string name) { marks_.push_back({x, colour, std::move(name)}); }
void Chart::legend(std::string name, Colour colour) { legend_.emplace_back(std::move(name), colour); }

double Chart::width_of_document() { return width; }
double Chart::height_of_document() { return height; }

std::string Chart::document() const {
    std::string out = text(20, 34, shortened(title_, 1.13 * 17, width - 40), {.size = 17, .fill = "#111111", .bold = true});
    out += text(20, 54, shortened(note_, 12, width - 40), {.size = 12, .fill = grey});
    const Drawing d(*this);
    return svg::document(width, height, title_, out + d.legend + d.axes() + d.lines() + d.names() + d.points());
}

}  // namespace sextant::svg
