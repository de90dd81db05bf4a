// sextant simulate: the same answer as predict, played event by event, and the timeline that it comes from.
#include "cli/commands.hpp"
#include "cli/output_option.hpp"
#include "cli/progress.hpp"
#include "cli/scenario_options.hpp"
#include "cli/trace_file.hpp"
#include "cli/verdict.hpp"
#include "cli/whole_number.hpp"
#include "cli/writable.hpp"
#include "model/base/grouped_digits.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/report/report_html.hpp"
#include "model/io/report/simulation_writer.hpp"
#include "model/io/trace/timeline_svg.hpp"
#include "model/sextant_trace_export.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <optional>

namespace sextant {
namespace {

struct SimulateOptions {
    ScenarioOptions scenario;
    ReportOptions report;
    std::uint64_t seed = 1;
    std::string trace, chakra, picture, html;
};

SimulationReport play(const Prepared& job, std::uint64_t seed) {
    Progress progress("playing the step", 100);
    return simulate(job, seed, [&](double played) {
        progress.show(static_cast<std::size_t>(100 * played));
        return true;
    });
}

ExportedTrace export_trace(const Prepared& job, const SimulateOptions& o) {
    Progress progress("writing execution traces", static_cast<std::size_t>(job.scenario().plan.devices()));
    return export_chakra(job, o.chakra, o.seed, [&](std::size_t done, std::size_t) { progress.show(done); });
}

void say(const ExportedTrace& written, const std::string& prefix, std::ostream& out) {
    out << "\nExecution traces of " << grouped_digits(written.ranks) << " ranks: " << prefix << ".0.et ..., "
        << grouped_digits(written.nodes) << " nodes; " << counted(written.groups, "process group") << " in " << prefix
        << ".groups.json; where ranks stand in " << prefix << ".nodes.json\n";
    for (const std::string& what : written.left_out) out << "  " << what << '\n';
}

ExitCode run_simulate(const SimulateOptions& o) {
    Diagnostics problems;
    problems.collect([&] { check_trace_file(o.trace); });
    problems.collect([&] { check_picture(o.picture); });
    check_writable(o.html);
    const std::string groups = o.chakra.empty() ? "" : o.chakra + ".groups.json";
    const std::string nodes = o.chakra.empty() ? "" : o.chakra + ".nodes.json";
    for (const std::string& file : {groups, nodes}) check_writable(file);
    std::optional<Prepared> prepared;
    problems.collect([&] { prepared = prepare(o.scenario.load({o.trace, o.picture, o.html, groups, nodes})); });
    const std::vector<Condition> conditions = fail_conditions(o.report.fail_if, known_of(prepared, simulated_quantities), problems);
    problems.throw_if_any();
    const Prepared& job = *prepared;
    const SimulationReport report = play(job, o.seed);
    if (!o.trace.empty()) write_trace_file(report.trace, o.trace, report.devices, report.links, report.memory);
    if (!o.picture.empty()) replace_text_file(o.picture, timeline_svg(report.trace, picture_of(report)));
    if (!o.html.empty()) replace_text_file(o.html, report_html(job, report.report, &report));
    std::optional<ExportedTrace> written;
    if (!o.chakra.empty()) written = export_trace(job, o);
    std::cout << (o.report.json() ? simulation_to_json(report) : simulation_to_text(report));
    if (written) say(*written, o.chakra, o.report.json() ? std::cerr : std::cout);
    return verdict(report, conditions);
}

}  // namespace

void add_simulate(CLI::App& app, ExitCode& exit_code) {
    auto* command = app.add_subcommand("simulate", "simulate a step event by event: the report of predict, with a timeline");
    auto options = std::make_shared<SimulateOptions>();
    options->scenario.add_to(*command);
    options->report.add_to(*command);
    add_output(*command, "--trace", options->trace, "write the timeline: FILE.json for Perfetto, FILE.h5 as columns", "FILE");
    add_output(*command, "--chakra", options->chakra,
               "write PREFIX.0.et ... for ASTRA-sim: execution traces of every rank, PREFIX.groups.json and .nodes.json", "PREFIX");
    add_output(*command, "--picture", options->picture, "draw the timeline", "FILE.svg");
    add_output(*command, "--html", options->html, "write the report as one HTML page, with the timeline of the step", "FILE.html");
    command->add_option("--seed", options->seed, "random seed of the noise that the scenario describes")
        ->check(whole_number())
        ->type_name("N");
    command->callback([options, &exit_code] { exit_code = run_simulate(*options); });
}

}  // namespace sextant
