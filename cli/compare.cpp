// sextant compare: what was predicted beside what a real run measured, and which input their difference points to.
#include "cli/commands.hpp"
#include "cli/output_option.hpp"
#include "cli/show_comparison.hpp"
#include "cli/trace_file.hpp"
#include "model/io/format/separate_files.hpp"
#include "model/io/format/text_file.hpp"
#include "model/io/report/profiler_comparison_writer.hpp"
#include "model/io/trace/profiler_reader.hpp"
#include "model/io/trace/run_reader.hpp"
#include "model/sextant.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <optional>
#include <string_view>

namespace sextant {
namespace {

struct CompareOptions {
    ScenarioOptions scenario;
    ReportOptions report;
    std::string run, trace;
};

ExitCode compare_with_profiler(const CompareOptions& o) {
    if (!o.trace.empty())
        throw InputError(Diagnostic{"--trace", "", "draws runs of sextant", "ui.perfetto.dev opens the profile as it is"});
    const Scenario scenario = o.scenario.load();
    const ProfilerComparison comparison = compare(scenario, load_profiler(o.run, scenario.plan));
    const std::vector<Condition> conditions = fail_conditions(o.report.fail_if, [&] { return named_quantities(comparison); });
    std::cout << (o.report.json() ? profiler_comparison_to_json(comparison) : profiler_comparison_to_text(comparison));
    return verdict(named_quantities(comparison), conditions);
}

ExitCode run_compare(const CompareOptions& o) {
    constexpr std::string_view hdf5 = "\x89HDF";
    if (start_of_packed_text(o.run, hdf5.size()) == hdf5)
        throw InputError(Diagnostic{o.run, "", "is a timeline that --trace wrote, and no record of a run",
                                    "what `sextant run --out RUN.json` writes; the window shows timelines beside the prediction"});
    if (looks_like_profiler(o.run)) return compare_with_profiler(o);
    check_timelines_file(o.trace);
    check_apart({o.trace}, {o.run});
    Diagnostics problems;
    RunRecord run;
    std::optional<Scenario> scenario;
    problems.collect([&] { run = load_run(o.run); });
    problems.collect([&] { scenario = o.scenario.load({o.trace}); });
    const std::vector<Condition> conditions = fail_conditions(o.report.fail_if, known_of(scenario, comparable_quantities), problems);
    problems.throw_if_any();
    return show_comparison(*scenario, run, o.report, conditions, o.trace);
}

}  // namespace

void add_compare(CLI::App& app, ExitCode& exit_code) {
    auto* command = app.add_subcommand("compare", "compare a prediction with what a real run measured");
    auto options = std::make_shared<CompareOptions>();
    options->scenario.add_to(*command);
    command->add_option("run", options->run, "what `sextant run --out` wrote, or a trace of torch.profiler")
        ->required()
        ->type_name("RUN.json");
    options->report.add_to(*command);
    add_output(*command, "--trace", options->trace, "write both timelines, one above the other, for Perfetto", "FILE.json");
    command->callback([options, &exit_code] { exit_code = run_compare(*options); });
}

}  // namespace sextant
