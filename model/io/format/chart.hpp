// A chart of two axes: lines, points with a name, and a legend.
#pragma once

#include "model/io/format/svg.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant::svg {

struct Axis {
    std::string title;  // with its unit
    double low = 0, high = 1;
    bool doubles = false;                   // each step is twice the one before it
    std::vector<double> at = {};            // where it is marked; empty: at round numbers
    std::string (*name)(double) = nullptr;  // of a mark; none: the number
    std::optional<double> broken_at = {};   // from there on nothing is to scale
};

// Names of marks: of a time that is a power of ten, "10 ms", and of a size that is a power of two, "64 KiB".
std::string time_mark(double seconds);
std::string bytes_mark(double bytes);

struct ChartPoint {
    double x = 0, y = 0;
};

class Chart {
public:
    Chart(std::string title, std::string note, Axis x, Axis y);

    void line(std::vector<ChartPoint>, Colour, bool dashed = false);
    // `tip` is shown when the pointer rests on it. `name` stands beside it, above or below; what has no room there is left to the tip:
    // the points that come first choose first.
    void point(ChartPoint, Colour, double radius, std::string tip, std::string name = {});
    void mark_x(double x, Colour, std::string name);
    void legend(std::string name, Colour);

    [[nodiscard]] std::string document() const;
    static double width_of_document();
    static double height_of_document();

private:
    struct Line {
        std::vector<ChartPoint> points;
        Colour colour;
        bool dashed = false;
    };
    struct Point {
        ChartPoint at;
        Colour colour;
        double radius = 0;
        std::string tip, name;
    };
    struct Mark {
        double x = 0;
        Colour colour;
        std::string name;
    };
    struct Drawing;  // one of them

    std::string title_, note_;
    Axis x_, y_;
    std::vector<Line> lines_;
    std::vector<Point> points_;
    std::vector<Mark> marks_;
    std::vector<std::pair<std::string, Colour>> legend_;
};

}  // namespace sextant::svg
