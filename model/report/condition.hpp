// Conditions on a report, as CI writes them: "step_time > 500 ms", "memory >= 70 GiB", "mfu < 0.4", "share.bubble > 10 %".
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/base/quantity_text.hpp"
#include "model/report/report.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// A reported quantity by name: as the JSON has it ("run.failures.expected"), without the unit there. `table` is null for plain numbers and
// fractions.
struct NamedQuantity {
    std::string name;
    double si = 0;
    const UnitTable* table = nullptr;
    bool yes_or_no = false;                 // 1 or 0, which may be written as true and false
    std::vector<std::string_view> words{};  // of what is no number: `si` counts them
};

// Everything that a condition may ask about, in the order of the report (reported_quantities.cpp).
std::vector<NamedQuantity> named_quantities(const Report&);

enum class Relation { less, less_equal, greater, greater_equal, equal, not_equal };

struct Condition {
    std::string text;
    std::string quantity;
    Relation relation = Relation::greater;
    std::string value;
    std::string option = "--fail-if";  // that it was given with
};

// Throws InputError when the text is no comparison.
Condition parse_condition(std::string_view text, std::string_view option = "--fail-if");

// Those of an option that may stand more than once, about quantities like those of `known`, which is asked only if there are any, and whose
// values do not matter. What is no comparison, not known or without its unit is added to the diagnostics, all of it: nothing need be done
// to find it. Where `known` is empty only what is no comparison is found: something else is wrong, and nobody can say what is reported.
using KnownQuantities = std::function<std::vector<NamedQuantity>()>;
std::vector<Condition> read_conditions(const std::vector<std::string>& texts, std::string_view option, const KnownQuantities& known,
                                       Diagnostics&);

// Throws InputError when there is no such quantity or the value lacks its unit. A fraction may be written as "10 %".
bool holds(const Condition&, const std::vector<NamedQuantity>&);
bool holds(const Condition&, const Report&);

// The quantity that a condition is about; null where there is none of its name.
const NamedQuantity* quantity_of(const Condition&, const std::vector<NamedQuantity>&);
bool asks_for_less(const Condition&);  // "<", "<="
// Of two values of that quantity the one nearer to what is asked: the smaller where less is, else the larger; none of "==" and "!=".
std::optional<double> nearer(const Condition&, std::optional<double>, std::optional<double>);

}  // namespace sextant
