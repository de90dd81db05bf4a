// sextant predict: how fast, does it fit, what holds it back, what would help, how sure are we.
#include "cli/commands.hpp"
#include "cli/verdict.hpp"
#include "model/io/report_writer.hpp"
#include "model/sextant.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>

namespace sextant {
namespace {

struct PredictOptions {
    std::string scenario;
    std::vector<std::string> overrides, fail_if;
    std::string format = "text";
    std::string explain;
    std::string profiles;
};

Term term_named(const std::string& name) {
    std::string known;
    for (int i = 0; i < term_count; ++i) {
        const Term t = static_cast<Term>(i);
        if (to_text(t) == name) return t;
        known += (known.empty() ? "" : ", ") + std::string(to_text(t));
    }
    throw InputError(Diagnostic{"--explain " + name, "", "no such term", "one of: " + known});
}

ExitCode run_predict(const PredictOptions& o) {
    const std::vector<Condition> conditions = parse_conditions(o.fail_if);
    Library library = open_library(o.profiles);
    const Scenario scenario = load_scenario(library, o.scenario, o.overrides);
    const Prepared job = prepare(scenario);
    if (!o.explain.empty()) {
        for (const std::string& line : explain(job, term_named(o.explain))) std::cout << line << '\n';
        return ExitCode::done;
    }
    const Report report = make_report(job);
    std::cout << (o.format == "json" ? report_to_json(report) : report_to_text(report));
    return verdict(report, conditions);
}

}  // namespace

void add_predict(CLI::App& app, ExitCode& exit_code) {
    auto* command = app.add_subcommand("predict", "how fast a scenario runs, whether it fits, what holds it back");
    auto options = std::make_shared<PredictOptions>();
    command->add_option("scenario", options->scenario, "scenario file, such as scenarios/default.json")->required();
    command->add_option("--set", options->overrides, "override a field: plan.tp=8 (repeatable)")->take_all()->type_name("PATH=VALUE");
    command->add_option("--fail-if", options->fail_if, "exit with 1 when this holds: 'step_time > 500 ms' (repeatable)")
        ->take_all()
        ->type_name("CONDITION");
    command->add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
    command->add_option("--explain", options->explain, "formula and numbers behind one term")->type_name("TERM");
    command->add_option("--profiles", options->profiles, "directory of hardware profiles")->type_name("DIR");
    command->callback([options, &exit_code] { exit_code = run_predict(*options); });
}

}  // namespace sextant
