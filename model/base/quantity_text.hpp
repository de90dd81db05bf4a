// Quantities to and from the text that people read and write: "3.35 TB/s", "20 us", "312 TFLOP/s".
#pragma once

#include "model/base/quantity.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// One dimension's vocabulary: what to call it, and the units that may be written for it.
struct UnitName {
    std::string_view name;
    double si;  // value of one such unit in SI
};
struct UnitTable {
    std::string_view dimension;             // "bandwidth"
    const std::vector<UnitName>& accepted;  // largest first among those used for printing
    std::string_view example;               // "3.35 TB/s"
};

template <class Q>
const UnitTable& unit_table();
template <>
const UnitTable& unit_table<Bytes>();
template <>
const UnitTable& unit_table<Flops>();
template <>
const UnitTable& unit_table<Seconds>();
template <>
const UnitTable& unit_table<Bandwidth>();
template <>
const UnitTable& unit_table<FlopRate>();
template <>
const UnitTable& unit_table<Frequency>();
template <>
const UnitTable& unit_table<Joules>();
template <>
const UnitTable& unit_table<Watts>();
template <>
const UnitTable& unit_table<Money>();
template <>
const UnitTable& unit_table<MoneyRate>();

// The result of reading a quantity: a value in SI, or the reason why not (never both).
struct ParsedQuantity {
    std::optional<double> si;
    std::string error;
};
ParsedQuantity parse_quantity(std::string_view text, const UnitTable& table);

// "1.42 s", "312 TFLOP/s": the unit that leaves one to three digits before the point, `digits` significant ones.
std::string format_quantity(double si, const UnitTable& table, int digits = 3);

template <class Q>
std::string to_text(Q q, int digits = 3) {
    return format_quantity(q.si(), unit_table<Q>(), digits);
}
// A plain number with `digits` significant digits and no exponent for ordinary sizes: "0.0523", "1024".
std::string number_text(double value, int digits = 3);
// A fraction as "12.3 %".
std::string percent_text(double fraction, int digits = 3);
// "+8 %", "-3 %", "0 %": a difference.
std::string signed_percent_text(double fraction, int digits = 3);

// "3 us", "a -> b" with the signs that people read, where the model writes what can be typed.
std::string with_signs(std::string_view text);

}  // namespace sextant
