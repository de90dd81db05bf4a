// sextant plan: the best plans for a job on its hardware, and why these.
#include "cli/commands.hpp"
#include "cli/output_option.hpp"
#include "cli/search_options.hpp"
#include "cli/verdict.hpp"
#include "cli/writable.hpp"
#include "model/io/format/number_list.hpp"
#include "model/io/format/replace_file.hpp"
#include "model/io/scenario/named_files.hpp"
#include "model/io/scenario/scenario_writer.hpp"
#include "model/io/search/plan_answer_writer.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>

namespace sextant {
namespace {

struct PlanOptions {
    SearchOptions search;
    ReportOptions report;
    std::string gpus, nodes;
    int top = 10;
    bool no_simulate = false;
    std::string save_best, picture;
};

PlanQuestion question_of(const PlanOptions& o, const std::optional<Scenario>& job, Diagnostics& problems) {
    PlanQuestion question{o.search.request(job, problems), job ? job->plan : Plan{}, !o.no_simulate};
    SearchRequest& request = question.search;
    request.top = o.top;
    problems.collect([&] {
        if (!o.gpus.empty()) request.devices = numbers_in(o.gpus, "--gpus");
        if (o.nodes.empty()) return;
        request.devices = numbers_in(o.nodes, "--nodes", 1);
        for (int& n : request.devices) n *= job ? run_layout(*job).ranks_per_node : 1;
    });
    if (!o.gpus.empty() || !o.nodes.empty()) request.job.reserved_devices = 0;
    return question;
}

// The scenario to write the best plan into: a file, or a published run, as it is found from the place of the new one.
ScenarioDocument document_to_save(const PlanOptions& o) {
    const ScenarioOptions& from = o.search.scenario;
    Library library = open_library(from.profiles);
    ScenarioDocument document = moved(open_scenario(library, from.scenario), o.save_best);
    std::ranges::move(with_whole_paths(from.overrides), std::back_inserter(document.edits));
    return document;
}

ExitCode run_plan(const PlanOptions& o) {
    check_writable(o.save_best);
    check_picture(o.picture);
    Diagnostics problems;
    std::optional<Scenario> job;
    problems.collect([&] { job = o.search.scenario.load({o.save_best, o.picture}); });
    std::optional<ScenarioDocument> to_save;
    if (job && !o.save_best.empty()) problems.collect([&] { to_save = document_to_save(o); });
    const auto reported = [](const Scenario& s) { return named_quantities(predict(s)); };
    const std::vector<Condition> conditions = fail_conditions(o.report.fail_if, known_of(job, reported), problems);
    PlanQuestion question = question_of(o, job, problems);
    problems.throw_if_any();
    question.search.elsewhere = [&o, asked = question.search.job] {
        Library library = open_library(o.search.scenario.profiles);
        return under_other_frameworks(library, asked);
    };
    std::optional<SearchWatch> watch(std::in_place);
    const PlanAnswer answer = find_plan(question, [&](const PlanProgress& p) { return watch->show(p); });
    const bool interrupted = watch->interrupted();
    const Seconds took = watch->searched();
    watch.reset();
    if (!o.picture.empty()) replace_text_file(o.picture, plan_answer_svg(answer));
    if (to_save && !answer.best.empty())
        replace_text_file(o.save_best, text_of(document_with_plan(*to_save, answer.request.job, answer.best.front().choice.plan)));
    std::cout << (o.report.json() ? plan_answer_to_json(answer, took) : plan_answer_to_text(answer, took));
    if (interrupted) return ExitCode::interrupted;
    if (answer.all_ruled_out()) return ExitCode::condition_held;  // of --where: some would fit
    return answer.best.empty() ? ExitCode::does_not_fit : verdict(answer.best.front().report, conditions);
}

}  // namespace

void add_plan(CLI::App& app, ExitCode& exit_code) {
    auto* command = app.add_subcommand("plan", "search for the best parallel plan of a scenario's job");
    auto options = std::make_shared<PlanOptions>();
    options->search.add_to(*command);
    options->report.add_to(*command);
    auto* gpus = command->add_option("--gpus", options->gpus, "numbers of devices to search; default: as many as the plan uses");
    gpus->type_name("N[,N...]");
    command->add_option("--nodes", options->nodes, "numbers of nodes to search, with all their devices")
        ->type_name("A[..B]")
        ->excludes(gpus);
    command->add_option("--batch", options->search.batches, "global batch sizes to search")
        ->delimiter(',')
        ->type_name("N[,N...]")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
    command->add_option("--top", options->top, "number of plans to show")->check(CLI::Range(1, 1000));
    command->add_flag("--no-simulate", options->no_simulate, "do not simulate the best plans");
    add_output(*command, "--save-best", options->save_best, "write the scenario with the best plan in it", "FILE.json");
    add_output(*command, "--picture", options->picture, "draw throughput against memory", "FILE.svg");
    command->callback([options, &exit_code] { exit_code = run_plan(*options); });
}

}  // namespace sextant
