// sextant replay: an execution trace of Chakra, played on a machine that is described.
#include "cli/commands.hpp"
#include "cli/output_option.hpp"
#include "cli/scenario_options.hpp"
#include "cli/trace_file.hpp"
#include "cli/verdict.hpp"
#include "cli/writable.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/format/separate_files.hpp"
#include "model/io/report/replay_report_writer.hpp"
#include "model/io/trace/timeline_svg.hpp"
#include "model/sextant_replay.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>
#include <memory>

namespace sextant {
namespace {

struct ReplayOptions {
    ReplayRequest request;
    std::vector<std::string> files;
    std::string groups, nodes, profiles, trace, picture;
    ReportOptions report;
};

ExitCode run_replay(const ReplayOptions& o) {
    Diagnostics problems;
    problems.collect([&] { check_trace_file(o.trace); });
    problems.collect([&] { check_picture(o.picture); });
    const auto known = [] {
        ReplayReport any;
        any.ranks.emplace_back();
        return named_quantities(any);
    };
    const std::vector<Condition> conditions = fail_conditions(o.report.fail_if, known, problems);
    Library library = open_library(o.profiles);
    ReplayRequest request = o.request;
    request.files.assign(o.files.begin(), o.files.end());
    request.groups = o.groups;
    request.nodes = o.nodes;
    ReplayReport report;
    problems.collect([&] { report = replay(library, request); });
    problems.throw_if_any();
    check_apart({o.trace, o.picture}, library.files);
    if (!o.trace.empty()) write_trace_file(report.trace, o.trace, report.devices, report.links);
    if (!o.picture.empty()) {
        const std::string title = std::filesystem::path(report.trace_name).filename().string() + ", replayed on " + report.hardware;
        replace_text_file(o.picture,
                          timeline_svg(report.trace, {.title = title, .memory = {}, .device_memory = {}, .name_of = replay_name}));
    }
    std::cout << (o.report.json() ? replay_report_to_json(report) : replay_report_to_text(report));
    return verdict(named_quantities(report), conditions);
}

}  // namespace

void add_replay(CLI::App& app, ExitCode& exit_code) {
    auto* command = app.add_subcommand("replay", "replay Chakra execution traces, as ASTRA-sim takes them, on a described cluster");
    auto options = std::make_shared<ReplayOptions>();
    command->add_option("files", options->files, "a file for each rank, or PREFIX of PREFIX.0.et, PREFIX.1.et ...")->required();
    command->add_option("--hardware", options->request.hardware, "a cluster by name, or its file")->required()->type_name("CLUSTER");
    command->add_option("--library", options->request.library, "communication library")->capture_default_str()->type_name("NAME");
    command->add_option("--precision", options->request.precision, "data type of kernels for which the trace has no time")
        ->capture_default_str()
        ->type_name("TYPE");
    command->add_option("--groups", options->groups, "ranks of each process group, as ASTRA-sim writes them")->type_name("FILE.json");
    command->add_option("--nodes", options->nodes, "the node of each rank, [0, 1, 0, 1]; none: they fill one node after the other")
        ->type_name("FILE.json");
    command->add_option("--profiles", options->profiles, "directory of hardware profiles")->type_name("DIR");
    add_output(*command, "--trace", options->trace, "write the timeline: FILE.json for Perfetto, FILE.h5 as columns", "FILE");
    add_output(*command, "--picture", options->picture, "draw the timeline", "FILE.svg");
    options->report.add_to(*command);
    command->callback([options, &exit_code] { exit_code = run_replay(*options); });
}

}  // namespace sextant
