// A chart of two axes: lines, points with a name, and a legend.
#pragma once

#include "model/io/format/svg.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::svg {

struct Axis {
    std::string title;  // with its unit
    double low = 0, high = 1;
    bool doubles = false;                   // each step is twice the one before it
    std::vector<double> at = {};            // where it is marked; empty: at round numbers
    std::string (*name)(double) = nullptr;  // of a mark; none: the number
};

struct ChartPoint {
    double x = 0, y = 0;
};

class Chart {
public:
    Chart(std::string title, std::string note, Axis x, Axis y);

    void line(const std::vector<ChartPoint>&, Colour, bool dashed = false);
    // `tip` is shown when the pointer rests on it, `name` beside it.
    void point(ChartPoint, Colour, double radius, std::string_view tip, std::string_view name = {});
    void mark_x(double x, Colour, std::string_view name);
    void legend(std::string_view name, Colour);

    [[nodiscard]] std::string document() const;
    static double width_of_document();
    static double height_of_document();

private:
    [[nodiscard]] double x_of(double x) const;
    [[nodiscard]] double y_of(double y) const;
    [[nodiscard]] std::string axes() const;
    [[nodiscard]] std::string legend_text() const;

    std::string title_, note_;
    Axis x_, y_;
    std::string lines_, points_, names_;
    std::vector<std::pair<std::string, Colour>> legend_;
};

}  // namespace sextant::svg
