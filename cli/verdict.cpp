#include "cli/verdict.hpp"

#include <iostream>

namespace sextant {

std::vector<Condition> parse_conditions(const std::vector<std::string>& fail_if) {
    std::vector<Condition> conditions;
    conditions.reserve(fail_if.size());
    for (const std::string& text : fail_if) conditions.push_back(parse_condition(text));
    return conditions;
}

ExitCode verdict(const Report& report, const std::vector<Condition>& conditions) {
    bool failed = false;
    for (const Condition& c : conditions) {
        if (!holds(c, report)) continue;
        std::cerr << "condition held: " << c.text << '\n';
        failed = true;
    }
    if (failed) return ExitCode::condition_held;
    return report.estimate.fits ? ExitCode::done : ExitCode::does_not_fit;
}

}  // namespace sextant
