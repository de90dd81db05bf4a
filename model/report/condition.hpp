// Conditions on a report, as CI writes them: "step_time > 500 ms", "memory >= 70 GiB", "mfu < 0.4", "share.bubble > 10 %".
#pragma once

#include "model/base/diagnostics.hpp"
#include "model/base/quantity_text.hpp"
#include "model/report/report.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant {

// A reported quantity by its name in the JSON without the unit ("run.failures.expected").
struct NamedQuantity {
    NamedQuantity(std::string called, double plain) : name(std::move(called)), si(plain) {}
    template <int B, int F, int S, int J, int M>
    NamedQuantity(std::string called, Quantity<B, F, S, J, M> q)
        : name(std::move(called)), si(q.si()), table(&unit_table<Quantity<B, F, S, J, M>>()) {}
    // A rate is a plain number: its name says what is counted per second ("samples_per_s").
    NamedQuantity(std::string called, Frequency rate) : name(std::move(called)), si(rate.si()) {}

    std::string name;
    double si = 0;
    const UnitTable* table = nullptr;       // null for plain numbers and fractions
    bool yes_or_no = false;                 // 1 or 0, which may be written as true and false
    std::vector<std::string_view> words{};  // for what is not a number: `si` is an index into them
};

// Everything that a condition may refer to, in the order of the report (reported_quantities.cpp).
std::vector<NamedQuantity> named_quantities(const Report&);

enum class Relation { less, less_equal, greater, greater_equal, equal, not_equal };

struct Condition {
    std::string text;
    std::string quantity;
    Relation relation = Relation::greater;
    std::string value;
    std::string option = "--fail-if";  // the option it was given with
};

// Throws InputError when the text is not a comparison.
Condition parse_condition(std::string_view text, std::string_view option = "--fail-if");

// The conditions of an option that may be given more than once. `known` lists the quantities that can be asked about (its values do not
// matter) and is called only if there are conditions. Every text that is not a comparison, names an unknown quantity or lacks its unit is
// added to the diagnostics, before anything is computed. Where `known` lists nothing, because something else is wrong, only texts that are
// not comparisons are found.
using KnownQuantities = std::function<std::vector<NamedQuantity>()>;
std::vector<Condition> read_conditions(const std::vector<std::string>& texts, std::string_view option, const KnownQuantities& known,
                                       Diagnostics&);

// Throws InputError when there is no such quantity or the value lacks its unit. A fraction may be written as "10 %".
bool holds(const Condition&, const std::vector<NamedQuantity>&);
bool holds(const Condition&, const Report&);

// The quantity that a condition refers to; null where there is none of that name.
const NamedQuantity* quantity_of(const Condition&, const std::vector<NamedQuantity>&);
bool asks_for_less(const Condition&);  // "<", "<="
// Which of two values of that quantity comes nearer to the condition: the smaller for "<" and "<=", the larger for ">" and ">=", none for
// "==" and "!=".
std::optional<double> nearer(const Condition&, std::optional<double>, std::optional<double>);

}  // namespace sextant
