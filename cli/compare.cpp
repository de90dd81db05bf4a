// sextant compare: what was predicted beside what a real run measured, and which input their difference points to.
#include "cli/commands.hpp"
#include "cli/show_comparison.hpp"
#include "model/io/trace/run_reader.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace sextant {
namespace {

struct CompareOptions {
    ScenarioOptions scenario;
    ReportOptions report;
    std::string run, trace;
};

ExitCode run_compare(const CompareOptions& o) {
    const std::vector<Condition> conditions = parse_conditions(o.report.fail_if);
    const RunRecord run = load_run(o.run);
    return show_comparison(o.scenario.load(), run, o.report, conditions, o.trace);
}

}  // namespace

void add_compare(CLI::App& app, ExitCode& exit_code) {
    auto* command = app.add_subcommand("compare", "hold a prediction beside what a real run measured");
    auto options = std::make_shared<CompareOptions>();
    options->scenario.add_to(*command);
    command->add_option("run", options->run, "what `sextant run --out` wrote")->required()->type_name("RUN.json");
    options->report.add_to(*command);
    command->add_option("--trace", options->trace, "write both timelines, one above the other, for Perfetto")->type_name("FILE.json");
    command->callback([options, &exit_code] { exit_code = run_compare(*options); });
}

}  // namespace sextant
