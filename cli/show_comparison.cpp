#include "cli/show_comparison.hpp"

#include "model/io/format/replace_file.hpp"
#include "model/io/report/comparison_writer.hpp"
#include "model/sextant.hpp"

#include <iostream>

namespace sextant {

ExitCode show_comparison(const Scenario& scenario, const RunRecord& run, const ReportOptions& report,
                         const std::vector<Condition>& conditions, const std::string& trace) {
    const Comparison comparison = compare(scenario, run);
    if (!trace.empty()) replace_text_file(trace, [&](std::ostream& out) { write_comparison_trace(out, comparison, run.trace); });
    std::cout << (report.json() ? comparison_to_json(comparison) : comparison_to_text(comparison));
    return verdict(named_quantities(comparison), conditions);
}

}  // namespace sextant
