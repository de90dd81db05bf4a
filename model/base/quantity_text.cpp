#include "model/base/quantity_text.hpp"

#include "model/base/list_text.hpp"
#include "model/base/spelling.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>

namespace sextant {
namespace {

// All are accepted; those by which a table begins, each smaller than the one before, are written.
const std::vector<UnitName> byte_units = {{"PB", 1e15},    {"TB", 1e12},    {"GB", 1e9},     {"MB", 1e6},     {"KB", 1e3},
                                          {"B", 1},        {"kB", 1e3},     {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30},
                                          {"TiB", 0x1p40}, {"PiB", 0x1p50}, {"bit", 0.125},  {"Gbit", 1.25e8}};
const std::vector<UnitName> flop_units = {{"ZFLOP", 1e21}, {"EFLOP", 1e18}, {"PFLOP", 1e15}, {"TFLOP", 1e12},
                                          {"GFLOP", 1e9},  {"MFLOP", 1e6},  {"FLOP", 1}};
const std::vector<UnitName> second_units = {{"d", 86400},   {"h", 3600},     {"min", 60},    {"s", 1},
                                            {"ms", 1e-3},   {"us", 1e-6},    {"ns", 1e-9},   {"days", 86400},
                                            {"day", 86400}, {"hours", 3600}, {"hour", 3600}, {"minutes", 60}};
const std::vector<UnitName> bandwidth_units = {{"PB/s", 1e15},     {"TB/s", 1e12},    {"GB/s", 1e9},       {"MB/s", 1e6},
                                               {"KB/s", 1e3},      {"B/s", 1},        {"TiB/s", 0x1p40},   {"GiB/s", 0x1p30},
                                               {"MiB/s", 0x1p20},  {"KiB/s", 0x1p10}, {"Tbit/s", 1.25e11}, {"Gbit/s", 1.25e8},
                                               {"Mbit/s", 1.25e5}, {"Kbit/s", 125},   {"bit/s", 0.125}};
const std::vector<UnitName> flop_rate_units = {{"EFLOP/s", 1e18}, {"PFLOP/s", 1e15}, {"TFLOP/s", 1e12}, {"GFLOP/s", 1e9},
                                               {"MFLOP/s", 1e6},  {"FLOP/s", 1},     {"TOP/s", 1e12},   {"GOP/s", 1e9}};
const std::vector<UnitName> frequency_units = {{"GHz", 1e9}, {"MHz", 1e6}, {"kHz", 1e3}, {"/s", 1}, {"Hz", 1}, {"1/s", 1}};
const std::vector<UnitName> joule_units = {{"GWh", 3.6e12}, {"MWh", 3.6e9}, {"kWh", 3.6e6}, {"MJ", 1e6},
                                           {"kJ", 1e3},     {"J", 1},       {"Wh", 3600}};
const std::vector<UnitName> watt_units = {{"MW", 1e6}, {"kW", 1e3}, {"W", 1}, {"mW", 1e-3}};
const std::vector<UnitName> money_units = {{"USD", 1}, {"$", 1}};
const std::vector<UnitName> money_rate_units = {{"USD/h", 1 / 3600.0}, {"$/h", 1 / 3600.0}, {"USD/s", 1}};

const UnitName& unit_for_printing(double magnitude, const UnitTable& table) {
    const auto& units = table.accepted;
    const UnitName* best = &units.front();
    for (std::size_t i = 1; i < units.size() && units[i].si < units[i - 1].si; ++i) {
        if (magnitude >= best->si * 0.9995) break;
        best = &units[i];
    }
    return *best;
}

// How units that others write end, and how they end here. None is taken: whether a "b" means bits or bytes is a factor of eight.
constexpr struct {
    std::string_view theirs, ours;
} endings[] = {{"bps", "bit/s"},  {"b/s", "bit/s"}, {"bits/s", "bit/s"}, {"Bps", "B/s"}, {"b", "bit"},     {"bits", "bit"},
               {"B", "B/s"},      {"bit", "bit/s"}, {"OPS", "OP/s"},     {"OPS", "OP"},  {"OPs", "OP/s"},  {"OPs", "OP"},
               {"ops", "OP/s"},   {"ops", "OP"},    {"OP", "OP/s"},      {"sec", "s"},   {"seconds", "s"}, {"\u00b5s", "us"},
               {"\u03bcs", "us"}, {"hr", "h"},      {"hrs", "h"},        {"mins", "min"}};

// Units of the table that this one may stand for: written in the other way, or in letters of another case.
std::vector<std::string_view> meant_units(std::string_view unit, const UnitTable& table) {
    std::vector<std::string_view> meant;
    const auto add = [&](const std::string& word) {
        for (const UnitName& u : table.accepted)
            if (lower_case(u.name) == lower_case(word)) return meant.push_back(u.name);
    };
    for (const auto& [theirs, ours] : endings)
        if (unit.ends_with(theirs)) add(std::string(unit.substr(0, unit.size() - theirs.size())).append(ours));
    // "gb/s" may be written without care for case.
    const bool careless = std::ranges::none_of(unit, [](unsigned char c) { return std::isupper(c) != 0; });
    if (meant.empty() || careless) add(std::string(unit));
    return meant;
}

std::string_view trim(std::string_view t) {
    while (!t.empty() && (t.front() == ' ' || t.front() == '\t')) t.remove_prefix(1);
    while (!t.empty() && (t.back() == ' ' || t.back() == '\t')) t.remove_suffix(1);
    return t;
}

}  // namespace

template <>
const UnitTable& unit_table<Bytes>() {
    static const UnitTable t{"size", byte_units, "80 GB"};
    return t;
}
template <>
const UnitTable& unit_table<Flops>() {
    static const UnitTable t{"operations", flop_units, "1.5 TFLOP"};
    return t;
}
template <>
const UnitTable& unit_table<Seconds>() {
    static const UnitTable t{"time", second_units, "20 us"};
    return t;
}
template <>
const UnitTable& unit_table<Bandwidth>() {
    static const UnitTable t{"bandwidth", bandwidth_units, "3.35 TB/s"};
    return t;
}
template <>
const UnitTable& unit_table<FlopRate>() {
    static const UnitTable t{"compute rate", flop_rate_units, "312 TFLOP/s"};
    return t;
}
template <>
const UnitTable& unit_table<Frequency>() {
    static const UnitTable t{"frequency", frequency_units, "1.41 GHz"};
    return t;
}
template <>
const UnitTable& unit_table<Joules>() {
    static const UnitTable t{"energy", joule_units, "12 kWh"};
    return t;
}
template <>
const UnitTable& unit_table<Watts>() {
    static const UnitTable t{"power", watt_units, "400 W"};
    return t;
}
template <>
const UnitTable& unit_table<Money>() {
    static const UnitTable t{"money", money_units, "1200 USD"};
    return t;
}
template <>
const UnitTable& unit_table<MoneyRate>() {
    static const UnitTable t{"price", money_rate_units, "2.5 USD/h"};
    return t;
}

ParsedQuantity parse_quantity(std::string_view text, const UnitTable& table) {
    const std::string_view t = trim(text);
    double value = 0;
    const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), value);
    const auto hint = [&] { return "write a number and a unit, as in \"" + std::string(table.example) + "\""; };
    if (error == std::errc::result_out_of_range) return {{}, "number out of range in \"" + std::string(text) + "\""};
    if (error != std::errc{}) return {{}, "no number in \"" + std::string(text) + "\"; " + hint()};
    if (!std::isfinite(value)) return {{}, "not a finite number: \"" + std::string(text) + "\""};
    const std::string_view unit = trim(t.substr(static_cast<std::size_t>(end - t.data())));
    if (unit.empty()) return {{}, "unit missing in \"" + std::string(text) + "\"; " + hint()};
    for (const UnitName& u : table.accepted)
        if (u.name == unit) return {value * u.si, {}};
    const std::string number(t.data(), end);
    std::string meant;
    for (const std::string_view u : meant_units(unit, table))
        meant += (meant.empty() ? "; did you mean \"" : "\" or \"") + number + " " + std::string(u);
    if (!meant.empty()) meant += "\"?";
    return {{},
            "\"" + std::string(unit) + "\" is not a unit of " + std::string(table.dimension) + meant +
                (meant.empty() ? "; known: " : " known: ") + joined(table.accepted, &UnitName::name)};
}

