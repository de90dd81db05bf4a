#include "cli/verdict.hpp"

#include <iostream>

namespace sextant {

std::vector<Condition> fail_conditions(const std::vector<std::string>& fail_if, const KnownQuantities& known, Diagnostics& problems) {
    return read_conditions(fail_if, "--fail-if", known, problems);
}

std::vector<Condition> fail_conditions(const std::vector<std::string>& fail_if, const KnownQuantities& known) {
    Diagnostics problems;
    std::vector<Condition> conditions = fail_conditions(fail_if, known, problems);
    problems.throw_if_any();
    return conditions;
}

ExitCode verdict(const std::vector<NamedQuantity>& quantities, const std::vector<Condition>& conditions) {
    ExitCode code = ExitCode::done;
    for (const Condition& c : conditions) {
        if (!holds(c, quantities)) continue;
        std::cerr << "condition held: " << c.text << '\n';
        code = ExitCode::condition_held;
    }
    return code;
}

namespace {

ExitCode unless_it_does_not_fit(ExitCode code, const Report& report) {
    return code == ExitCode::done && !report.estimate.fits() ? ExitCode::does_not_fit : code;
}

}  // namespace

ExitCode verdict(const Report& report, const std::vector<Condition>& conditions) {
    return unless_it_does_not_fit(verdict(named_quantities(report), conditions), report);
}

ExitCode verdict(const SimulationReport& simulation, const std::vector<Condition>& conditions) {
    return unless_it_does_not_fit(verdict(named_quantities(simulation), conditions), simulation.report);
}

}  // namespace sextant
