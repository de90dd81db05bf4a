// sextant predict: how fast, does it fit, what holds it back, what would help, how sure are we.
#include "cli/commands.hpp"
#include "cli/output_option.hpp"
#include "cli/scenario_options.hpp"
#include "cli/verdict.hpp"
#include "cli/writable.hpp"
#include "model/base/enum_names.hpp"
#include "model/base/list_text.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/report/report_html.hpp"
#include "model/io/report/report_writer.hpp"
#include "model/io/report/storage_report_writer.hpp"
#include "model/sextant.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

namespace sextant {
namespace {

struct PredictOptions {
    ScenarioOptions scenario;
    ReportOptions report;
    std::string explain, html;
};

// All that can be explained.
std::string explainable() {
    const std::string terms = joined(all_terms, [](Term t) { return to_text(t); });
    return "a term of the step time (" + terms + "), memory, or run (the whole run: cost, energy, failures)";
}

// As a report prints it, "data communication", or as it is written.
Term term_named(const std::string& asked) {
    std::string name = asked;
    std::ranges::replace(name, ' ', '_');
    if (const auto term = enumerator_named(name, all_terms)) return *term;
    throw InputError(Diagnostic{"--explain " + asked, "", "no such part of the report", explainable()});
}

std::vector<std::string> explained_lines(const Prepared& job, const std::string& of) {
    if (of == "memory") return explain_memory(job);
    return of == "run" ? explain_run(job) : explain(job, term_named(of));
}

// What is wrong with --explain, whatever the scenario.
void check_explain(const PredictOptions& o, Diagnostics& problems) {
    if (o.explain.empty()) return;
    if (o.report.json()) problems.add({"--explain " + o.explain, "", "an explanation is text", "--format json without --explain"});
    if (o.explain != "memory" && o.explain != "run") problems.collect([&] { term_named(o.explain); });
}

std::string explanation(const PredictOptions& o, const Prepared& job) {
    if (o.explain.empty()) return {};
    std::string text;
    for (const std::string& line : explained_lines(job, o.explain)) text += line + '\n';
    return text;
}

// With its timeline, where the step can be played.
void write_page(const Prepared& job, const Report& report, const std::filesystem::path& file) {
    std::optional<SimulationReport> played;
    try {
        played = simulate(job);
    } catch (const InputError&) {  // too many pieces of work: the page is without
    }
    replace_text_file(file, report_html(job, report, played ? &*played : nullptr));
}

ExitCode predict_storage(const PredictOptions& o, const StorageBenchmark& benchmark) {
    if (!o.explain.empty() || !o.html.empty())
        throw InputError(Diagnostic{o.scenario.scenario, "", "--explain and --html are for training jobs, not for storage benchmarks", ""});
    const StorageReport report = predict(benchmark);
    const std::vector<Condition> conditions = fail_conditions(o.report.fail_if, [&] { return named_quantities(report); });
    std::cout << (o.report.json() ? storage_report_to_json(report) : storage_report_to_text(report));
    return verdict(named_quantities(report), conditions);
}

ExitCode predict_training(const PredictOptions& o, const Prepared& job, Diagnostics& problems) {
    Report report = make_report(job);
    const std::vector<Condition> conditions = fail_conditions(
        o.report.fail_if, [&] { return named_quantities(report); }, problems);
    problems.throw_if_any();
    const std::string explained = explanation(o, job);
    if (o.explain.empty() || !o.html.empty()) {
        Library library = open_library(o.scenario.profiles);
        look_elsewhere(library, report);
    }
    if (!o.html.empty()) write_page(job, report, o.html);
    std::cout << (!o.explain.empty() ? explained : o.report.json() ? report_to_json(report) : report_to_text(report));
    return verdict(report, conditions);
}

ExitCode run_predict(const PredictOptions& o) {
    check_writable(o.html);
    Diagnostics problems;
    check_explain(o, problems);
    std::optional<Predictable> asked;
    std::optional<Prepared> job;
    problems.collect([&] {
        asked = o.scenario.load_predictable({o.html});
        if (const auto* scenario = std::get_if<Scenario>(&*asked)) job = prepare(*scenario);
    });
    if (asked && !job && problems.empty()) return predict_storage(o, std::get<StorageBenchmark>(*asked));
    if (!job) {
        static_cast<void>(fail_conditions(o.report.fail_if, {}, problems));
        problems.throw_if_any();
    }
    return predict_training(o, *job, problems);
}

}  // namespace

void add_predict(CLI::App& app, ExitCode& exit_code) {
    auto* command = app.add_subcommand(
        "predict",
        "predict how fast a scenario runs, whether it fits in memory and what limits it; or how fast the storage of a DLIO workload is");
    auto options = std::make_shared<PredictOptions>();
    options->scenario.add_to(*command);
    options->report.add_to(*command);
    command->add_option("--explain", options->explain, "show formula and numbers behind " + explainable())
        ->check([](const std::string& term) { return std::string(term.empty() ? "name a term" : ""); })
        ->type_name("PART");
    add_output(*command, "--html", options->html, "write the report as one HTML page, with the timeline of the step", "FILE.html");
    command->callback([options, &exit_code] { exit_code = run_predict(*options); });
}

}  // namespace sextant