std::string number_text(double value, int digits) {
    if (value == 0) return "0";
    const double magnitude = std::fabs(value);
    // Not by printf, which writes a comma where Qt has set the language of a German desktop.
    char buffer[64];
    const auto written = [&](std::chars_format format, int precision) {
        return std::string(buffer, std::to_chars(buffer, std::end(buffer), value, format, precision).ptr);
    };
    if (!(magnitude < 1e15) || magnitude < 1e-6) return written(std::chars_format::general, digits);  // a number that is none, too
    // Rounding may carry into a new digit (0.9999 prints as 1.00, not 1.000), so the digits before the point are counted after it.
    int before_point = static_cast<int>(std::floor(std::log10(magnitude))) + 1;
    const double half_unit = 0.5 * std::pow(10.0, before_point - digits);
    if (magnitude + half_unit >= std::pow(10.0, before_point)) ++before_point;
    const int decimals = digits > before_point ? digits - before_point : 0;
    return written(std::chars_format::fixed, decimals);
}

std::string format_quantity(double si, const UnitTable& table, int digits) {
    const UnitName& unit = unit_for_printing(std::fabs(si), table);
    return number_text(si / unit.si, digits) + " " + std::string(unit.name);
}

std::string percent_text(double fraction, int digits) { return number_text(100 * fraction, digits) + " %"; }
std::string signed_percent_text(double fraction, int digits) { return (fraction > 0 ? "+" : "") + percent_text(fraction, digits); }

std::string with_signs(std::string_view text) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string_view rest = text.substr(i);
        const bool is_unit = rest.starts_with(" us") && (rest.size() == 3 || !std::isalnum(static_cast<unsigned char>(rest[3])));
        if (is_unit && i > 0 && is_digit(text[i - 1])) {
            out += " \u00b5s";
            i += 2;
        } else if (rest.starts_with("->")) {
            out += "\u2192";
            i += 1;
        } else {
            out += text[i];
        }
    }
    return out;
}

}  // namespace sextant
