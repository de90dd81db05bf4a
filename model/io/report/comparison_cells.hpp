// Cells of the tables that hold measurements beside predictions.
#pragma once

#include "model/base/quantity_text.hpp"
#include "model/io/format/text_table.hpp"
#include "model/report/report.hpp"

#include <optional>
#include <string>

namespace sextant {

inline std::string ratio_text(std::optional<double> ratio) { return ratio ? number_text(*ratio, 3) : ""; }

template <int... Exponents>
std::string or_nothing(Quantity<Exponents...> value) {
    return value.si() > 0 ? to_text(value) : "";
}

inline std::string interval_text(const Report& predicted, Seconds measured) {
    const bool inside = measured >= predicted.low && measured <= predicted.high;
    return "predicted " + to_text(predicted.low) + " to " + to_text(predicted.high) + ": the measurement lies " +
           (inside ? "inside" : "outside");
}

// Less than predicted to the left, more to the right; `full`: the largest difference of the table.
inline constexpr std::size_t difference_bar_width = 16;
inline std::string difference_bar(Seconds off, Seconds full) {
    return side_bar(full > Seconds{} ? static_cast<double>(difference_bar_width) * (off / full) : 0, difference_bar_width);
}
inline std::string bar_header(Seconds full) {
    const std::string side = "less";
    return std::string(difference_bar_width - side.size(), ' ') + side + "|more than predicted, a # is " +
           to_text(full / static_cast<double>(difference_bar_width), 2);
}

}  // namespace sextant
