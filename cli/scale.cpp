// sextant scale: the best plan at each of several sizes, and what the added devices bring.
#include "cli/commands.hpp"
#include "cli/output_option.hpp"
#include "cli/search_options.hpp"
#include "cli/verdict.hpp"
#include "cli/writable.hpp"
#include "model/io/format/number_list.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/search/scaling_writer.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <optional>
#include <vector>

namespace sextant {
namespace {

struct ScaleOptions {
    SearchOptions search;
    ReportOptions report;
    std::string gpus, picture;
    bool weak = false;
};

ExitCode run_scale(const ScaleOptions& o) {
    check_picture(o.picture);
    Diagnostics problems;
    std::vector<int> sizes;
    problems.collect([&] {
        if (!o.gpus.empty()) sizes = numbers_in(o.gpus, "--gpus");
    });
    std::optional<Scenario> loaded;
    problems.collect([&] { loaded = o.search.scenario.load({o.picture}); });
    const std::vector<Condition> conditions = fail_conditions(o.report.fail_if, known_of(loaded, scaling_quantities), problems);
    ScalingRequest request{o.search.request(loaded, problems), o.weak};
    request.search.job.reserved_devices = 0;
    problems.throw_if_any();
    request.search.devices = o.gpus.empty() ? usual_sizes(*loaded) : sizes;
    std::optional<SearchWatch> watch(std::in_place);
    const Scaling scaling = scale(request, [&](const ScalingProgress& p) { return watch->show("planning", p.done, &p.search); });
    const bool interrupted = watch->interrupted();
    watch.reset();
    if (!o.picture.empty()) replace_text_file(o.picture, scaling_svg(scaling));
    std::cout << (o.report.json() ? scaling_to_json(scaling) : scaling_to_text(scaling));
    if (interrupted) return ExitCode::interrupted;
    if (scaling.all_ruled_out()) return ExitCode::condition_held;  // of --where, as of plan
    return scaling.pays_up_to ? verdict(named_quantities(scaling), conditions) : ExitCode::does_not_fit;
}

}  // namespace

void add_scale(CLI::App& app, ExitCode& exit_code) {
    auto* command = app.add_subcommand("scale", "find the best plan at each of several sizes: what do more devices bring?");
    auto options = std::make_shared<ScaleOptions>();
    options->search.add_to(*command);
    options->report.add_to(*command);
    command->add_option("--gpus", options->gpus, "numbers of devices: from the first, doubled, or each by itself")
        ->type_name("A..B|N,N...");
    command->add_flag("--weak", options->weak, "the global batch grows with the devices");
    add_output(*command, "--picture", options->picture, "draw throughput against devices", "FILE.svg");
    command->callback([options, &exit_code] { exit_code = run_scale(*options); });
}

}  // namespace sextant
