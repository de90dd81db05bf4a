// What the facade answers by playing a step event by event.
#include "model/lower/lower.hpp"
#include "model/plan/framework_defaults.hpp"
#include "model/plan/partition.hpp"
#include "model/plan/rank_layout.hpp"
#include "model/predict/cost_table.hpp"
#include "model/sextant.hpp"
#include "model/simulate/played_work.hpp"

#include <cmath>
#include <utility>

namespace sextant {
namespace {

struct PricedGraph {
    TaskGraph graph;
    CostTable table;
};
PricedGraph priced(const Prepared& job, TaskGraph graph) {
    CostTable table = cost_table(job, graph);
    return {std::move(graph), std::move(table)};
}

// Some seconds, and a span of 56 bytes for each piece.
constexpr double most_work = 2e7;

void check_size(const Scenario& scenario, const PricedGraph& step, double most) {
    const double work = played_work(step.graph, step.table);
    if (work <= most) return;
    throw InputError(Diagnostic{
        scenario.file, "/plan",
        "the step is as much to play as " + std::to_string(std::llround(work)) + " pieces of work, too many to be played one by one",
        scenario.plan.has_servers() ? "fewer workers or fewer hosts with servers have the same rhythm; predict answers for any"
                                    : "fewer micro-batches have the same rhythm, and without noise ranks that do the same are played as "
                                      "one; predict answers for any"});
}

struct PlayedStep : PricedGraph {
    Simulation simulation;
};
PlayedStep play(const Prepared& job, const UsedMachine& machine, PricedGraph step, const Jitter& jitter, double most = most_work,
                const PlayListener& listener = {}) {
    if (listener && !listener(0)) throw Stopped();
    check_size(job.scenario(), step, most);
    Simulation simulation = simulate(step.graph, step.table, *machine.topology, machine.placement, jitter, listener);
    return {std::move(step), std::move(simulation)};
}

struct PlayedScenario {
    PlayedStep step;
    bool exact = true;  // rank by rank, or folded without a loss
};
PlayedScenario play_scenario(const Prepared& job, const Jitter& jitter, double most, const PlayListener& listener = {}) {
    const Scenario& scenario = job.scenario();
    const UsedMachine machine = used_machine(job);
    const Fold fold = possible_fold(scenario);
    PlayedScenario played{play(job, machine, priced(job, lower(scenario, fold)), jitter, most, listener)};
    played.exact = fold == Fold::nothing || played.step.simulation.folded_alike;
    if (played.exact) return played;
    // Rank by rank where folding is not exact, as long as that takes some tenths of a second.
    constexpr std::size_t most_segments = 200'000;
    const std::size_t ranks = machine.placement.device_of.size();
    if (played.step.graph.segments().size() / played.step.graph.ranks().size() * ranks > most_segments) return played;
    PricedGraph unfolded = priced(job, lower(scenario, Fold::nothing));
    if (played_work(unfolded.graph, unfolded.table) <= most) played = {play(job, machine, std::move(unfolded), jitter, most, listener)};
    return played;
}

// None where playing it would take longer than some tenths of a second.
std::optional<Seconds> simulated_step(const Scenario& scenario) {
    constexpr double most = 1e6;
    try {
        const Prepared job = prepare(scenario);
        const PlayedStep step = play_scenario(job, jitter_of(job.scenario()), most).step;
        return step_time(step.simulation.trace, step.graph.steps(), scenario.plan.is_asynchronous());
    } catch (const InputError&) {
        return {};
    }
}

}  // namespace

Jitter jitter_of(const Scenario& scenario, std::uint64_t seed) {
    const Straggler straggler = scenario.has_slow_devices() ? *scenario.straggler : Straggler{};
    return {scenario.step_noise, seed, straggler.devices, straggler.speed};
}

UsedMachine used_machine(const Prepared& job) {
    const Scenario& s = job.scenario();
    const int servers = s.plan.has_servers() ? parameter_server_count(s) : 0, nodes = used_nodes(s);
    const int of_servers = s.plan.servers_on_workers ? 0 : servers;
    UsedMachine machine{job.topology(), {}};
    if (of_servers > 0)
        machine.topology = std::make_shared<const Topology>(Topology::build(s.cluster, nodes + of_servers, uses_sockets(s)));
    const RankLayout layout = layout_of(s);
    for (int r = 0; r < layout.ranks(); ++r) machine.placement.device_of.push_back(layout.device_of(r));
    for (int v = 0; v < servers; ++v) machine.placement.node_of_server.push_back(node_of_server(s, v));
    if (sums_on_host(s.plan, s.framework)) machine.placement.sent_together = used_devices_per_node(s);
    return machine;
}

SimulationReport simulate(const Scenario& scenario, std::uint64_t seed, const PlayListener& listener) {
    return simulate(prepare(scenario), seed, listener);
}

SimulationReport simulate(const Prepared& job, std::uint64_t seed, const PlayListener& listener) {
    const Jitter jitter = jitter_of(job.scenario(), seed);
    PlayedScenario played = play_scenario(job, jitter, most_work, listener);
    SimulationReport report =
        make_simulation_report(job, std::move(played.step.graph), played.step.table, std::move(played.step.simulation), jitter);
    if (!played.exact)
        report.report.assumptions.emplace_back("ranks of a stage may reach others over unlike links: all are as slow as the slowest");
    return report;
}

PlanAnswer find_plan(const PlanQuestion& question, const std::function<bool(const PlanProgress&)>& progress) {
    using Stage = PlanProgress::Stage;
    const auto go_on = [&](Stage stage, double done, const SearchProgress* found) { return !progress || progress({stage, done, found}); };
    const SearchResult found = search(question.search, [&](const SearchProgress& p) { return go_on(Stage::search, p.done, &p); });
    PlanAnswer answer = answer_of(question, found);
    if (!found.complete) return answer;
    const double plans = static_cast<double>(answer.best.size());
    for (std::size_t i = 0; question.simulated && i < answer.best.size(); ++i) {
        if (!go_on(Stage::simulation, static_cast<double>(i) / plans, nullptr)) break;
        answer.best[i].simulated = simulated_step(with_plan(question.search.job, answer.best[i].choice.plan));
    }
    order_ties(answer);
    add_advice(answer, [&](double done) { return go_on(Stage::advice, done, nullptr); });
    return answer;
}

Comparison compare(const Scenario& scenario, const RunRecord& run) {
    const Prepared job = prepare(scenario);
    TaskGraph graph = lower(scenario, Fold::nothing);
    check_same_plan(graph, scenario, run);
    const Jitter jitter = jitter_of(job.scenario());
    PlayedStep step = play(job, used_machine(job), priced(job, std::move(graph)), jitter);
    return compare(job, make_simulation_report(job, std::move(step.graph), step.table, std::move(step.simulation), jitter), run);
}

}  // namespace sextant
