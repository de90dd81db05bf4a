#include "model/io/format/heat_strip.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace sextant {

std::string heat_strip(const std::vector<double>& values) {
    static constexpr std::array<std::string_view, 9> blocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    constexpr double highest = blocks.size() - 1;
    std::string strip;
    for (const double v : values) {
        const double level = std::clamp(v, 0.0, 1.0) * highest;
        strip += blocks[static_cast<std::size_t>(v > 0 ? std::max(1.0, std::round(level)) : 0)];
    }
    return strip;
}

std::vector<double> averaged(const std::vector<double>& series, std::size_t columns) {
    columns = std::min(columns, series.size());
    std::vector<double> means;
    // A column takes part of the values at its edges.
    const double width = columns == 0 ? 0 : static_cast<double>(series.size()) / static_cast<double>(columns);
    for (std::size_t c = 0; c < columns; ++c) {
        const double from = static_cast<double>(c) * width, to = from + width;
        double sum = 0;
        for (auto i = static_cast<std::size_t>(from); i < series.size() && static_cast<double>(i) < to; ++i)
            sum += series[i] * (std::min(to, static_cast<double>(i + 1)) - std::max(from, static_cast<double>(i)));
        means.push_back(sum / width);
    }
    return means;
}

}  // namespace sextant
